// Draws one message: author, text or blocks, files, reactions, and the way into its thread.

import { authorOf, authorOfUser, avatar } from "./authors.js";
import { drawBlocks } from "./blocks.js";
import { h } from "./dom.js";
import { drawFile } from "./files.js";
import { Form } from "./form.js";
import { icon } from "./icons.js";
import { drawMrkdwn, plainMrkdwn } from "./mrkdwn.js";
import { drawReactions } from "./reactions.js";
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

/**
 * The nodes of one message row.
 * @param {object} message Slack's message
 * @param {object} ctx drawing context
 * @param {{inThread: boolean}} place
 */
export function drawMessage(message, ctx, { inThread }) {
  const author = authorOf(message, ctx);
  const date = dateOf(message.ts);
  const time = h("time", { datetime: date.toISOString(), title: fullDate(date) }, clock(date));
  const gutter = h(
    "div",
    { class: "gutter" },
    avatar(author),
    h("span", { class: "gutter-time", "aria-hidden": "true" }, clock(date)),
  );
  const head = h(
    "div",
    { class: "message-head" },
    h("span", { class: "author" }, author.name),
    author.isApp && h("span", { class: "app-tag" }, "APP"),
    time,
  );
  const body = h(
    "div",
    { class: "message" },
    drawMarks(message, ctx, inThread),
    head,
    drawBody(message, ctx),
    !inThread && drawThreadLink(message, ctx),
  );
  return [gutter, body];
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
  const link = h(
    "a",
    { href: `#/${message.channel}/${message.thread_ts}` },
    root ? excerpt(root, ctx, 70) : "open it",
  );
  return h("div", { class: "mark" }, icon("thread"), h("span", {}, "replied to a thread: ", link));
}

function drawBody(message, ctx) {
  const scope = scopeOf(message, ctx);
  const edited = message.edited && h("span", { class: "edited" }, " (edited)");
  const content = message.blocks?.length
    ? drawBlocks(message.blocks, scope)
    : h("div", { class: "text" }, drawMrkdwn(message.text, ctx), edited);
  return h(
    "div",
    { class: isQuiet(message) ? "content quiet" : "content" },
    content,
    message.blocks?.length ? edited : null,
    (message.files ?? []).map(drawFile),
    drawReactions(message, ctx),
  );
}

function scopeOf(message, ctx) {
  const surface = { channel: message.channel, message_ts: message.ts };
  return {
    ctx,
    surface,
    form: new Form(),
    state: message.state?.values,
    key: message.ts,
  };
}

function drawThreadLink(message, ctx) {
  const count = message.reply_count ?? 0;
  if (!count || isReply(message)) return null;
  const faces = (message.reply_users ?? [])
    .slice(0, 3)
    .map((id) => ctx.store.users.get(id))
    .filter(Boolean);
  const last =
    message.latest_reply &&
    h("span", { class: "last-reply" }, `Last reply ${ago(dateOf(message.latest_reply))}`);
  return h(
    "a",
    { class: "thread-link", href: `#/${message.channel}/${message.ts}`, data: { focus: "thread" } },
    h(
      "span",
      { class: "faces" },
      faces.map((user) => avatar(authorOfUser(user, ctx), "tiny")),
    ),
    h("strong", {}, count === 1 ? "1 reply" : `${count} replies`),
    last,
    icon("chevron"),
  );
}
