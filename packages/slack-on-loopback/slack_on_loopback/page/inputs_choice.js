// Chosen inputs: checkboxes and dates.

import { freshId, h } from "./dom.js";
import { drawText } from "./text.js";

/** checkboxes */
export function checkboxInput(element, io) {
  const name = freshId("checkbox");
  const wanted = new Set((element.initial_options ?? []).map((option) => option.value));
  const boxes = element.options.map((option) =>
    h("input", {
      type: "checkbox",
      name,
      checked: wanted.has(option.value),
      on: { change: () => io.changed() },
    }),
  );
  const rows = element.options.map((option, index) => optionRow(option, boxes[index], io.ctx));
  const props = {
    class: "options",
    id: io.id,
    role: "group",
    "aria-labelledby": io.labelId,
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
  };
  const chosen = () => element.options.filter((_, index) => boxes[index].checked);
  return {
    node: h("div", props, rows),
    read: () => ({ type: element.type, selected_options: chosen() }),
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
  const field = h("input", {
    id: io.id,
    class: "text-input moment",
    type: "date",
    value: element.initial_date ?? "",
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
    on: { change: () => io.changed() },
  });
  const read = () => ({ type: element.type, selected_date: field.value || null });
  return { node: field, read, isEmpty: () => !field.value, focus: () => field.focus() };
}
