// The rich_text block: sections, lists, quotes, preformatted text and every inline element.

import { h, outlink } from "./dom.js";
import { channelMention, dateNode, emoji, groupMention, userMention } from "./mentions.js";

const INLINE = {
  text: (part) => part.text,
  link: (part) => outlink(part.url, part.text || part.url),
  user: (part, ctx) => userMention(part.user_id, ctx),
  channel: (part, ctx) => channelMention(part.channel_id, ctx),
  usergroup: (part) => groupMention(part.usergroup_id),
  team: (part, ctx) => groupMention(ctx.store.team?.name ?? part.team_id),
  broadcast: (part) => groupMention(part.range),
  emoji: (part, ctx) => emoji(part.name, ctx, part.unicode),
  date: (part) => dateNode(part.timestamp, part.format, part.fallback ?? "", part.url),
  color: (part) => colorNode(part.value),
};

function colorNode(value) {
  const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
  if (/^#[0-9a-f]{3,8}$/i.test(value)) swatch.style.background = value;
  return h("span", { class: "color" }, swatch, value);
}

const STYLE_TAGS = {
  bold: "strong",
  italic: "em",
  strike: "s",
  underline: "u",
  code: "code",
  highlight: "mark",
  client_highlight: "mark",
};

function drawInline(part, ctx) {
  const draw = INLINE[part.type];
  let node = draw ? draw(part, ctx) : h("span", { class: "not-drawn-inline" }, `[${part.type}]`);
  for (const [name, on] of Object.entries(part.style ?? {})) {
    if (on && STYLE_TAGS[name]) node = h(STYLE_TAGS[name], {}, node);
  }
  return node;
}

function drawInlines(parts, ctx) {
  return (parts ?? []).map((part) => drawInline(part, ctx));
}

const ELEMENTS = {
  rich_text_section: (element, ctx) =>
    h("div", { class: "rt-section" }, drawInlines(element.elements, ctx)),
  rich_text_quote: (element, ctx) => h("blockquote", {}, drawInlines(element.elements, ctx)),
  rich_text_preformatted: (element, ctx) =>
    h("pre", { tabindex: "0" }, drawInlines(element.elements, ctx)),
  rich_text_list: drawList,
};

function drawList(element, ctx) {
  const ordered = element.style === "ordered";
  const indent = Math.min(element.indent ?? 0, 8);
  const props = { class: `rt-list indent-${indent}${element.border ? " bordered" : ""}` };
  if (ordered && element.offset) props.start = element.offset + 1;
  const items = (element.elements ?? []).map((item) =>
    h("li", {}, ELEMENTS[item.type]?.(item, ctx) ?? drawInline(item, ctx)),
  );
  return h(ordered ? "ol" : "ul", props, items);
}

/**
 * Draws a rich_text block.
 * @param {object} block Slack's rich_text block
 * @param {object} ctx drawing context
 */
export function drawRichText(block, ctx) {
  const parts = (block.elements ?? []).map(
    (element) => ELEMENTS[element.type]?.(element, ctx) ?? drawInline(element, ctx),
  );
  return h("div", { class: "rich-text" }, parts);
}
