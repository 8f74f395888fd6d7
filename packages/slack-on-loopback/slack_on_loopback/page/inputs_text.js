// Typed input: text. It gives a control for a Form.

import { h } from "./dom.js";
import { wordsOf } from "./text.js";

const COUNT_FROM = 50;
const ENTER = "on_enter_pressed";
const TYPED = "on_character_entered";

/** plain_text_input, one line or several, with a count where there is a limit. */
export function textInput(element, io) {
  const field = h(element.multiline ? "textarea" : "input", {
    id: io.id,
    class: "text-input",
    value: element.initial_value ?? "",
    placeholder: wordsOf(element.placeholder),
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
    autofocus: element.focus_on_load ?? null,
    rows: element.multiline ? 4 : null,
    maxlength: element.max_length,
  });
  const count = element.max_length ? h("span", { class: "count", "aria-hidden": "true" }) : null;
  const drawCount = () => {
    const left = element.max_length - field.value.length;
    if (count) count.textContent = left <= COUNT_FROM ? String(left) : "";
  };
  field.addEventListener("input", drawCount);
  drawCount();
  listen(element, io, field);
  return {
    node: h("div", { class: "text-box" }, field, count),
    read: () => ({ type: element.type, value: field.value === "" ? null : field.value }),
    check: () => lengthError(field.value, element),
    isEmpty: () => !field.value.trim(),
    focus: () => field.focus(),
  };
}

function lengthError(value, element) {
  if (value.length < (element.min_length ?? 0))
    return `Please write at least ${element.min_length} characters.`;
  if (value.length > (element.max_length ?? Infinity))
    return `Please write at most ${element.max_length} characters.`;
  return null;
}

function listen(element, io, field) {
  const triggers = element.dispatch_action_config?.trigger_actions_on ?? [ENTER];
  if (triggers.includes(TYPED)) field.addEventListener("input", () => io.changed());
  if (!triggers.includes(ENTER) || !io.dispatches) return;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    io.changed();
  });
}
