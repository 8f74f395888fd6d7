// Inline Markdown: emphasis, code, links, emoji, Slack mentions; parsed and drawn as nodes.

import { h, outlink, safeUrl } from "./dom.js";
import { channelMention, emoji, groupMention, userMention } from "./mentions.js";

const DEEPEST = 16; // deeper nesting stays plain: text from anywhere must not overflow the stack
const MARKS = ["***", "___", "**", "__", "~~", "*", "_"];
const TAGS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "s" };
const WORD = /[\p{L}\p{N}]/u;
const ESCAPE = /\\([!-/:-@[-`{-~])/y;
const LINK =
  /(!?)\[((?:\\.|`[^`]*`|\[[^\]]*\]|[^[\]\\`])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+["'][^"']*["'])?\s*\)/y;
const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>|]+)(?:\|([^<>]*))?>/y;
const MENTION = /<([@#!])([^<>|\s]+)(?:\|([^<>]*))?>/y;
const BARE_URL = /https?:\/\/[^\s<>]+/y;
const EMOJI = /:([a-z0-9_+'-]+):/y;
const TICKS = /`+/y;
const ENTITY = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};
const TRAILING = /[.,;:!?)\]'"*_~]+$/;

function at(pattern, text, i) {
  pattern.lastIndex = i;
  return pattern.exec(text);
}

/**
 * Draws one run of inline Markdown.
 * @param {string} text
 * @param {object} ctx drawing context
 * @param {number} [depth] how deep this run lies in others
 * @returns {Array<Node|string>}
 */
export function drawInlineMarkdown(text, ctx, depth = 0) {
  if (depth > DEEPEST) return [text];
  const out = [];
  const dead = new Set(); // marks without a closing one: no need to look again
  let plain = "";
  for (let i = 0; i < text.length;) {
    const found = readAt(text, i, ctx, { dead, depth: depth + 1 });
    if (found) {
      out.push(plain, found.node);
      plain = "";
      i = found.end;
    } else {
      plain += text[i];
      i += 1;
    }
  }
  return [...out, plain].filter((item) => item !== "");
}

const READERS = {
  "\\": readEscape,
  "`": readCode,
  "!": readLink,
  "[": readLink,
  "<": readAngle,
  "&": readEntity,
  ":": readEmoji,
  h: readUrl,
  "*": readStyle,
  _: readStyle,
  "~": readStyle,
};

function readAt(text, i, ctx, run) {
  return READERS[text[i]]?.(text, i, ctx, run) ?? null;
}

function readEscape(text, i) {
  if (text[i + 1] === "\n") return { node: h("br"), end: i + 2 };
  const match = at(ESCAPE, text, i);
  return match && { node: match[1], end: i + 2 };
}

function readCode(text, i) {
  const fence = at(TICKS, text, i)[0];
  let end = text.indexOf(fence, i + fence.length);
  while (end >= 0 && text[end + fence.length] === "`")
    end = text.indexOf(fence, end + fence.length + 1);
  if (end < 0) return { node: fence, end: i + fence.length };
  const inner = text.slice(i + fence.length, end).replaceAll("\n", " ");
  return { node: h("code", {}, inner.replace(/^ (.*[^ ].*) $/, "$1")), end: end + fence.length };
}

function readLink(text, i, ctx, { depth }) {
  const match = at(LINK, text, i);
  if (!match) return null;
  const [whole, bang, label, url] = match;
  const shown = bang ? `🖼 ${label || url}` : drawInlineMarkdown(label, ctx, depth);
  const node =
    safeUrl(url) && /^(https?:|mailto:)/i.test(url) ? outlink(url, shown) : h("span", {}, shown);
  return { node, end: i + whole.length };
}

function readAngle(text, i, ctx) {
  const link = at(ANGLE, text, i);
  if (link)
    return {
      node: outlink(link[1], link[2] || link[1].replace(/^mailto:/, "")),
      end: i + link[0].length,
    };
  const match = at(MENTION, text, i);
  return match && { node: drawMention(match, ctx), end: i + match[0].length };
}

function drawMention([, sign, id, label], ctx) {
  if (sign === "@") return userMention(id, ctx, label);
  if (sign === "#") return channelMention(id, ctx, label);
  return groupMention(label || id);
}

function readEntity(text, i) {
  const name = Object.keys(ENTITY).find((entity) => text.startsWith(entity, i));
  return name ? { node: ENTITY[name], end: i + name.length } : null;
}

function readEmoji(text, i, ctx) {
  const match = at(EMOJI, text, i);
  return match && { node: emoji(match[1], ctx), end: i + match[0].length };
}

function readUrl(text, i) {
  if (WORD.test(text[i - 1] ?? "")) return null;
  const match = at(BARE_URL, text, i);
  if (!match) return null;
  const url = match[0].replace(TRAILING, "");
  return { node: outlink(url, url), end: i + url.length };
}

function readStyle(text, i, ctx, { dead, depth }) {
  const mark = MARKS.find((candidate) => text.startsWith(candidate, i));
  if (!mark || dead.has(mark) || !opens(text, i, mark)) return null;
  const end = closing(text, i, mark);
  if (end < 0) {
    dead.add(mark);
    return null;
  }
  const inner = drawInlineMarkdown(text.slice(i + mark.length, end), ctx, depth);
  return { node: styled(mark, inner), end: end + mark.length };
}

function styled(mark, inner) {
  if (mark.length === 3) return h("strong", {}, h("em", {}, inner));
  return h(TAGS[mark], {}, inner);
}

function opens(text, i, mark) {
  if (/\s/.test(text[i + mark.length] ?? " ")) return false;
  return mark[0] !== "_" || !WORD.test(text[i - 1] ?? "");
}

function closing(text, start, mark) {
  for (let i = start + mark.length; i < text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "`") i = readCode(text, i).end - 1;
    else if (text.startsWith(mark, i)) {
      if (closes(text, i, start, mark)) return i;
      i += runLength(text, i) - 1;
    }
  }
  return -1;
}

function runLength(text, i) {
  let end = i;
  while (text[end] === text[i]) end += 1;
  return end - i;
}

function closes(text, i, start, mark) {
  if (i === start + mark.length || /\s/.test(text[i - 1])) return false;
  if (mark.length === 1 && runLength(text, i) === 2) return false;
  return mark[0] !== "_" || !WORD.test(text[i + mark.length] ?? "");
}
