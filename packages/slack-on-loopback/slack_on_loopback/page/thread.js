// The thread pane: the root, its replies, and a composer for the thread.

import { addressOf } from "./channel_names.js";
import { Composer } from "./composer.js";
import { iconLink } from "./controls.js";
import { h } from "./dom.js";
import { MessageList } from "./message_list.js";
import { PHONE } from "./panes.js";
import { SessionBar } from "./session.js";
import { listKey } from "./store.js";

/** One thread on screen. */
export class ThreadPane {
  constructor(ctx, channel, ts) {
    this.ctx = ctx;
    this.channel = channel;
    this.ts = ts;
    this.key = listKey(channel, ts);
    this.list = new MessageList(ctx, { inThread: true, label: "Thread" });
    const place = { key: this.key, label: "Reply in thread", channel, threadTs: ts };
    this.composer = new Composer(ctx, place);
    this.session = new SessionBar(ctx, channel, ts);
    const composer = ctx.store.channels.get(channel).is_archived ? null : this.composer.node;
    const foot = h("div", { class: "pane-foot" }, this.session.node, composer);
    this.node = h("div", { class: "pane thread-pane" }, this.#drawHead(), this.list.node, foot);
    this.node.addEventListener("keydown", (event) => this.#key(event));
    this.stops = [
      ctx.store.on("row", (change) => change.key === this.key && this.#rowChanged(change)),
      ctx.store.on("list", (key) => key === this.key && this.#load()),
      ctx.store.on("pins", (id) => id === channel && this.list.setPins(ctx.store.pins.get(id))),
    ];
  }

  #drawHead() {
    const channel = this.ctx.store.channels.get(this.channel);
    const title = h(PHONE.matches ? "h1" : "h2", {}, "Thread");
    const topic = h("p", { class: "topic" }, addressOf(channel, this.ctx));
    return h(
      "header",
      { class: "pane-head" },
      iconLink("back", "Back to the channel", `#/${this.channel}`, "only-phone"),
      h("div", { class: "pane-title" }, title, topic),
      iconLink("close", "Close thread", `#/${this.channel}`, "not-phone"),
    );
  }

  /** Fetches the thread. */
  async refresh() {
    await this.ctx.store.load(this.key, () => this.ctx.api.thread(this.channel, this.ts));
  }

  #load() {
    const messages = this.ctx.store.lists.get(this.key);
    this.list.load([...messages.values()]);
    this.session.draw(messages.get(this.ts));
  }

  #rowChanged({ message, isRemoved }) {
    if (message.ts === this.ts) this.session.draw(message);
    if (isRemoved) this.list.remove(message.ts);
    else this.list.upsert(message);
  }

  #key(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    location.hash = `#/${this.channel}`;
  }

  /** Stops listening; the thread is forgotten until it is opened again. */
  close() {
    for (const stop of this.stops) stop();
    this.ctx.store.lists.delete(this.key);
  }
}
