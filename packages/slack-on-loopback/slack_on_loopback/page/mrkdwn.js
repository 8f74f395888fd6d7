// Slack's mrkdwn: parses it into a small tree, and draws the tree.
// Rules: https://docs.slack.dev/messaging/formatting-message-text

import { fragment, h, outlink } from "./dom.js";
import { channelMention, dateNode, emoji, groupMention, unescape, userMention } from "./mentions.js";

const DEEPEST = 16; // deeper nesting stays plain: text from anywhere must not overflow the stack
const STYLES = { "*": "strong", _: "em", "~": "s" };
const WORD = /[\p{L}\p{N}]/u;
const EMOJI = /:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/y;
const ANGLE = /<([^<>\n]+)>/y;
const BARE_URL = /https?:\/\/[^\s<>|]+/y;
const TRAILING = /[.,;:!?)\]}'"*_~]+$/;

/** Parses mrkdwn into blocks: `{kind: "pre"|"quote"|"text", …}`. */
function parseMrkdwn(text) {
  return text.split(/```/).flatMap((part, index, all) => {
    if (index % 2 === 0) return parseLines(part, index > 0);
    if (index === all.length - 1) return parseLines("```" + part, false);
    if (!part.trim()) return parseLines("``````", false);
    return [{ kind: "pre", text: unescape(part.replace(/^\n|\n$/g, "")) }];
  });
}

function parseLines(part, afterPre) {
  const blocks = [];
  const lines = (afterPre ? part.replace(/^\n/, "") : part).split("\n");
  for (let i = 0; i < lines.length; i += 1) {
    if (/^(&gt;|>){3}/.test(lines[i])) {
      const rest = [lines[i].replace(/^(&gt;|>){3} ?/, ""), ...lines.slice(i + 1)];
      return [...blocks, { kind: "quote", children: parseInline(rest.join("\n")) }].map(finish);
    }
    pushLine(blocks, lines[i]);
  }
  return blocks.map(finish).filter((block) => block.kind !== "text" || block.children.length);
}

function pushLine(blocks, line) {
  const quoted = line.match(/^(?:&gt;|>) ?(.*)$/);
  const kind = quoted ? "quote" : "text";
  const last = blocks.at(-1);
  const content = quoted ? quoted[1] : line;
  if (last?.kind === kind) last.lines.push(content);
  else blocks.push({ kind, lines: [content] });
}

function finish(block) {
  if (!block.lines) return block;
  return { kind: block.kind, children: parseInline(block.lines.join("\n")) };
}

function parseInline(text, depth = 0) {
  const nodes = [];
  const dead = new Set(); // marks without a closing one on this line: no need to look again
  let plain = "";
  const flush = () => {
    if (plain) nodes.push({ kind: "plain", text: unescape(plain) });
    plain = "";
  };
  for (let i = 0; i < text.length;) {
    if (text[i] === "\n") dead.clear();
    const found = readAt(text, i, { dead, depth });
    if (found) {
      flush();
      nodes.push(found.node);
      i = found.end;
    } else {
      plain += text[i];
      i += 1;
    }
  }
  flush();
  return nodes;
}

function readAt(text, i, run) {
  const char = text[i];
  if (char === "`") return readCode(text, i);
  if (char === "<") return readAngle(text, i);
  if (char === ":") return readEmoji(text, i);
  if (char in STYLES)
    return run.dead.has(char) || run.depth > DEEPEST ? null : readStyle(text, i, run);
  if (char === "h" && !WORD.test(text[i - 1] ?? "")) return readUrl(text, i);
  return null;
}

function readCode(text, i) {
  const end = text.indexOf("`", i + 1);
  const inner = text.slice(i + 1, end);
  if (end < 0 || !inner.trim() || inner.includes("\n")) return null;
  return { node: { kind: "code", text: unescape(inner) }, end: end + 1 };
}

function readAngle(text, i) {
  ANGLE.lastIndex = i;
  const match = ANGLE.exec(text);
  const node = match && angleNode(match[1]);
  return node ? { node, end: i + match[0].length } : null;
}

