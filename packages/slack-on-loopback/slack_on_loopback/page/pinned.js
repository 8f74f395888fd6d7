// The strip of pinned messages at the top of a channel.

import { authorOf, avatar } from "./authors.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { excerpt } from "./message.js";

/** Draws and keeps the strip; `reveal(ts)` brings a pinned message into view. */
export class PinnedStrip {
  constructor(ctx, channel, reveal) {
    this.ctx = ctx;
    this.channel = channel;
    this.reveal = reveal;
    this.node = h("details", { class: "pinned-strip" });
    this.draw();
  }

  draw() {
    const pins = this.ctx.store.pins.get(this.channel) ?? [];
    this.node.hidden = pins.length === 0;
    const newest = this.ctx.store.find(this.channel, pins[0]);
    const head = [
      icon("pin"),
      h("strong", {}, `${pins.length} pinned`),
      h("span", { class: "pinned-words" }, newest && excerpt(newest, this.ctx)),
      icon("chevron"),
    ];
    const rows = pins.map((ts) => h("li", {}, this.#row(ts)));
    fill(this.node, h("summary", { class: "pinned-row" }, head), h("ul", {}, rows));
  }

  #row(ts) {
    const message = this.ctx.store.find(this.channel, ts);
    const author = message && authorOf(message, this.ctx);
    const content = message
      ? [
          avatar(author, "tiny"),
          h("strong", {}, author.name),
          h("span", { class: "pinned-words" }, excerpt(message, this.ctx)),
        ]
      : "A message in a thread";
    const click = () => this.reveal(ts);
    return h("button", { class: "pinned-row", type: "button", on: { click } }, content);
  }
}
