// Chosen inputs: radio buttons, checkboxes, dates and times.

import { freshId, h } from "./dom.js";
import { drawText } from "./text.js";

/** radio_buttons */
export function radioInput(element, io) {
  const group = optionGroup(
    element,
    io,
    "radio",
    element.initial_option ? [element.initial_option] : [],
  );
  const read = () => ({ type: element.type, selected_option: group.chosen()[0] ?? null });
  return { ...group, read };
}

/** checkboxes */
export function checkboxInput(element, io) {
  const group = optionGroup(element, io, "checkbox", element.initial_options ?? []);
  return { ...group, read: () => ({ type: element.type, selected_options: group.chosen() }) };
}

function optionGroup(element, io, type, initial) {
  const name = freshId(type);
  const wanted = new Set(initial.map((option) => option.value));
  const boxes = element.options.map((option) =>
    h("input", {
      type,
      name,
      checked: wanted.has(option.value),
      on: { change: () => io.changed() },
    }),
  );
  const rows = element.options.map((option, index) => optionRow(option, boxes[index], io.ctx));
  const props = {
    class: "options",
    id: io.id,
    role: type === "radio" ? "radiogroup" : "group",
    "aria-labelledby": io.labelId,
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
  };
  const chosen = () => element.options.filter((_, index) => boxes[index].checked);
  return {
    node: h("div", props, rows),
    chosen,
    isEmpty: () => chosen().length === 0,
    focus: () => (boxes.find((box) => box.checked) ?? boxes[0])?.focus(),
  };
}

function optionRow(option, box, ctx) {
  const hint = option.description && h("small", {}, drawText(option.description, ctx));
  return h("label", { class: "option" }, box, h("span", {}, drawText(option.text, ctx), hint));
}

/** datepicker: "YYYY-MM-DD" */
export function dateInput(element, io) {
  return moment(element, io, "date", element.initial_date ?? "", (value) => ({
    selected_date: value || null,
  }));
}

/** timepicker: "HH:MM" */
export function timeInput(element, io) {
  return moment(element, io, "time", element.initial_time ?? "", (value) => ({
    selected_time: value || null,
  }));
}

/** datetimepicker: Unix seconds */
export function dateTimeInput(element, io) {
  const toSeconds = (value) => (value ? Math.floor(new Date(value).getTime() / 1000) : null);
  const start = element.initial_date_time ? localMinute(element.initial_date_time) : "";
  return moment(element, io, "datetime-local", start, (value) => ({
    selected_date_time: toSeconds(value),
  }));
}

// The form an <input type=datetime-local> takes: local time, to the minute.
function localMinute(seconds) {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function moment(element, io, type, value, toState) {
  const field = h("input", {
    id: io.id,
    class: "text-input moment",
    type,
    value,
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
    on: { change: () => io.changed() },
  });
  const read = () => ({ type: element.type, ...toState(field.value) });
  return { node: field, read, isEmpty: () => !field.value, focus: () => field.focus() };
}
