// The input block: label, control, hint, and the error shown at it.

import { fill, freshId, h } from "./dom.js";
import { withState } from "./form.js";
import { icon } from "./icons.js";
import { createInput } from "./inputs.js";
import { drawText } from "./text.js";

/** Draws an input block and registers it with the form. */
export function drawField(block, scope) {
  const { element, block_id: blockId } = block;
  const { ctx, surface, form } = scope;
  const id = freshId("field");
  const tell = () => ctx.act({ surface, form, element, blockId, payload: control.read() });
  const control = createInput(withState(element, scope.state?.[blockId]?.[element.action_id]), {
    ctx,
    id,
    labelId: `${id}-label`,
    describedBy: `${id}-error ${id}-hint`,
    changed: block.dispatch_action ? tell : null,
  });
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const isGroup = control.node.getAttribute("role") === "group";
  const label = h(
    isGroup ? "span" : "label",
    { class: "field-label", id: `${id}-label`, for: isGroup ? null : id },
    drawText(block.label, ctx),
    block.optional && h("span", { class: "optional" }, " (optional)"),
  );
  const hint =
    block.hint && h("p", { class: "field-hint", id: `${id}-hint` }, drawText(block.hint, ctx));
  const node = h("div", { class: "field" }, label, control.node, error, hint);
  const showError = (text) => {
    node.classList.toggle("has-error", Boolean(text));
    error.hidden = !text;
    for (const input of node.querySelectorAll("input, textarea, select"))
      input.setAttribute("aria-invalid", String(Boolean(text)));
    fill(error, text && [icon("alert"), text]);
  };
  form.add(blockId, { actionId: element.action_id, control, isOptional: block.optional, showError });
  return node;
}
