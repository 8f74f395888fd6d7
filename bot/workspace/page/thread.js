// The thread pane: the root, its replies, and a composer for the thread.

import { Composer } from "./composer.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { MessageList } from "./message_list.js";
import { listKey } from "./store.js";

/** One thread on screen. */
export class ThreadPane {
  /**
   * @param {object} ctx drawing context
   * @param {string} channel
   * @param {string} ts of the root
   */
  constructor(ctx, channel, ts) {
    this.ctx = ctx;
    this.channel = channel;
    this.ts = ts;
    this.key = listKey(channel, ts);
    this.list = new MessageList(ctx, { inThread: true, label: "Thread" });
    this.composer = new Composer(ctx, { key: this.key, label: "Reply in thread", channel, threadTs: ts });
    const archived = ctx.store.channels.get(channel)?.is_archived;
    this.node = h("div", { class: "pane thread-pane" }, this.#drawHead(), this.list.node, h("div", { class: "pane-foot" }, archived ? null : this.composer.node));
    this.node.addEventListener("keydown", (event) => this.#key(event));
    this.stops = [
      ctx.store.on("row", (change) => change.key === this.key && this.#rowChanged(change)),
      ctx.store.on("list", (key) => key === this.key && this.list.load([...ctx.store.lists.get(key).values()])),
      ctx.store.on("pins", (id) => id === channel && this.list.setPins(ctx.store.pins.get(id))),
    ];
  }

  #drawHead() {
    const name = this.ctx.store.channels.get(this.channel)?.name ?? "";
    return h("header", { class: "pane-head" },
      h("a", { class: "icon-button only-phone", href: `#/${this.channel}`, "aria-label": "Back to the channel" }, icon("back")),
      h("div", { class: "pane-title" }, h("h1", {}, "Thread"), h("p", { class: "topic" }, `#${name}`)),
      h("a", { class: "icon-button not-phone", href: `#/${this.channel}`, "aria-label": "Close thread" }, icon("close")));
  }

  /** Fetches the thread. */
  async refresh() {
    const answer = await this.ctx.api.thread(this.channel, this.ts);
    this.ctx.store.loadList(this.key, answer.messages);
  }

  #rowChanged({ message, change }) {
    if (change === "removed") this.list.remove(message.ts);
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
