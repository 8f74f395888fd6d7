// Input elements: text, a date, a native select, and a list of checkboxes for several choices.

import { h } from "./dom.js";
import { nameOf } from "./mentions.js";
import { wordsOf } from "./text.js";

const INPUTS = {
  plain_text_input: textInput,
  datepicker: dateInput,
  static_select: selectInput,
  conversations_select: selectInput,
  checkboxes: boxesInput,
  multi_static_select: boxesInput,
  multi_users_select: boxesInput,
};

/**
 * Draws an input element.
 * @param {object} element Slack's element
 * @param {{ctx: object, id: string, labelId: string, describedBy: string, changed: Function|null}} io
 *   `changed` is called when the app wants to hear of each change
 * @returns {{node: Node, read: Function, isEmpty: Function, focus: Function}}
 */
export function createInput(element, io) {
  return INPUTS[element.type](element, io);
}

function naming({ id, describedBy }) {
  return { id, "aria-describedby": describedBy };
}

function textInput(element, io) {
  const field = h(element.multiline ? "textarea" : "input", {
    ...naming(io),
    class: "text-input",
    value: element.initial_value ?? "",
    placeholder: wordsOf(element.placeholder),
    rows: element.multiline ? 4 : null,
    maxlength: element.max_length,
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || !io.changed) return;
    event.preventDefault();
    io.changed();
  });
  return {
    node: field,
    read: () => ({ type: element.type, value: field.value || null }),
    isEmpty: () => !field.value.trim(),
    focus: () => field.focus(),
  };
}

function dateInput(element, io) {
  const field = h("input", {
    ...naming(io),
    class: "text-input moment",
    type: "date",
    value: element.initial_date ?? "",
    on: { change: () => io.changed?.() },
  });
  const read = () => ({ type: element.type, selected_date: field.value || null });
  return { node: field, read, isEmpty: () => !field.value, focus: () => field.focus() };
}

/** What can be chosen: `raw` is what Slack is told of it. */
function choicesOf(element, { ctx }) {
  if (element.type === "multi_users_select")
    return [...ctx.store.users.values()].map((user) => ({ label: nameOf(user), raw: user.id }));
  if (element.type === "conversations_select") {
    const kinds = element.filter?.include ?? ["public", "private"];
    return [...ctx.store.channels.values()]
      .filter((channel) => !channel.is_archived && !channel.is_im)
      .filter((channel) => kinds.includes(channel.is_private ? "private" : "public"))
      .map((channel) => ({ label: `#${channel.name}`, raw: channel.id }));
  }
  return element.options.map((option) => ({ label: wordsOf(option.text), raw: option }));
}

function keyOf(raw) {
  return raw?.value ?? raw;
}

/** The keys of the choices that an element starts with. */
function startOf(element) {
  const name = Object.keys(element).find((key) => key.startsWith("initial_"));
  return new Set([element[name]].flat().map(keyOf));
}

function selectInput(element, io) {
  const choices = choicesOf(element, io);
  const start = startOf(element);
  const options = choices.map(({ label, raw }, place) =>
    h("option", { value: String(place), selected: start.has(keyOf(raw)) }, label),
  );
  const none = h("option", { value: "" }, wordsOf(element.placeholder) || "Choose one");
  const props = { ...naming(io), class: "text-input", on: { change: () => io.changed?.() } };
  const select = h("select", props, none, options);
  const field = element.type === "static_select" ? "selected_option" : "selected_conversation";
  return {
    node: select,
    read: () => ({ type: element.type, [field]: choices[select.value]?.raw ?? null }),
    isEmpty: () => !select.value,
    focus: () => select.focus(),
  };
}

function boxesInput(element, io) {
  const choices = choicesOf(element, io);
  const start = startOf(element);
  const change = () => io.changed?.();
  const boxes = choices.map(({ raw }) =>
    h("input", { type: "checkbox", checked: start.has(keyOf(raw)), on: { change } }),
  );
  const rows = choices.map(({ label }, place) =>
    h("label", { class: "option" }, boxes[place], h("span", {}, label)),
  );
  const chosen = () => choices.filter((_, place) => boxes[place].checked).map(({ raw }) => raw);
  const field = element.type === "multi_users_select" ? "selected_users" : "selected_options";
  const props = { ...naming(io), class: "options", role: "group", "aria-labelledby": io.labelId };
  return {
    node: h("div", props, rows),
    read: () => ({ type: element.type, [field]: chosen() }),
    isEmpty: () => chosen().length === 0,
    focus: () => boxes[0]?.focus(),
  };
}
