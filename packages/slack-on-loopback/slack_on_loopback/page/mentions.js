// Draws the small things inside text: people, channels, groups, emoji, dates.

import { h } from "./dom.js";
import { symbolOrSign } from "./glyphs.js";
import { dateOf, fullDate, slackDate } from "./time.js";

/** What a person or bot is called here. */
export function nameOf(user) {
  return user?.real_name ?? "Someone";
}

/** `<@U…>` as a name; unknown people keep their id. */
export function userMention(id, ctx, label) {
  const user = ctx.store.users.get(id);
  const mine = id === ctx.store.me ? " mention-me" : "";
  const name = user ? nameOf(user) : label || id;
  return h("span", { class: `mention${mine}`, title: user?.name }, `@${name}`);
}

/** `<#C…>` as a link inside the page; a channel the reader cannot see stays text. */
export function channelMention(id, ctx, label) {
  const channel = ctx.store.channels.get(id);
  if (!channel) return h("span", { class: "mention" }, label ? `#${label}` : "#private-channel");
  return h("a", { class: "mention", href: `#/${id}` }, `#${channel.name}`);
}

/** `@here`, `@channel`, `@everyone` and groups. */
export function groupMention(name) {
  return h("span", { class: "mention mention-me" }, `@${name}`);
}

/** An emoji by shortcode, or the shortcode as text when it is not known. */
export function emoji(name, ctx) {
  const base = name.split("::")[0];
  const symbol = ctx.store.emoji[base];
  if (!symbol) return `:${name}:`;
  const shown = symbolOrSign(symbol, base);
  const isSign = shown !== symbol;
  const props = {
    class: isSign ? "emoji sign" : "emoji",
    role: "img",
    "aria-label": base.replaceAll("_", " "),
    title: `:${name}:`,
    // Drawn by the style sheet: a sign as text would be part of what a button is called.
    "data-sign": isSign ? shown : null,
  };
  return h("span", props, isSign ? null : symbol);
}

/** A date in the reader's time zone, with the full date on hover. */
export function dateNode(seconds, template, fallback) {
  const date = dateOf(seconds);
  if (Number.isNaN(date.getTime())) return fallback;
  const props = { datetime: date.toISOString(), title: fullDate(date) };
  return h("time", props, slackDate(date, template));
}

const SHORTCODE = /:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/g;

/** Text with its `:shortcodes:` drawn; for plain_text objects. */
export function withEmoji(text, ctx) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(SHORTCODE)) {
    parts.push(text.slice(last, match.index), emoji(match[1], ctx));
    last = match.index + match[0].length;
  }
  return [...parts, text.slice(last)];
}

/** Slack's three escapes back to characters. */
export function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
