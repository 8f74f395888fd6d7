// A canvas of a channel, to be read.

import { button } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { drawMarkdown } from "./markdown.js";
import { attempt } from "./notices.js";

/**
 * A button that opens a canvas.
 * @param {object} ctx drawing context
 * @param {{id: string, title: string}} canvas
 * @returns {HTMLButtonElement}
 */
export function canvasButton(ctx, canvas) {
  const open = () => openCanvas(ctx, canvas.id);
  const made = button([icon("file"), h("span", {}, canvas.title)], open, "small");
  made.setAttribute("aria-label", `Canvas: ${canvas.title}`);
  return made;
}

async function openCanvas(ctx, id) {
  const found = await attempt(() => ctx.api.canvas(id));
  if (!found) return;
  const dialog = openDialog({
    title: found.title,
    body: h("div", { class: "markdown" }, drawMarkdown(found.markdown, ctx)),
    close: () => dialog.remove(),
  });
}
