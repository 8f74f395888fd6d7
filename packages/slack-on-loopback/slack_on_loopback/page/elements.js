// Buttons in blocks, and the two of feedback.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { drawText, wordsOf } from "./text.js";

/**
 * Where blocks are drawn: `surface` names the message or view; a modal has a `form` that collects its
 * controls, and their earlier values as `state`.
 * @typedef {{ctx: object, surface: object, form?: import("./form.js").Form, state?: object, key: string}} Scope
 */

/** Draws one element of a block. */
export function drawElement(element, blockId, scope) {
  const act = (value, button) => {
    const { ctx, surface, form } = scope;
    return ctx.act({ surface, form, element, blockId, payload: { value }, button });
  };
  if (element.type === "feedback_buttons") return drawFeedback(element, act);
  const props = {
    class: `button ${element.style ?? ""}`,
    type: "button",
    "aria-label": element.accessibility_label,
    data: { focus: `${blockId}/${element.action_id}` },
    on: { click: (event) => act(element.value, event.currentTarget) },
  };
  return h("button", props, drawText(element.text, scope.ctx));
}

function drawFeedback(element, act) {
  const drawOne = (choice, name) => {
    const click = (event) => {
      for (const other of group.children)
        other.setAttribute("aria-pressed", String(other === event.currentTarget));
      act(choice.value, event.currentTarget);
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
    drawOne(element.positive_button, "up"),
    drawOne(element.negative_button, "down"),
  );
  return group;
}
