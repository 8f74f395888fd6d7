// The small toolbar at a message: reply, pin, and the menu with the apps' shortcuts.

import { withTokens } from "./composer.js";
import { h } from "./dom.js";
import { ask, askText } from "./dialog.js";
import { icon } from "./icons.js";
import { unescape } from "./mentions.js";
import { openMenu } from "./menu.js";
import { attempt, toast } from "./notices.js";

function tool(name, label, click) {
  return h(
    "button",
    { class: "tool", type: "button", "aria-label": label, title: label, on: { click } },
    icon(name),
  );
}

/**
 * The toolbar of one list; it moves to the row under the pointer or the focus.
 * @param {object} ctx drawing context
 * @param {() => object|undefined} current the message it stands at
 * @param {{inThread: boolean}} place
 */
export function createToolbar(ctx, current, { inThread }) {
  const reply = inThread ? null : tool("thread", "Reply in thread", () => openThread(current()));
  const pin = tool("pin", "Pin or unpin", () => togglePin(current(), ctx));
  const more = tool("more", "More actions", (event) =>
    openMore(event.currentTarget, current(), ctx),
  );
  more.setAttribute("aria-haspopup", "menu");
  return h(
    "div",
    { class: "toolbar", role: "group", "aria-label": "Message actions" },
    [reply, pin, more].filter(Boolean),
  );
}

/** Goes to the thread of a message. */
export function openThread(message) {
  location.hash = `#/${message.channel}/${message.thread_ts ?? message.ts}`;
}

function isPinned(message, ctx) {
  return (ctx.store.pins.get(message.channel) ?? []).includes(message.ts);
}

function togglePin(message, ctx) {
  return attempt(() =>
    ctx.api.post("pin", {
      channel: message.channel,
      ts: message.ts,
      remove: isPinned(message, ctx),
    }),
  );
}

/** Opens the ⋯ menu of a message; one that only you see can only be copied, as in Slack. */
export function openMore(anchor, message, ctx) {
  const copying = copyEntries(message);
  if (message.is_ephemeral) openMenu(anchor, copying.slice(0, 1));
  else
    openMenu(anchor, [...shortcutEntries(message, ctx), ...copying, ...ownEntries(message, ctx)]);
}

function shortcutEntries(message, ctx) {
  const place = { channel: message.channel, message_ts: message.ts };
  const entries = [...ctx.store.apps.values()].flatMap((app) =>
    (app.shortcuts ?? [])
      .filter((shortcut) => shortcut.type === "message")
      .map((shortcut) => ({
        label: shortcut.name,
        hint: app.name,
        icon: "bolt",
        run: () =>
          attempt(() => ctx.api.post("shortcut", { callback_id: shortcut.callback_id, ...place })),
      })),
  );
  return entries.length ? [{ heading: "Apps" }, ...entries, null] : [];
}

function copyEntries(message) {
  const link = `${location.origin}${location.pathname}#/${message.channel}/${message.thread_ts ?? message.ts}`;
  const copy = async (text, what) => {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  };
  return [
    { label: "Copy text", icon: "copy", run: () => copy(unescape(message.text ?? ""), "Text") },
    { label: "Copy link", icon: "copy", run: () => copy(link, "Link") },
  ];
}

function ownEntries(message, ctx) {
  if (message.user !== ctx.store.me || message.bot_id) return [];
  return [
    null,
    { label: "Edit message", icon: "edit", run: () => edit(message, ctx) },
    { label: "Delete message", icon: "trash", danger: true, run: () => remove(message, ctx) },
  ];
}

async function edit(message, ctx) {
  const text = await askText({
    title: "Edit message",
    label: "Message",
    value: unescape(message.text),
    confirm: "Save",
    max: 40_000,
  });
  if (text)
    await attempt(() =>
      ctx.api.post("edit", {
        channel: message.channel,
        ts: message.ts,
        text: withTokens(text, ctx.store),
      }),
    );
}

async function remove(message, ctx) {
  const sure = await ask({
    title: "Delete message?",
    text: "This cannot be undone.",
    confirm: "Delete",
    deny: "Keep",
    danger: true,
  });
  if (sure)
    await attempt(() => ctx.api.post("delete", { channel: message.channel, ts: message.ts }));
}
