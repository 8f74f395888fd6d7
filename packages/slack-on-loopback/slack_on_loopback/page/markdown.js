// Block-level Markdown (the `markdown` block and file previews), drawn as nodes.

import { fragment, h } from "./dom.js";
import { drawInlineMarkdown } from "./markdown_inline.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+•]|\d{1,9}[.)])(\s+|$)/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

const DEEPEST = 16; // deeper nesting stays plain: text from anywhere must not overflow the stack
const READERS = [readFence, readHeading, readRule, readQuote, readTable, readList];

/**
 * Draws Markdown; raw HTML in it shows as text.
 * @param {string} text
 * @param {object} ctx drawing context
 * @returns {DocumentFragment}
 */
export function drawMarkdown(text, ctx) {
  const lines = (text ?? "").replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n");
  const drawn = fragment(drawLines(lines, ctx, 0));
  levelHeadings(drawn);
  return drawn;
}

// Headings begin below the page's own and skip no level, whatever the text does: a text may begin
// with "###". How they look is a matter of their class.
function levelHeadings(drawn) {
  let above = 1;
  for (const node of drawn.querySelectorAll("[class^=md-h]")) {
    above = Math.min(Number(node.className.slice(-1)) + 1, above + 1, 6);
    node.replaceWith(h(`h${above}`, { class: node.className }, ...node.childNodes));
  }
}

function drawLines(lines, ctx, depth) {
  const nodes = [];
  for (let i = 0; i < lines.length;) {
    if (!lines[i].trim()) {
      i += 1;
      continue;
    }
    const found = firstMatch(lines, i, ctx, depth);
    nodes.push(found.node);
    i = found.next;
  }
  return nodes;
}

function firstMatch(lines, i, ctx, depth) {
  for (const reader of depth < DEEPEST ? READERS : []) {
    const found = reader(lines, i, ctx, depth + 1);
    if (found) return found;
  }
  return readParagraph(lines, i, ctx);
}

function readFence(lines, i) {
  const open = lines[i].match(FENCE);
  if (!open) return null;
  const [, fence, language] = open;
  const isEnd = (line) => line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], "");
  const length = lines.slice(i + 1).findIndex(isEnd);
  const end = length < 0 ? lines.length : i + 1 + length;
  const code = h("code", {}, lines.slice(i + 1, end).join("\n"));
  return {
    node: h("pre", { tabindex: "0", data: language ? { language } : {} }, code),
    next: end + 1,
  };
}

function readHeading(lines, i, ctx) {
  const match = lines[i].match(HEADING);
  if (!match) return null;
  return {
    node: h(
      "h2",
      { class: `md-h${match[1].length}` },
      drawInlineMarkdown(match[2] ?? "", ctx),
    ),
    next: i + 1,
  };
}

function readRule(lines, i) {
  return RULE.test(lines[i]) ? { node: h("hr"), next: i + 1 } : null;
}

function readQuote(lines, i, ctx, depth) {
  if (!QUOTE.test(lines[i])) return null;
  let end = i;
  while (
    end < lines.length &&
    (QUOTE.test(lines[end]) || (lines[end].trim() && !startsBlock(lines, end)))
  )
    end += 1;
  const inner = lines.slice(i, end).map((line) => line.replace(QUOTE, ""));
  return { node: h("blockquote", {}, drawLines(inner, ctx, depth)), next: end };
}

function startsBlock(lines, i) {
  return (
    [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(lines[i])) ||
    isTable(lines, i)
  );
}

function isTable(lines, i) {
  return (
    lines[i].includes("|") &&
    i + 1 < lines.length &&
    lines[i + 1].includes("-") &&
    DELIMITER.test(lines[i + 1]) &&
    cells(lines[i]).length === cells(lines[i + 1]).length
  );
}

