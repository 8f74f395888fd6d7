// The small toolbar at a message: reply, and the app's message shortcuts.

import { button, iconButton } from "./controls.js";
import { h } from "./dom.js";
import { attempt } from "./notices.js";

/** The toolbar of one list; it stands at `current()`, the message under the pointer or the focus. */
export function createToolbar(ctx, current, { inThread }) {
  const run = (shortcut) =>
    attempt(() => {
      const { channel, ts } = current();
      const { callback_id } = shortcut;
      return ctx.api.post("shortcut", { callback_id, channel, message_ts: ts });
    });
  const shortcuts = ctx.store.app.shortcuts.map((shortcut) =>
    button(shortcut.name, () => run(shortcut), "small"),
  );
  const reply = !inThread && iconButton("thread", "Reply in thread", () => openThread(current()));
  const props = { class: "toolbar", role: "group", "aria-label": "Message actions" };
  return h("div", props, reply, shortcuts);
}

/** Goes to the thread of a message. */
export function openThread(message) {
  location.hash = `#/${message.channel}/${message.thread_ts ?? message.ts}`;
}
