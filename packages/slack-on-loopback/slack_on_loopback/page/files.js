// Files at a message: name, size, download, and the text of those that have one.

import { button } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

const PREVIEW_CHARACTERS = 60_000;
const TEXT_TYPES = /^(text\/|application\/json)/;

/** "2.4 KB" */
function fileSize(bytes) {
  const units = ["bytes", "KB", "MB"];
  const step = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), 2);
  return `${(bytes / 1024 ** step).toFixed(step ? 1 : 0)} ${units[step]}`;
}

// Files are always served by this page's own host, whatever name the file's address uses.
function addressOf(file) {
  return new URL(file.permalink).pathname;
}

/** Draws one file card. */
export function drawFile(file) {
  const props = {
    class: "button square",
    href: addressOf(file),
    download: file.name,
    "aria-label": `Download ${file.title}`,
    title: "Download",
  };
  const size = h("small", {}, fileSize(file.size));
  const words = h("div", { class: "file-words" }, h("strong", {}, file.title), size);
  const head = h("div", { class: "file-head" }, icon("file"), words);
  const card = h("div", { class: "file-card" }, head);
  if (TEXT_TYPES.test(file.mimetype)) head.append(previewButton(file, card));
  head.append(h("a", props, icon("download")));
  return card;
}

function previewButton(file, card) {
  const label = `Preview of ${file.name}`;
  const props = { class: "file-preview", hidden: true, tabindex: "0", role: "region" };
  const box = h("pre", { ...props, "aria-label": label });
  card.append(box);
  const preview = button("Preview", async () => {
    box.hidden = !box.hidden;
    preview.setAttribute("aria-expanded", String(!box.hidden));
    if (!box.childNodes.length) fill(box, await read(file));
  });
  preview.setAttribute("aria-expanded", "false");
  return preview;
}

async function read(file) {
  const response = await fetch(addressOf(file)).catch(() => null);
  const text = response?.ok ? await response.text() : "The file cannot be read.";
  return text.length > PREVIEW_CHARACTERS
    ? `${text.slice(0, PREVIEW_CHARACTERS)}\n… Download it for the rest.`
    : text;
}
