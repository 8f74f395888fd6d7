// The table block: cells of raw text or numbers; the first row is the head.

import { h } from "./dom.js";
import { withEmoji } from "./mentions.js";

function drawRow(row, tag, settings, ctx) {
  const cells = row.map((cell, n) =>
    h(
      tag,
      { class: `align-${settings[n]?.align ?? "left"}`, scope: tag === "th" ? "col" : null },
      withEmoji(cell.text ?? String(cell.value ?? ""), ctx),
    ),
  );
  return h("tr", {}, cells);
}

/**
 * Draws a table block; wide tables scroll inside their own box.
 * @param {object} block Slack's table block
 * @param {object} ctx drawing context
 */
export function drawTable(block, ctx) {
  const settings = block.column_settings ?? [];
  const [head, ...rows] = block.rows;
  return h(
    "div",
    { class: "table-box", tabindex: "0", role: "group", "aria-label": "Table" },
    h(
      "table",
      {},
      h("thead", {}, drawRow(head, "th", settings, ctx)),
      h(
        "tbody",
        {},
        rows.map((row) => drawRow(row, "td", settings, ctx)),
      ),
    ),
  );
}
