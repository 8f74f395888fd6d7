// The input block: label, control, hint, and the error shown at it.

import { fill, freshId, h } from "./dom.js";
import { withState } from "./form.js";
import { icon } from "./icons.js";
import { createInput } from "./inputs.js";
import { drawText } from "./text.js";

/**
 * Draws an input block and registers it with the form.
 * @param {object} block Slack's input block
 * @param {import("./elements.js").Scope} scope
 */
export function drawField(block, scope) {
  const { element, block_id: blockId } = block;
  const id = freshId("field");
  const control = createInput(withState(element, scope.state?.[blockId]?.[element.action_id]), {
    ctx: scope.ctx,
    id,
    labelId: `${id}-label`,
    describedBy: `${id}-error ${id}-hint`,
    dispatches: Boolean(block.dispatch_action),
    changed: () => block.dispatch_action && tell(),
  });
  const tell = () => {
    const { ctx, surface, form } = scope;
    ctx.act({ surface, form, element, blockId, payload: control.read() });
  };
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const isGroup = control?.node.getAttribute("role") === "group";
  const label = h(
    isGroup ? "span" : "label",
    { class: "field-label", id: `${id}-label`, for: isGroup ? null : id },
    drawText(block.label, scope.ctx),
    block.optional && h("span", { class: "optional" }, " (optional)"),
  );
  const hint =
    block.hint &&
    h("p", { class: "field-hint", id: `${id}-hint` }, drawText(block.hint, scope.ctx));
  const node = h(
    "div",
    { class: "field" },
    label,
    control?.node ?? `input “${element.type}” is not drawn here`,
    error,
    hint,
  );
  if (!control) return node;
  scope.form.addControl(blockId, element.action_id, control);
  scope.form.addField(blockId, {
    optional: block.optional,
    showError: (text) => showError(node, error, text),
  });
  return node;
}

function showError(node, slot, text) {
  node.classList.toggle("has-error", Boolean(text));
  slot.hidden = !text;
  for (const input of node.querySelectorAll("input, textarea, select"))
    input.setAttribute("aria-invalid", String(Boolean(text)));
  fill(slot, text && [icon("alert"), text]);
}
