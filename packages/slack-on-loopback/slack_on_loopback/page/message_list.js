// A list of messages that changes row by row: order, day lines, grouping, keyboard, scrolling.

import { authorOf } from "./authors.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { drawMessage, isQuiet } from "./message.js";
import { Scroller } from "./scroller.js";
import { compareTs } from "./store.js";
import { dateOf, dayKey, dayLabel } from "./time.js";
import { createToolbar, openThread } from "./toolbar.js";

const GROUP_SECONDS = 300;

/** The messages of one channel or thread. */
export class MessageList {
  #rows = new Map();
  #order = [];
  #current = null;

  constructor(ctx, place) {
    this.ctx = ctx;
    this.place = place;
    this.list = h("ol", { class: "messages", "aria-label": place.label });
    this.scroller = new Scroller(this.list);
    this.node = this.scroller.node;
    this.toolbar = createToolbar(ctx, () => this.#rows.get(this.#current)?.message, place);
    this.list.addEventListener("pointerover", (event) => this.#point(event));
    this.list.addEventListener("focusin", (event) => this.#point(event));
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows exactly these messages, oldest first; rows that did not change stay. */
  load(messages) {
    const wanted = new Set(messages.map((message) => message.ts));
    for (const ts of [...this.#order]) if (!wanted.has(ts)) this.remove(ts);
    if (this.#order.length) for (const message of messages) this.#place(message);
    else this.#fillEmpty(messages);
    this.scroller.loaded();
  }

  #fillEmpty(messages) {
    for (const message of messages) this.#rows.set(message.ts, this.#create(message));
    this.#order = messages.map((message) => message.ts);
    this.list.append(...this.#order.map((ts) => this.#rows.get(ts).node));
    this.#order.forEach((_, index) => this.#decorate(index));
    const last = this.#rows.get(this.#order.at(-1));
    if (last) last.node.tabIndex = 0;
  }

  /** Adds or redraws one message. */
  upsert(message) {
    const isNew = this.#place(message);
    this.#redrawBroadcasts(message.ts);
    if (isNew) this.scroller.added(message.user === this.ctx.store.me && !message.bot_id);
  }

  // A reply that was also sent to the channel quotes the root of its thread.
  #redrawBroadcasts(root) {
    for (const row of this.#rows.values()) {
      if (row.message.subtype !== "thread_broadcast" || row.message.thread_ts !== root) continue;
      row.drawn = "";
      this.#redraw(row, row.message);
    }
  }

  #place(message) {
    const row = this.#rows.get(message.ts);
    if (row) {
      this.#redraw(row, message);
      return false;
    }
    const index = this.#indexFor(message.ts);
    const created = this.#create(message);
    this.#rows.set(message.ts, created);
    this.list.insertBefore(created.node, this.#rows.get(this.#order[index])?.node ?? null);
    this.#order.splice(index, 0, message.ts);
    this.#decorate(index);
    this.#decorate(index + 1);
    if (this.#order.length === 1) created.node.tabIndex = 0;
    return true;
  }

  #indexFor(ts) {
    let index = this.#order.length;
    while (index > 0 && compareTs(this.#order[index - 1], ts) > 0) index -= 1;
    return index;
  }

  /** Takes one message away. */
  remove(ts) {
    const row = this.#rows.get(ts);
    if (!row) return;
    const index = this.#order.indexOf(ts);
    row.node.remove();
    this.#rows.delete(ts);
    this.#order.splice(index, 1);
    this.#decorate(index);
  }

  /** Marks which messages are pinned. */
  setPins(pins) {
    const set = new Set(pins);
    for (const [ts, row] of this.#rows) row.node.classList.toggle("pinned", set.has(ts));
  }

  /** Brings one message into view, marks it for a moment; puts the focus on it, or on its primary button, if asked to. */
  reveal(ts, { focus = false, button = false } = {}) {
    const node = this.#rows.get(ts)?.node;
    if (!node) return;
    this.scroller.show(node);
    node.classList.add("revealed");
    setTimeout(() => node.classList.remove("revealed"), 2500);
    if (focus) node.focus({ preventScroll: true });
    if (!button) return;
    this.scroller.release();
    node.querySelector(".block-actions .button.primary")?.focus();
  }

  #create(message) {
    const content = h("div", { class: "row-content" });
    const node = h("li", { class: "row", tabindex: "-1", data: { ts: message.ts } }, content);
    const row = { node, content, message: null, drawn: "" };
    this.#redraw(row, message);
    return row;
  }

  #redraw(row, message) {
    const drawn = JSON.stringify(message);
    if (drawn === row.drawn) return;
    const focus = focusIn(row.content);
    fill(row.content, drawMessage(message, this.ctx, this.place));
    Object.assign(row, { message, drawn });
    row.node.classList.toggle("ephemeral", Boolean(message.is_ephemeral));
    const pins = this.ctx.store.pins.get(message.channel) ?? [];
    row.node.classList.toggle("pinned", pins.includes(message.ts));
    if (this.#current === message.ts) row.content.append(this.toolbar);
    focus();
  }

  // The day line and the grouping of a row depend only on the row before it.
  #decorate(index) {
    const row = this.#rows.get(this.#order[index]);
    if (!row) return;
    const before = this.#rows.get(this.#order[index - 1]);
    const date = dateOf(row.message.ts);
    const newDay = !before || dayKey(dateOf(before.message.ts)) !== dayKey(date);
    row.node.querySelector(":scope > .day")?.remove();
    const label = h("span", {}, dayLabel(date));
    if (newDay) row.node.prepend(h("div", { class: "day", role: "separator" }, label));
    row.node.classList.toggle("grouped", !newDay && this.#groups(before.message, row.message));
  }

  #groups(before, message) {
    const isNear = Number(message.ts) - Number(before.ts) < GROUP_SECONDS;
    const isPlain = !isQuiet(before) && message.subtype !== "thread_broadcast";
    const isAlike = Boolean(before.is_ephemeral) === Boolean(message.is_ephemeral);
    const isRoot = this.place.inThread && before.ts === this.#order[0];
    if (!isNear || !isPlain || !isAlike || isRoot) return false;
    return authorOf(before, this.ctx).key === authorOf(message, this.ctx).key;
  }

  #point(event) {
    const node = event.target.closest(".row");
    if (!node || (event.type === "pointerover" && this.toolbar.contains(document.activeElement)))
      return;
    if (event.type === "focusin") {
      for (const stop of this.list.querySelectorAll(':scope > [tabindex="0"]')) stop.tabIndex = -1;
      node.tabIndex = 0;
    }
    if (this.#current === node.dataset.ts && node.contains(this.toolbar)) return;
    this.#current = node.dataset.ts;
    this.#rows.get(this.#current).content.append(this.toolbar);
  }

  #key(event) {
    const node = event.target.closest(".row");
    if (event.defaultPrevented || !node) return;
    if (event.target === node) this.#keyOnRow(event, node);
    else if (event.key === "Escape") {
      event.preventDefault();
      node.focus();
    }
  }

  #keyOnRow(event, node) {
    const { message } = this.#rows.get(node.dataset.ts);
    const moves = {
      ArrowDown: node.nextElementSibling,
      ArrowUp: node.previousElementSibling,
      Home: this.list.firstElementChild,
      End: this.list.lastElementChild,
    };
    if (event.key in moves) moves[event.key]?.focus();
    else if (event.key === "Enter" && !this.place.inThread && !message.is_ephemeral)
      openThread(message);
    else return;
    event.preventDefault();
  }
}

// Remembers which control has the focus, to give it back when its message was drawn anew.
function focusIn(content) {
  const active = document.activeElement;
  if (!content.contains(active)) return () => {};
  const name = active.dataset.focus;
  return () =>
    (active.isConnected
      ? active
      : name && content.querySelector(`[data-focus="${CSS.escape(name)}"]`)
    )?.focus();
}

/** What stands where a channel has no messages yet. */
export function drawEmpty(title, text) {
  return h("div", { class: "empty" }, icon("thread"), h("h2", {}, title), h("p", {}, text));
}
