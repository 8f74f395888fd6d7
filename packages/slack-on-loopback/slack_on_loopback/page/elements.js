// Interactive elements in blocks: buttons, menus, feedback; inputs that act when they change.

import { freshId, h, outlink, safeUrl } from "./dom.js";
import { withState } from "./form.js";
import { icon } from "./icons.js";
import { createInput } from "./inputs.js";
import { drawText, wordsOf } from "./text.js";

/**
 * Where blocks are drawn: `surface` names the message or view, `form` collects controls, `state` holds earlier values.
 * @typedef {{ctx: object, surface: object, form: import("./form.js").Form, state?: object, key: string}} Scope
 */

const DRAW = {
  button: drawButton,
  feedback_buttons: drawFeedback,
  mrkdwn: (element, _, scope) => h("span", { class: "context-text" }, drawText(element, scope.ctx)),
  plain_text: (element, _, scope) =>
    h("span", { class: "context-text" }, drawText(element, scope.ctx)),
};

/** Draws one element of a block. */
export function drawElement(element, blockId, scope) {
  const draw = DRAW[element.type];
  if (draw) return draw(element, blockId, scope);
  return (
    drawActingInput(element, blockId, scope) ??
    h("span", { class: "not-drawn" }, `element “${element.type}” is not drawn here`)
  );
}

function act(element, blockId, scope, payload, button) {
  return scope.ctx.act({
    surface: scope.surface,
    form: scope.form,
    element,
    blockId,
    payload,
    button,
  });
}

function drawButton(element, blockId, scope) {
  const style = { primary: " primary", danger: " danger" }[element.style] ?? "";
  const props = {
    class: `button${style}`,
    "aria-label": element.accessibility_label,
    data: { focus: `${blockId}/${element.action_id}` },
  };
  const label = drawText(element.text, scope.ctx);
  const click = (event) =>
    act(element, blockId, scope, { value: element.value }, event.currentTarget);
  if (element.url && safeUrl(element.url))
    return outlink(element.url, label, { ...props, on: { click } });
  return h("button", { type: "button", ...props, on: { click } }, label);
}

function drawFeedback(element, blockId, scope) {
  const one = (side, name) => {
    const button = element[`${side}_button`];
    if (!button) return null;
    const click = (event) => {
      for (const other of group.children)
        other.setAttribute("aria-pressed", String(other === event.currentTarget));
      act(element, blockId, scope, { value: button.value }, event.currentTarget);
    };
    const label = button.accessibility_label ?? wordsOf(button.text);
    return h(
      "button",
      {
        class: "button quiet",
        type: "button",
        "aria-label": label,
        title: wordsOf(button.text),
        "aria-pressed": "false",
        on: { click },
      },
      icon(name),
    );
  };
  const group = h(
    "span",
    { class: "feedback", role: "group", "aria-label": "Feedback" },
    one("positive", "up"),
    one("negative", "down"),
  );
  return group;
}

function drawActingInput(element, blockId, scope) {
  const label = wordsOf(element.placeholder) || element.type.replaceAll("_", " ");
  const started = withState(element, scope.state?.[blockId]?.[element.action_id]);
  const io = {
    ctx: scope.ctx,
    surface: scope.surface,
    blockId,
    id: freshId("element"),
    label,
    dispatches: true,
    changed: () => act(element, blockId, scope, control.read()),
  };
  const control = createInput(started, io);
  if (!control) return null;
  scope.form.addControl(blockId, element.action_id, control);
  return h("div", { class: `acting acting-${element.type}` }, control.node);
}
