// The table block: cells of raw text, numbers or rich text; the first row is the head.

import { h } from "./dom.js";
import { withEmoji } from "./mentions.js";
import { drawRichText } from "./rich_text.js";

function drawCell(cell, ctx) {
  if (cell?.type === "rich_text") return drawRichText(cell, ctx);
  if (cell?.type === "raw_number") return cell.text ?? String(cell.value);
  return withEmoji(cell?.text ?? "", ctx);
}

function classOf(cell, setting) {
  const align = setting?.align ?? (cell?.type === "raw_number" ? "right" : "left");
  return `align-${align}${setting?.is_wrapped ? " wrapped" : ""}`;
}

function drawRow(row, tag, settings, ctx) {
  return h(
    "tr",
    {},
    row.map((cell, n) =>
      h(
        tag,
        { class: classOf(cell, settings[n]), scope: tag === "th" ? "col" : null },
        drawCell(cell, ctx),
      ),
    ),
  );
}

/**
 * Draws a table block; wide tables scroll inside their own box.
 * @param {object} block Slack's table block
 * @param {object} ctx drawing context
 */
export function drawTable(block, ctx) {
  const settings = block.column_settings ?? [];
  const [head, ...rows] = block.rows;
  const table = h(
    "table",
    {},
    h("thead", {}, drawRow(head, "th", settings, ctx)),
    h(
      "tbody",
      {},
      rows.map((row) => drawRow(row, "td", settings, ctx)),
    ),
  );
  return h(
    "div",
    { class: "table-box", tabindex: "0", role: "group", "aria-label": "Table" },
    table,
  );
}
