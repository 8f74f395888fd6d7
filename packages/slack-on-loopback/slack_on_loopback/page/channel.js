// The channel pane: head, pinned strip, messages, composer.

import { addressOf, symbolOf, titleOf } from "./channel_names.js";
import { Composer } from "./composer.js";
import { button, iconLink } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { drawMrkdwn } from "./mrkdwn.js";
import { drawEmpty, MessageList } from "./message_list.js";
import { attempt } from "./notices.js";
import { PinnedStrip } from "./pinned.js";

/** One channel on screen. */
export class ChannelPane {
  constructor(ctx, id) {
    this.ctx = ctx;
    this.id = id;
    const label = `Messages in ${titleOf(this.#channel(), ctx)}`;
    this.list = new MessageList(ctx, { inThread: false, label });
    this.pinned = new PinnedStrip(ctx, id, (ts) => this.list.reveal(ts, { focus: true }));
    this.head = h("header", { class: "pane-head" });
    this.foot = h("div", { class: "pane-foot" });
    const words = `Write a message, or a command (${ctx.store.app.commands.join(", ")}).`;
    const empty = drawEmpty("Nothing here yet", words);
    this.empty = h("div", { class: "empty-slot", hidden: true }, empty);
    const parts = [this.head, this.pinned.node, this.empty, this.list.node, this.foot];
    this.node = h("div", { class: "pane" }, parts);
    this.stops = [
      ctx.store.on("row", (change) => change.key === id && this.#rowChanged(change)),
      ctx.store.on("list", (key) => key === id && this.#loaded()),
      ctx.store.on("pins", (channel) => channel === id && this.#pinsChanged()),
      ctx.store.on("channels", () => this.#drawFrame()),
    ];
    this.#drawFrame();
  }

  #channel() {
    return this.ctx.store.channels.get(this.id);
  }

  /** Fetches the messages; also after a lost connection. */
  async refresh() {
    await this.ctx.store.load(this.id, () => this.ctx.api.channel(this.id));
  }

  #loaded() {
    this.list.load([...this.ctx.store.lists.get(this.id).values()]);
    this.#drawEmptiness();
  }

  #rowChanged({ message, isRemoved }) {
    if (isRemoved) this.list.remove(message.ts);
    else this.list.upsert(message);
    this.#drawEmptiness();
    if ((this.ctx.store.pins.get(this.id) ?? []).includes(message.ts)) this.pinned.draw();
  }

  #drawEmptiness() {
    this.empty.hidden = this.ctx.store.lists.get(this.id)?.size !== 0;
    this.list.node.hidden = !this.empty.hidden;
  }

  #pinsChanged() {
    this.list.setPins(this.ctx.store.pins.get(this.id));
    this.pinned.draw();
  }

  #drawFrame() {
    const channel = this.#channel();
    fill(this.head, this.#drawHead(channel));
    const state = channel.is_archived ? "archived" : channel.is_member ? "writing" : "outside";
    if (state === this.state) return; // what somebody is typing stays
    this.state = state;
    this.#drawFoot(channel);
  }

  #drawHead(channel) {
    const title = h(
      "h1",
      {},
      icon(symbolOf(channel)),
      h("span", {}, titleOf(channel, this.ctx)),
      channel.is_archived && h("span", { class: "app-tag" }, "ARCHIVED"),
    );
    const topic = channel.topic && h("p", { class: "topic" }, drawMrkdwn(channel.topic, this.ctx));
    return [
      iconLink("back", "Back to channels", "#/", "only-phone"),
      h("div", { class: "pane-title" }, title, topic),
      !channel.is_im && h("small", {}, `${channel.members.length} members`),
    ];
  }

  #drawFoot(channel) {
    const note = (...content) => fill(this.foot, h("p", { class: "foot-note" }, content));
    if (this.state === "archived")
      note(icon("archive"), "This channel is archived. It can be read, not written in.");
    else if (this.state === "outside") {
      const join = button("Join channel", () => this.#join(), "primary");
      note(`You are looking at #${channel.name}.`, join);
    } else {
      const label = `Message ${addressOf(channel, this.ctx)}`;
      this.composer = new Composer(this.ctx, { key: this.id, label, channel: this.id });
      fill(this.foot, this.composer.node);
    }
  }

  #join() {
    return attempt(() => this.ctx.api.post("join", { channel: this.id }));
  }

  /** Stops listening; the pane is taken off the screen. */
  close() {
    for (const stop of this.stops) stop();
  }
}
