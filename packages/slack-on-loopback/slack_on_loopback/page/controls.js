// The page's own buttons and links, made the same way everywhere.

import { h } from "./dom.js";
import { icon } from "./icons.js";

/** A button with words; style is "primary", "danger", "small" or nothing. */
export function button(label, click, style = "") {
  return h("button", { class: `button ${style}`, type: "button", on: { click } }, label);
}

/** A button that is only an icon; the label is read out and shown on hover. */
export function iconButton(name, label, click) {
  const named = { type: "button", "aria-label": label, title: label, on: { click } };
  return h("button", { class: "icon-button", ...named }, icon(name));
}

/** A link that is only an icon, for going back or closing a pane. */
export function iconLink(name, label, href, when) {
  return h("a", { class: `icon-button ${when}`, href, "aria-label": label }, icon(name));
}
