// Files of the composer: each is sent to the workspace when it is chosen.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { attempt } from "./notices.js";

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
