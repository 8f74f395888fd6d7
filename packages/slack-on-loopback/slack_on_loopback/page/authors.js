// Who a message is from: name, avatar, and whether an app wrote it.

import { h } from "./dom.js";
import { hasGlyph } from "./glyphs.js";
import { nameOf } from "./mentions.js";

/** @typedef {{key: string, name: string, isApp: boolean, symbol?: string}} Author */

/** The author of a message; an app may post under a name and icon of its own. */
export function authorOf(message, ctx) {
  const user = ctx.store.users.get(message.user);
  const name = message.username || nameOf(user);
  const isApp = Boolean(message.bot_id || user?.is_bot);
  const code = message.icons?.emoji;
  const wanted = code && (ctx.store.emoji[code.replaceAll(":", "")] ?? "🤖");
  const symbol = wanted && hasGlyph(wanted) ? wanted : undefined;
  return { key: `${message.user ?? ""}/${name}/${code ?? ""}`, name, isApp, symbol };
}

/** An avatar: the emoji large on a tint, or initials. */
export function avatar(author, size = "") {
  const node = h("span", { class: `avatar ${size}`, "aria-hidden": "true" });
  node.style.setProperty("--hue", String(hueOf(author.name)));
  if (author.symbol) node.classList.add("with-emoji");
  node.textContent = author.symbol ?? initials(author.name);
  return node;
}

function initials(name) {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const firsts = words.slice(0, 2).map((word) => [...word][0].toUpperCase());
  return firsts.join("");
}

function hueOf(name) {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.codePointAt(0)) % 360;
  return sum;
}
