// Draws one message: author, text or blocks, files, reactions, and the way into its thread.

import { authorOf, avatar } from "./authors.js";
import { drawBlocks } from "./blocks.js";
import { h } from "./dom.js";
import { drawFile } from "./files.js";
import { icon } from "./icons.js";
import { emoji, nameOf } from "./mentions.js";
import { drawMrkdwn, plainMrkdwn } from "./mrkdwn.js";
import { isReply } from "./store.js";
import { ago, clock, dateOf, fullDate } from "./time.js";

const QUIET = new Set(["channel_join", "channel_leave", "tombstone"]);

/** Messages that only say what happened to the channel. */
export function isQuiet(message) {
  return QUIET.has(message.subtype);
}

/** One line of a message, for lists and for screen readers. */
export function excerpt(message, ctx, length = 120) {
  const text =
    plainMrkdwn(message.text || headText(message), ctx) || message.files?.[0]?.name || "(no text)";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function headText(message) {
  const block = message.blocks?.find((candidate) => candidate.text);
  return typeof block?.text === "string" ? block.text : (block?.text?.text ?? "");
}

/** The nodes of one message row. */
export function drawMessage(message, ctx, { inThread }) {
  const author = authorOf(message, ctx);
  const date = dateOf(message.ts);
  const gutterTime = h("span", { class: "gutter-time", "aria-hidden": "true" }, clock(date));
  const head = h(
    "div",
    { class: "message-head" },
    h("span", { class: "author" }, author.name),
    author.isApp && h("span", { class: "app-tag" }, "APP"),
    h("time", { datetime: date.toISOString(), title: fullDate(date) }, clock(date)),
  );
  const body = h(
    "div",
    { class: "message" },
    drawMarks(message, ctx, inThread),
    head,
    drawBody(message, ctx),
    !inThread && drawThreadLink(message, ctx),
  );
  return [h("div", { class: "gutter" }, avatar(author), gutterTime), body];
}

function drawMarks(message, ctx, inThread) {
  return [
    h("div", { class: "mark pin-mark" }, icon("pin"), "Pinned"),
    message.is_ephemeral && h("div", { class: "mark" }, icon("eye"), "Only visible to you"),
    message.subtype === "thread_broadcast" && drawBroadcastMark(message, ctx, inThread),
  ];
}

function drawBroadcastMark(message, ctx, inThread) {
  if (inThread) return h("div", { class: "mark" }, icon("hash"), "Also sent to the channel");
  // The root as it is now; what came with the reply is how it was then.
  const root = ctx.store.find(message.channel, message.thread_ts) ?? message.root;
  const href = `#/${message.channel}/${message.thread_ts}`;
  const link = h("a", { href }, root ? excerpt(root, ctx, 70) : "open it");
  return h("div", { class: "mark" }, icon("thread"), h("span", {}, "replied to a thread: ", link));
}

function drawBody(message, ctx) {
  const surface = { channel: message.channel, message_ts: message.ts };
  const content = message.blocks?.length
    ? drawBlocks(message.blocks, { ctx, surface, key: message.ts })
    : h("span", { class: "text" }, drawMrkdwn(message.text, ctx));
  return h(
    "div",
    { class: isQuiet(message) ? "content quiet" : "content" },
    content,
    message.edited && h("span", { class: "edited" }, " (edited)"),
    (message.files ?? []).map(drawFile),
    drawReactions(message, ctx),
  );
}

function drawThreadLink(message, ctx) {
  const count = message.reply_count ?? 0;
  if (!count || isReply(message)) return null;
  const people = (message.reply_users ?? []).filter((id) => ctx.store.users.has(id)).slice(0, 3);
  const faces = people.map((user) => avatar(authorOf({ user }, ctx), "tiny"));
  const last = `Last reply ${ago(dateOf(message.latest_reply))}`;
  return h(
    "a",
    { class: "thread-link", href: `#/${message.channel}/${message.ts}`, data: { focus: "thread" } },
    h("span", { class: "faces" }, faces),
    h("strong", {}, count === 1 ? "1 reply" : `${count} replies`),
    h("span", { class: "last-reply" }, last),
    icon("chevron"),
  );
}

// The row of reactions; null when there are none.
function drawReactions(message, ctx) {
  if (!message.reactions?.length) return null;
  const rows = message.reactions.map(({ name, count, users }) => {
    const names = users.map((id) => (id === ctx.store.me ? "you" : nameOf(ctx.store.users.get(id))));
    const title = `${name.replaceAll("_", " ")}, ${count}: ${names.join(", ")}`;
    return h("li", { class: "reaction", title }, emoji(name, ctx), h("span", {}, String(count)));
  });
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, rows);
}