function angleNode(inner) {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = bar < 0 ? "" : inner.slice(bar + 1);
  if (/^@[UWB]/.test(target)) return { kind: "user", id: target.slice(1), label };
  if (/^#[CG]/.test(target)) return { kind: "channel", id: target.slice(1), label };
  if (target.startsWith("!date^")) return dateToken(inner);
  if (target.startsWith("!")) return { kind: "group", name: target.slice(1) };
  if (/^(https?:\/\/|mailto:)/i.test(target))
    return { kind: "link", url: unescape(target), label: unescape(label) };
  return null;
}

function dateToken(inner) {
  const [spec, fallback = ""] = inner.split("|");
  const [, seconds, template = ""] = spec.split("^");
  return { kind: "date", seconds, template, fallback: unescape(fallback) };
}

function readEmoji(text, i) {
  EMOJI.lastIndex = i;
  const match = EMOJI.exec(text);
  return match ? { node: { kind: "emoji", name: match[1] }, end: i + match[0].length } : null;
}

function readUrl(text, i) {
  BARE_URL.lastIndex = i;
  const match = BARE_URL.exec(text);
  if (!match) return null;
  const url = match[0].replace(TRAILING, "");
  return { node: { kind: "link", url: unescape(url), label: "" }, end: i + url.length };
}

// A style opens after a non-word and closes before one, on one line, around something.
function readStyle(text, i, { dead, depth }) {
  const mark = text[i];
  const before = text[i - 1] ?? " ";
  const after = text[i + 1] ?? " ";
  if (WORD.test(before) || before === mark || after === mark || /\s/.test(after)) return null;
  const end = closingMark(text, i, mark);
  if (end < 0) {
    dead.add(mark);
    return null;
  }
  const children = parseInline(text.slice(i + 1, end), depth + 1);
  return { node: { kind: STYLES[mark], children }, end: end + 1 };
}

function closingMark(text, start, mark) {
  for (let i = start + 1; i < text.length && text[i] !== "\n"; i += 1) {
    const skip = text[i] === "`" || text[i] === "<" ? readAt(text, i) : null;
    if (skip) i = skip.end - 1;
    else if (text[i] === mark && closes(text, i, start)) return i;
  }
  return -1;
}

function closes(text, i, start) {
  const after = text[i + 1] ?? " ";
  return i > start + 1 && !/\s/.test(text[i - 1]) && !WORD.test(after) && after !== text[i];
}

const DRAW = {
  plain: (node) => node.text,
  code: (node) => h("code", {}, node.text),
  strong: (node, ctx) => h("strong", {}, drawInline(node.children, ctx)),
  em: (node, ctx) => h("em", {}, drawInline(node.children, ctx)),
  s: (node, ctx) => h("s", {}, drawInline(node.children, ctx)),
  user: (node, ctx) => userMention(node.id, ctx, node.label),
  channel: (node, ctx) => channelMention(node.id, ctx, node.label),
  group: (node) => groupMention(node.name),
  link: (node) => outlink(node.url, node.label || node.url.replace(/^mailto:/, "")),
  date: (node) => dateNode(node.seconds, node.template, node.fallback),
  emoji: (node, ctx) => emoji(node.name, ctx),
};

function drawInline(nodes, ctx) {
  return nodes.map((node) => DRAW[node.kind](node, ctx));
}

/** Draws mrkdwn. */
export function drawMrkdwn(text, ctx) {
  const blocks = parseMrkdwn(text ?? "").map((block) => {
    if (block.kind === "pre") return h("pre", { tabindex: "0" }, block.text);
    if (block.kind === "quote") return h("blockquote", {}, drawInline(block.children, ctx));
    return h("span", { class: "run" }, drawInline(block.children, ctx));
  });
  return fragment(blocks);
}

/** The text a screen reader or a one-line preview gets: no marks, no tokens. */
export function plainMrkdwn(text, ctx) {
  return fragment(drawMrkdwn(text, ctx)).textContent.replace(/\s+/g, " ").trim();
}
