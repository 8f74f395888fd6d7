// Interactive elements in blocks: buttons, feedback, and inputs that act when they change.

import { freshId, h, outlink, safeUrl } from "./dom.js";
import { withState } from "./form.js";
import { icon } from "./icons.js";
import { createInput } from "./inputs.js";
import { drawText, wordsOf } from "./text.js";

/**
 * Where blocks are drawn: `surface` names the message or view, `form` collects controls, `state` holds earlier values.
 * @typedef {{ctx: object, surface: object, form: import("./form.js").Form, state?: object, key: string}} Scope
 */

const DRAW = { button: drawButton, feedback_buttons: drawFeedback, mrkdwn: drawWords, plain_text: drawWords };

/** Draws one element of a block. */
export function drawElement(element, blockId, scope) {
  return (
    (DRAW[element.type] ?? drawActingInput)(element, blockId, scope) ??
    h("span", { class: "not-drawn" }, `element “${element.type}” is not drawn here`)
  );
}

function drawWords(element, _, scope) {
  return h("span", { class: "context-text" }, drawText(element, scope.ctx));
}

function act(element, blockId, { ctx, surface, form }, payload, button) {
  return ctx.act({ surface, form, element, blockId, payload, button });
}

function drawButton(element, blockId, scope) {
  const click = (event) =>
    act(element, blockId, scope, { value: element.value }, event.currentTarget);
  const props = {
    class: `button ${element.style ?? ""}`,
    "aria-label": element.accessibility_label,
    data: { focus: `${blockId}/${element.action_id}` },
    on: { click },
  };
  const label = drawText(element.text, scope.ctx);
  if (element.url && safeUrl(element.url)) return outlink(element.url, label, props);
  return h("button", { type: "button", ...props }, label);
}

function drawFeedback(element, blockId, scope) {
  const one = (choice, name) => {
    const click = (event) => {
      for (const other of group.children)
        other.setAttribute("aria-pressed", String(other === event.currentTarget));
      act(element, blockId, scope, { value: choice.value }, event.currentTarget);
    };
    const props = {
      class: "button quiet",
      type: "button",
      "aria-label": choice.accessibility_label ?? wordsOf(choice.text),
      title: wordsOf(choice.text),
      "aria-pressed": "false",
      on: { click },
    };
    return h("button", props, icon(name));
  };
  const group = h(
    "span",
    { class: "feedback", role: "group", "aria-label": "Feedback" },
    one(element.positive_button, "up"),
    one(element.negative_button, "down"),
  );
  return group;
}

function drawActingInput(element, blockId, scope) {
  const control = createInput(withState(element, scope.state?.[blockId]?.[element.action_id]), {
    ctx: scope.ctx,
    id: freshId("element"),
    label: wordsOf(element.placeholder) || element.type.replaceAll("_", " "),
    dispatches: true,
    changed: () => act(element, blockId, scope, control.read()),
  });
  if (!control) return null;
  scope.form.addControl(blockId, element.action_id, control);
  return h("div", { class: "acting" }, control.node);
}
