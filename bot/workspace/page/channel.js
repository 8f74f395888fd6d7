// The channel pane: head, pinned strip, messages, composer.

import { joinChannel, openChannelMenu, showMembers } from "./channel_dialogs.js";
import { Composer } from "./composer.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { drawMrkdwn } from "./mrkdwn.js";
import { drawEmpty, MessageList } from "./message_list.js";
import { PinnedStrip } from "./pinned.js";

/** One channel on screen. */
export class ChannelPane {
  /**
   * @param {object} ctx drawing context
   * @param {string} id
   */
  constructor(ctx, id) {
    this.ctx = ctx;
    this.id = id;
    this.list = new MessageList(ctx, { inThread: false, label: `Messages in ${this.#channel().name}` });
    this.pinned = new PinnedStrip(ctx, id, (ts) => this.list.reveal(ts));
    this.head = h("header", { class: "pane-head" });
    this.foot = h("div", { class: "pane-foot" });
    this.empty = h("div", { class: "empty-slot", hidden: true }, drawEmpty("Nothing here yet", "Write a message, or type / for what the apps can do."));
    this.node = h("div", { class: "pane" }, this.head, this.pinned.node, this.empty, this.list.node, this.foot);
    this.stops = [
      ctx.store.on("row", (change) => change.key === id && this.#rowChanged(change)),
      ctx.store.on("list", (key) => key === id && this.#loaded()),
      ctx.store.on("pins", (channel) => channel === id && this.#pinsChanged()),
      ctx.store.on("channels", () => this.#drawFrame()),
    ];
    this.#drawFrame();
  }

  #channel() {
    return this.ctx.store.channels.get(this.id) ?? { id: this.id, name: "unknown", members: [] };
  }

  /** Fetches the messages; also after a lost connection. */
  async refresh() {
    const answer = await this.ctx.api.channel(this.id);
    this.ctx.store.loadList(this.id, answer.messages);
    this.ctx.store.setPins(this.id, answer.pins ?? []);
  }

  #loaded() {
    this.list.load([...this.ctx.store.lists.get(this.id).values()]);
    this.#drawEmptiness();
  }

  #rowChanged({ message, change }) {
    if (change === "removed") this.list.remove(message.ts);
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
    const state = channel.is_archived ? "archived" : channel.is_member === false ? "outside" : "writing";
    if (state === this.state) return;
    this.state = state;
    this.#drawFoot(channel);
  }

  #drawHead(channel) {
    const symbol = channel.is_archived ? "archive" : channel.is_private ? "lock" : "hash";
    const members = channel.members?.length ?? 0;
    return [
      h("a", { class: "icon-button only-phone", href: "#/", "aria-label": "Back to channels" }, icon("back")),
      h("div", { class: "pane-title" }, h("h1", {}, icon(symbol), h("span", {}, channel.name), channel.is_archived && h("span", { class: "app-tag" }, "ARCHIVED")), channel.topic && h("p", { class: "topic" }, drawMrkdwn(channel.topic, this.ctx))),
      h("button", { class: "button small members-button", type: "button", "aria-label": `${members} members`, title: "Members", on: { click: () => showMembers(this.ctx, this.id) } }, icon("people"), String(members)),
      h("button", { class: "icon-button", type: "button", "aria-haspopup": "menu", "aria-label": "Channel menu", on: { click: (event) => openChannelMenu(event.currentTarget, this.#channel(), this.ctx) } }, icon("more")),
    ];
  }

  #drawFoot(channel) {
    if (this.state === "archived") fill(this.foot, h("p", { class: "foot-note" }, icon("archive"), "This channel is archived. It can be read, not written in."));
    else if (this.state === "outside") fill(this.foot, h("p", { class: "foot-note" }, `You are looking at #${channel.name}.`, h("button", { class: "button primary", type: "button", on: { click: () => joinChannel(this.ctx, channel) } }, "Join channel")));
    else {
      this.composer = new Composer(this.ctx, { key: this.id, label: `Message #${channel.name}`, channel: this.id });
      fill(this.foot, this.composer.node);
    }
  }

  /** Stops listening; the pane is taken off the screen. */
  close() {
    for (const stop of this.stops) stop();
  }
}
