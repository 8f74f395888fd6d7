// Typed inputs: text, e-mail, address, number, rich text. Each gives a control for a Form.

import { h } from "./dom.js";
import { wordsOf } from "./text.js";

const COUNT_FROM = 50;
const ENTER = "on_enter_pressed";
const TYPED = "on_character_entered";

/** plain_text_input, one line or several, with a count where there is a limit. */
export function textInput(element, io) {
  const field = h(element.multiline ? "textarea" : "input", {
    ...base(element, io),
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
  const check = () => lengthError(field.value, element);
  return control(element, io, field, {
    check,
    node: h("div", { class: "text-box" }, field, count),
  });
}

function lengthError(value, element) {
  if (value.length < (element.min_length ?? 0))
    return `Please write at least ${element.min_length} characters.`;
  if (value.length > (element.max_length ?? Infinity))
    return `Please write at most ${element.max_length} characters.`;
  return null;
}

function base(element, io) {
  return {
    id: io.id,
    class: "text-input",
    value: element.initial_value ?? "",
    placeholder: wordsOf(element.placeholder),
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
    autofocus: element.focus_on_load ?? null,
  };
}

function control(element, io, field, more = {}) {
  const read = () => ({ type: element.type, value: field.value === "" ? null : field.value });
  listen(element, io, field);
  return {
    node: field,
    read,
    isEmpty: () => !field.value.trim(),
    focus: () => field.focus(),
    ...more,
  };
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

/** email_text_input */
export function emailInput(element, io) {
  return nativeInput(element, io, "email", "Please enter a valid e-mail address.");
}

/** url_text_input */
export function urlInput(element, io) {
  return nativeInput(element, io, "url", "Please enter a valid URL.");
}

function nativeInput(element, io, type, error) {
  const field = h("input", { ...base(element, io), type });
  return control(element, io, field, { check: () => (field.validity.valid ? null : error) });
}

/** number_input: whole numbers unless decimals are allowed; the value stays text, as in Slack. */
export function numberInput(element, io) {
  const props = {
    ...base(element, io),
    inputmode: element.is_decimal_allowed ? "decimal" : "numeric",
    autocomplete: "off",
  };
  const field = h("input", props);
  return control(element, io, field, { check: () => numberError(field.value.trim(), element) });
}

function numberError(value, element) {
  const shape = element.is_decimal_allowed ? /^-?\d+([.,]\d+)?$/ : /^-?\d+$/;
  if (!shape.test(value))
    return element.is_decimal_allowed ? "Please enter a number." : "Please enter a whole number.";
  const number = Number(value.replace(",", "."));
  if (element.min_value !== undefined && number < Number(element.min_value))
    return `Please enter ${element.min_value} or more.`;
  if (element.max_value !== undefined && number > Number(element.max_value))
    return `Please enter ${element.max_value} or less.`;
  return null;
}

/** rich_text_input, typed as plain lines. */
export function richTextInput(element, io) {
  const start = richWords(element.initial_value);
  const field = h("textarea", { ...base({ ...element, initial_value: start }, io), rows: 4 });
  const read = () => ({
    type: element.type,
    rich_text_value: field.value ? richValue(field.value) : null,
  });
  return control(element, io, field, { read });
}

function richWords(value) {
  const parts = (value?.elements ?? []).flatMap((section) => section.elements ?? []);
  return parts.map((part) => part.text ?? "").join("");
}

function richValue(text) {
  return {
    type: "rich_text",
    elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }],
  };
}
