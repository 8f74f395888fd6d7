// The small toolbar at a message: reply, and the apps' message shortcuts.

import { button, iconButton } from "./controls.js";
import { h } from "./dom.js";
import { attempt } from "./notices.js";

/**
 * The toolbar of one list; it moves to the row under the pointer or the focus.
 * @param {object} ctx drawing context
 * @param {() => object|undefined} current the message it stands at
 * @param {{inThread: boolean}} place
 */
export function createToolbar(ctx, current, { inThread }) {
  const run = (shortcut) =>
    attempt(() => {
      const { channel, ts } = current();
      const { callback_id } = shortcut;
      return ctx.api.post("shortcut", { callback_id, channel, message_ts: ts });
    });
  const shortcuts = [...ctx.store.apps.values()]
    .flatMap((app) => app.shortcuts ?? [])
    .filter((shortcut) => shortcut.type === "message")
    .map((shortcut) => button(shortcut.name, () => run(shortcut), "small"));
  const reply =
    !inThread && iconButton("thread", "Reply in thread", () => openThread(current()));
  return h(
    "div",
    { class: "toolbar", role: "group", "aria-label": "Message actions" },
    reply,
    shortcuts,
  );
}

/** Goes to the thread of a message. */
export function openThread(message) {
  location.hash = `#/${message.channel}/${message.thread_ts ?? message.ts}`;
}
