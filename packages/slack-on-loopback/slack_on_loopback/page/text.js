// Slack's text objects: plain_text and mrkdwn.

import { unescape, withEmoji } from "./mentions.js";
import { drawMrkdwn } from "./mrkdwn.js";

/** Draws a text object, or a bare string as plain text. */
export function drawText(text, ctx) {
  if (!text) return null;
  if (typeof text === "string") return withEmoji(unescape(text), ctx);
  if (text.type === "mrkdwn") return drawMrkdwn(text.text, ctx);
  return withEmoji(unescape(text.text), ctx);
}

/** The characters of a text object, for labels and searching. */
export function wordsOf(text) {
  return unescape(typeof text === "string" ? text : (text?.text ?? ""));
}
