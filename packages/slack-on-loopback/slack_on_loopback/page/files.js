// Files at a message: name, size, download, and a preview of Markdown and text.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { drawMarkdown } from "./markdown.js";

const PREVIEW_CHARACTERS = 60_000;
const TEXT_TYPES = /^(text\/|application\/(json|yaml|x-yaml|toml|xml))/;
const TEXT_NAMES = /\.(md|markdown|txt|log|json|ya?ml|csv|toml|ini|py|js|ts|html|css|xml)$/i;

/** "2.4 KB" */
function fileSize(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  const step = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), 3);
  return `${(bytes / 1024 ** step).toFixed(step ? 1 : 0)} ${units[step]}`;
}

// Files are always served by this page's own host, whatever name the file's address uses.
function addressOf(file) {
  return new URL(file.permalink ?? file.url_private_download ?? file.url_private ?? "", location.href).pathname;
}

function isText(file) {
  return TEXT_TYPES.test(file.mimetype ?? "") || TEXT_NAMES.test(file.name ?? "");
}

function typeOf(file) {
  if (isMarkdown(file)) return "Markdown";
  if (/\bjson$/.test(file.mimetype ?? "")) return "JSON";
  return file.pretty_type ?? file.mimetype;
}

function isMarkdown(file) {
  return /markdown/.test(file.mimetype ?? "") || /\.(md|markdown)$/i.test(file.name ?? "");
}

/** Draws one file card. */
export function drawFile(file, ctx) {
  const name = file.title || file.name;
  const kind = [typeOf(file), file.size !== undefined && fileSize(file.size)]
    .filter(Boolean)
    .join(" · ");
  const download = h(
    "a",
    {
      class: "button square",
      href: addressOf(file),
      download: file.name,
      "aria-label": `Download ${name}`,
      title: "Download",
    },
    icon("download"),
  );
  const head = h(
    "div",
    { class: "file-head" },
    h("span", { class: "file-icon" }, icon("file")),
    h("div", { class: "file-words" }, h("strong", {}, name), h("small", {}, kind)),
  );
  const card = h("div", { class: "file-card" }, head);
  if (isText(file)) head.append(previewButton(file, card, ctx));
  head.append(download);
  return card;
}

function previewButton(file, card, ctx) {
  const box = h("div", {
    class: "file-preview",
    hidden: true,
    tabindex: "0",
    role: "region",
    "aria-label": `Preview of ${file.name}`,
  });
  const button = h(
    "button",
    { class: "button", type: "button", "aria-expanded": "false" },
    "Preview",
  );
  card.append(box);
  button.addEventListener("click", async () => {
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", String(!box.hidden));
    if (!box.childNodes.length) fill(box, await drawPreview(file, ctx));
  });
  return button;
}

async function drawPreview(file, ctx) {
  const text = await read(file);
  if (text === null) return h("p", { class: "quiet" }, "The file cannot be read.");
  const shown = text.slice(0, PREVIEW_CHARACTERS);
  const more =
    text.length > shown.length &&
    h("p", { class: "quiet" }, "Only the beginning is shown; download it for the rest.");
  return [
    isMarkdown(file)
      ? h("div", { class: "markdown" }, drawMarkdown(shown, ctx))
      : h("pre", {}, shown),
    more,
  ];
}

async function read(file) {
  try {
    const response = await fetch(addressOf(file));
    return response.ok ? await response.text() : (file.preview ?? null);
  } catch {
    return file.preview ?? null;
  }
}
