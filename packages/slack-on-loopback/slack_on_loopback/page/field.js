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
  const id = freshId("field");
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const control = createControl(block, scope, id);
  const label = drawLabel(block, scope, id);
  const hint =
    block.hint &&
    h("p", { class: "field-hint", id: `${id}-hint` }, drawText(block.hint, scope.ctx));
  const node = h(
    "div",
    { class: "field" },
    label,
    control?.node ?? `input “${block.element.type}” is not drawn here`,
    error,
    hint,
  );
  if (!control) return node;
  scope.form.addControl(block.block_id, block.element.action_id, control);
  scope.form.addField(block.block_id, {
    optional: block.optional,
    showError: (text) => showError(node, error, text),
  });
  return node;
}

function createControl(block, scope, id) {
  const element = withState(
    block.element,
    scope.state?.[block.block_id]?.[block.element.action_id],
  );
  const control = createInput(element, {
    ctx: scope.ctx,
    surface: scope.surface,
    blockId: block.block_id,
    id,
    labelId: `${id}-label`,
    describedBy: `${id}-error ${id}-hint`,
    dispatches: Boolean(block.dispatch_action),
    changed: () => {
      if (!block.dispatch_action) return;
      scope.ctx.act({
        surface: scope.surface,
        form: scope.form,
        element: block.element,
        blockId: block.block_id,
        payload: control.read(),
      });
    },
  });
  return control;
}

function drawLabel(block, scope, id) {
  const tag = block.element.type === "checkboxes" ? "span" : "label";
  const optional = block.optional && h("span", { class: "optional" }, " (optional)");
  return h(
    tag,
    { class: "field-label", id: `${id}-label`, for: tag === "label" ? id : null },
    drawText(block.label, scope.ctx),
    optional,
  );
}

function showError(node, slot, text) {
  node.classList.toggle("has-error", Boolean(text));
  slot.hidden = !text;
  for (const input of node.querySelectorAll("input, textarea"))
    input.setAttribute("aria-invalid", String(Boolean(text)));
  fill(slot, text && [icon("alert"), text]);
}
