// The strip of pinned messages at the top of a channel.

import { authorOf, avatar } from "./authors.js";
import { fill, freshId, h } from "./dom.js";
import { icon } from "./icons.js";
import { excerpt } from "./message.js";

/** Draws and keeps the strip; `reveal(ts)` brings a pinned message into view. */
export class PinnedStrip {
  #open = false;

  /**
   * @param {object} ctx drawing context
   * @param {string} channel
   * @param {(ts: string) => void} reveal
   */
  constructor(ctx, channel, reveal) {
    this.ctx = ctx;
    this.channel = channel;
    this.reveal = reveal;
    this.listId = freshId("pinned");
    this.node = h("section", { class: "pinned-strip", "aria-label": "Pinned messages" });
    this.draw();
  }

  draw() {
    const pins = this.ctx.store.pins.get(this.channel) ?? [];
    this.node.hidden = pins.length === 0;
    const toggle = () => {
      this.#open = !this.#open;
      this.draw();
      this.node.querySelector("button").focus();
    };
    const newest = this.#open ? "" : this.#words(pins[0] ?? "");
    const head = h(
      "button",
      {
        class: "pinned-head",
        type: "button",
        "aria-expanded": String(this.#open),
        "aria-controls": this.listId,
        on: { click: toggle },
      },
      icon("pin"),
      h("strong", {}, `${pins.length} pinned`),
      h("span", { class: "pinned-words" }, newest),
      icon("chevron"),
    );
    const list = h(
      "ul",
      { id: this.listId, hidden: !this.#open },
      this.#open && pins.map((ts) => this.#row(ts)),
    );
    fill(this.node, head, list);
  }

  #words(ts) {
    const message = this.ctx.store.find(this.channel, ts);
    return message ? excerpt(message, this.ctx) : "";
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
    return h(
      "li",
      {},
      h(
        "button",
        { class: "pinned-row", type: "button", on: { click: () => this.reveal(ts) } },
        content,
      ),
    );
  }
}
