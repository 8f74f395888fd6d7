// The file input: every file is sent to the workspace when it is chosen.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { attempt } from "./notices.js";

const MOST_FILES = 10;

/** file_input */
export function fileInput(element, io) {
  const most = element.max_files ?? MOST_FILES;
  const list = h("ul", { class: "chosen-files" });
  const field = drawField(element, io, most);
  const files = [];
  const redraw = () => {
    fill(
      list,
      files.map((file) => chip(file, drop)),
    );
    io.changed();
  };
  const drop = (file) => {
    files.splice(files.indexOf(file), 1);
    redraw();
  };
  field.addEventListener("change", async () => {
    files.push(...(await upload([...field.files].slice(0, most - files.length), io.ctx.api)));
    field.value = "";
    redraw();
  });
  return {
    node: h("div", { class: "file-input" }, field, list),
    read: () => ({ type: element.type, files }),
    isEmpty: () => files.length === 0,
    focus: () => field.focus(),
  };
}

function drawField(element, io, most) {
  return h("input", {
    id: io.id,
    type: "file",
    class: "file-field",
    accept: (element.filetypes ?? []).map((type) => `.${type}`).join(","),
    multiple: most > 1,
    "aria-describedby": io.describedBy,
    "aria-label": io.label,
  });
}

/** Sends files to the workspace; those that could not be sent are left out. */
export async function upload(chosen, api) {
  const answers = chosen.map((file) =>
    attempt(async () => {
      const content = await base64(file);
      return api.post("files", { name: file.name, mimetype: file.type, content });
    }),
  );
  return (await Promise.all(answers)).filter(Boolean).map((answer) => answer.file);
}

/** Draws a chosen file, with a button to drop it. */
export function chip(file, drop) {
  const remove = {
    type: "button",
    "aria-label": `Remove ${file.name}`,
    on: { click: () => drop(file) },
  };
  return h("li", { class: "chip" }, icon("file"), file.name, h("button", remove, icon("close")));
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
