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
 * @param {{ctx: object, id: string, label?: string, labelId?: string, describedBy?: string, dispatches: boolean, changed: Function}} io
 * @returns {{node: Node, read: Function, isEmpty: Function, check?: Function, focus: Function}|null} null for a type that is not drawn
 */
export function createInput(element, io) {
  return INPUTS[element.type]?.(element, io) ?? null;
}

function naming({ id, label, describedBy }) {
  return { id, "aria-label": label, "aria-describedby": describedBy };
}

function textInput(element, io) {
  const field = h(element.multiline ? "textarea" : "input", {
    ...naming(io),
    class: "text-input",
    value: element.initial_value ?? "",
    placeholder: wordsOf(element.placeholder),
    autofocus: element.focus_on_load ?? null,
    rows: element.multiline ? 4 : null,
    maxlength: element.max_length,
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || !io.dispatches) return;
    event.preventDefault();
    io.changed();
  });
  const least = element.min_length ?? 0;
  return {
    node: field,
    read: () => ({ type: element.type, value: field.value === "" ? null : field.value }),
    check: () =>
      field.value.length < least ? `Please write at least ${least} characters.` : null,
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
    on: { change: () => io.changed() },
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
      .filter((one) => !one.is_archived && !one.is_im)
      .filter((one) => kinds.includes(one.is_private ? "private" : "public"))
      .map((one) => ({ label: `#${one.name}`, raw: one.id }));
  }
  const ofGroup = (options, group) =>
    options.map((option) => ({
      label: wordsOf(option.text),
      hint: wordsOf(option.description),
      group,
      raw: option,
    }));
  const groups = element.option_groups ?? [];
  return [
    ...ofGroup(element.options ?? []),
    ...groups.flatMap((group) => ofGroup(group.options, wordsOf(group.label))),
  ];
}

function keyOf(raw) {
  return raw?.value ?? raw;
}

/** The choices that an element starts with. */
function startOf(element, { ctx }) {
  const name = Object.keys(element).find(
    (key) => key.startsWith("initial_") && element[key] !== undefined,
  );
  const isHere = !name && element.default_to_current_conversation;
  return new Set([isHere ? ctx.store.active : element[name]].flat().map(keyOf));
}

function selectInput(element, io) {
  const choices = choicesOf(element, io);
  const start = startOf(element, io);
  const none = wordsOf(element.placeholder) || "Choose one";
  const select = h(
    "select",
    { ...naming(io), class: "text-input", on: { change: () => io.changed() } },
    h("option", { value: "" }, none),
    choices.map(({ label, hint, group, raw }, place) =>
      h(
        "option",
        { value: String(place), selected: start.has(keyOf(raw)) },
        [group, label].filter(Boolean).join(": ") + (hint ? ` (${hint})` : ""),
      ),
    ),
  );
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
  const start = startOf(element, io);
  const boxes = choices.map(({ raw }) =>
    h("input", {
      type: "checkbox",
      checked: start.has(keyOf(raw)),
      on: { change: () => io.changed() },
    }),
  );
  const rows = choices.map(({ label, hint }, place) =>
    h("label", { class: "option" }, boxes[place], h("span", {}, label, hint && h("small", {}, hint))),
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
