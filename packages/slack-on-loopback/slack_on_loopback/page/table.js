// The table block: cells of raw text; the first row is the head.

import { h } from "./dom.js";
import { withEmoji } from "./mentions.js";

/** Draws a table block; wide tables scroll inside their own box. */
export function drawTable(block, ctx) {
  const settings = block.column_settings ?? [];
  const [head, ...body] = block.rows.map((row, place) =>
    h("tr", {}, row.map((cell, column) => drawCell(cell, place === 0, settings[column], ctx))),
  );
  const props = { class: "table-box", tabindex: "0", role: "group", "aria-label": "Table" };
  return h("div", props, h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
}

function drawCell(cell, isHead, settings, ctx) {
  const props = { class: settings && `align-${settings.align}`, scope: isHead ? "col" : null };
  return h(isHead ? "th" : "td", props, withEmoji(cell.text, ctx));
}