/** Splits a table row at its bars; bars in code or behind a backslash do not count. */
function cells(line) {
  const row = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const parts = row.match(/(?:`[^`]*`|\\\||[^|])+|(?<=\||^)(?=\||$)/g) ?? [];
  return parts.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignment(mark) {
  if (/^:-+:$/.test(mark)) return "center";
  return mark.endsWith(":") ? "right" : "left";
}

function readTable(lines, i, ctx) {
  if (!isTable(lines, i)) return null;
  const aligns = cells(lines[i + 1]).map(alignment);
  let end = i + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const row = (line, tag) => {
    const found = cells(line);
    return h(
      "tr",
      {},
      aligns.map((align, n) =>
        h(tag, { class: `align-${align}` }, drawInlineMarkdown(found[n] ?? "", ctx)),
      ),
    );
  };
  const body = lines.slice(i + 2, end).map((line) => row(line, "td"));
  const table = h("table", {}, h("thead", {}, row(lines[i], "th")), h("tbody", {}, body));
  return {
    node: h(
      "div",
      { class: "table-box", tabindex: "0", role: "group", "aria-label": "Table" },
      table,
    ),
    next: end,
  };
}

function readList(lines, i, ctx, depth) {
  const first = lines[i].match(ITEM);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let next = i;
  while (next < lines.length && sameList(lines[next], ordered)) {
    const item = readItem(lines, next);
    items.push(item);
    next = item.next;
  }
  const loose = items.some((item) => item.loose);
  const props = ordered && first[2] !== "1." ? { start: Number.parseInt(first[2], 10) } : {};
  return {
    node: h(
      ordered ? "ol" : "ul",
      props,
      items.map((item) => drawItem(item.lines, loose, ctx, depth)),
    ),
    next,
  };
}

function sameList(line, ordered) {
  const match = line.match(ITEM);
  return match !== null && !RULE.test(line) && /\d/.test(match[2]) === ordered;
}

function readItem(lines, start) {
  const match = lines[start].match(ITEM);
  const width = match[3].length > 4 ? match[1].length + match[2].length + 1 : match[0].length;
  const taken = [lines[start].slice(Math.min(width, lines[start].length))];
  let next = start + 1;
  for (; next < lines.length && continues(lines, next, width, taken); next += 1)
    taken.push(dedent(lines[next], width));
  const trimmed = dropTrailingBlank(taken);
  const blankBefore =
    trimmed.length < taken.length && next < lines.length && ITEM.test(lines[next]);
  return {
    lines: trimmed,
    next,
    loose: blankBefore || trimmed.some((line, n) => !line.trim() && n > 0),
  };
}

function continues(lines, i, width, taken) {
  const line = lines[i];
  const indent = line.search(/\S/);
  if (indent < 0)
    return lines.slice(i).some((later) => later.trim()) && followsIndented(lines, i, width);
  if (indent >= Math.min(width, 2)) return true;
  return taken.at(-1).trim() !== "" && !startsBlock(lines, i);
}

function followsIndented(lines, i, width) {
  const later = lines.slice(i).find((line) => line.trim());
  return later.search(/\S/) >= Math.min(width, 2) || ITEM.test(later);
}

function dedent(line, width) {
  return line.slice(Math.min(width, Math.max(line.search(/\S/), 0)));
}

function dropTrailingBlank(lines) {
  let end = lines.length;
  while (end > 1 && !lines[end - 1].trim()) end -= 1;
  return lines.slice(0, end);
}

function drawItem(lines, loose, ctx, depth) {
  const task = lines[0].match(/^\[([ xX])\]\s+/);
  if (task) lines[0] = lines[0].slice(task[0].length);
  const nodes = drawLines(lines, ctx, depth);
  const content = loose
    ? nodes
    : nodes.flatMap((node) => (node.tagName === "P" ? [...node.childNodes] : [node]));
  if (!task) return h("li", {}, content);
  const box = h("input", {
    type: "checkbox",
    checked: task[1] !== " ",
    disabled: true,
    "aria-label": "Task",
  });
  return h("li", { class: "task" }, box, " ", content);
}

function readParagraph(lines, i, ctx) {
  let end = i + 1;
  for (; end < lines.length && lines[end].trim(); end += 1) {
    const underline = lines[end].match(/^ {0,3}(=+|-{2,})\s*$/);
    if (underline) return setext(lines.slice(i, end), underline[1][0], end + 1, ctx);
    if (startsBlock(lines, end)) break;
  }
  return { node: h("p", {}, drawParagraphLines(lines.slice(i, end), ctx)), next: end };
}

function setext(lines, mark, next, ctx) {
  const level = mark === "=" ? 1 : 2;
  return {
    node: h(
      "h2",
      { class: `md-h${level}` },
      drawInlineMarkdown(lines.join(" ").trim(), ctx),
    ),
    next,
  };
}

// A line end inside a paragraph is a line break, as in Slack's own markdown block.
function drawParagraphLines(lines, ctx) {
  const text = lines.map((line) => line.trim()).join("\n");
  return drawInlineMarkdown(text, ctx);
}
