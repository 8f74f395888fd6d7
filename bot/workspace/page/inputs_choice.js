// Chosen inputs: radio buttons, checkboxes, dates and times, files.

import { fill, freshId, h } from "./dom.js";
import { icon } from "./icons.js";
import { attempt } from "./notices.js";
import { drawText } from "./text.js";

/** radio_buttons */
export function radioInput(element, io) {
  const group = optionGroup(element, io, "radio", element.initial_option ? [element.initial_option] : []);
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
  const boxes = element.options.map((option) => h("input", { type, name, checked: wanted.has(option.value), on: { change: () => io.changed() } }));
  const rows = element.options.map((option, index) => optionRow(option, boxes[index], io.ctx));
  const props = { class: "options", id: io.id, role: type === "radio" ? "radiogroup" : "group", "aria-labelledby": io.labelId, "aria-describedby": io.describedBy, "aria-label": io.label };
  const chosen = () => element.options.filter((_, index) => boxes[index].checked);
  return { node: h("div", props, rows), chosen, isEmpty: () => chosen().length === 0, focus: () => (boxes.find((box) => box.checked) ?? boxes[0])?.focus() };
}

function optionRow(option, box, ctx) {
  const hint = option.description && h("small", {}, drawText(option.description, ctx));
  return h("label", { class: "option" }, box, h("span", {}, drawText(option.text, ctx), hint));
}

/** datepicker: "YYYY-MM-DD" */
export function dateInput(element, io) {
  return moment(element, io, "date", element.initial_date ?? "", (value) => ({ selected_date: value || null }));
}

/** timepicker: "HH:MM" */
export function timeInput(element, io) {
  return moment(element, io, "time", element.initial_time ?? "", (value) => ({ selected_time: value || null }));
}

/** datetimepicker: Unix seconds */
export function dateTimeInput(element, io) {
  const toSeconds = (value) => (value ? Math.floor(new Date(value).getTime() / 1000) : null);
  const start = element.initial_date_time ? localMinute(element.initial_date_time) : "";
  return moment(element, io, "datetime-local", start, (value) => ({ selected_date_time: toSeconds(value) }));
}

// The form an <input type=datetime-local> takes: local time, to the minute.
function localMinute(seconds) {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function moment(element, io, type, value, toState) {
  const field = h("input", { id: io.id, class: "text-input moment", type, value, "aria-describedby": io.describedBy, "aria-label": io.label, on: { change: () => io.changed() } });
  const read = () => ({ type: element.type, ...toState(field.value) });
  return { node: field, read, isEmpty: () => !field.value, focus: () => field.focus() };
}

/** file_input: every file is sent to the workspace when it is chosen. */
export function fileInput(element, io) {
  const files = [];
  const list = h("ul", { class: "chosen-files" });
  const accept = (element.filetypes ?? []).map((type) => `.${type}`).join(",");
  const field = h("input", { id: io.id, type: "file", class: "file-field", accept, multiple: (element.max_files ?? 10) > 1, "aria-describedby": io.describedBy, "aria-label": io.label });
  field.addEventListener("change", async () => {
    for (const file of [...field.files].slice(0, (element.max_files ?? 10) - files.length)) await take(file);
    field.value = "";
    draw();
  });
  const take = async (file) => {
    const answer = await attempt(async () => io.ctx.api.post("files", { name: file.name, mimetype: file.type, content: await base64(file) }));
    if (answer) files.push(answer.file);
  };
  const drop = (file) => {
    files.splice(files.indexOf(file), 1);
    draw();
  };
  const draw = () => {
    fill(list, files.map((file) => h("li", { class: "chip" }, icon("file"), file.name, removeButton(file.name, () => drop(file)))));
    io.changed();
  };
  const node = h("div", { class: "file-input" }, field, list);
  return { node, read: () => ({ type: element.type, files }), isEmpty: () => files.length === 0, focus: () => field.focus() };
}

function removeButton(name, click) {
  return h("button", { type: "button", "aria-label": `Remove ${name}`, on: { click } }, icon("close"));
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
