// Suggestions while typing in a composer: /commands, @people, #channels, :emoji:.

import { fill, freshId, h } from "./dom.js";
import { symbolOrLetter } from "./glyphs.js";
import { nameOf } from "./mentions.js";

const MOST = 8;
const COMMAND = /^\/([\w-]*)$/;
const WORD = /(?:^|[\s(])([@#:])([\p{L}\p{N}_.+-]*)$/u;

/** @typedef {{insert: string, label: string, hint?: string, note?: string, symbol?: string}} Suggestion */

function commands(query, ctx) {
  const all = [...ctx.store.apps.values()].flatMap((app) =>
    app.commands.map((command) => ({ ...command, app: app.name })),
  );
  return all
    .filter((command) => command.command.startsWith(`/${query}`))
    .map((command) => ({
      insert: `${command.command} `,
      label: command.command,
      hint: command.usage_hint,
      note: command.description,
    }));
}

function people(query, ctx) {
  const groups = ["here", "channel", "everyone"].map((name) => ({
    insert: `@${name} `,
    label: `@${name}`,
    note: "Notifies the channel",
  }));
  const users = [...ctx.store.users.values()].map((user) => ({
    insert: `@${nameOf(user)} `,
    label: nameOf(user),
    note: user.is_bot ? "App" : `@${user.name}`,
  }));
  return [...users, ...groups].filter((item) =>
    item.label.toLowerCase().includes(query.toLowerCase()),
  );
}

function channels(query, ctx) {
  return [...ctx.store.channels.values()]
    .filter((channel) => !channel.is_im && channel.name.includes(query.toLowerCase()))
    .map((channel) => ({
      insert: `#${channel.name} `,
      label: `#${channel.name}`,
      note: channel.topic,
    }));
}

function emojis(query, ctx) {
  if (query.length < 2) return [];
  return Object.keys(ctx.store.emoji)
    .filter((name) => name.includes(query))
    .map((name) => ({ insert: `:${name}: `, label: `:${name}:`, symbol: symbolOrLetter(ctx.store.emoji[name], name) }));
}

const BY_SIGN = { "@": people, "#": channels, ":": emojis };

function suggest(before, ctx, withCommands) {
  const command = before.match(COMMAND);
  if (command) return { start: 0, found: withCommands ? commands(command[1], ctx) : [] };
  const word = before.match(WORD);
  if (!word) return { start: 0, found: [] };
  const [, sign, query] = word;
  return {
    start: before.length - query.length - 1,
    found: BY_SIGN[sign](query, ctx).slice(0, MOST),
  };
}

/** The list of suggestions of one textarea. */
export class Completion {
  #found = [];
  #start = 0;
  #at = 0;

  /**
   * @param {HTMLTextAreaElement} area
   * @param {object} ctx drawing context
   * @param {{withCommands: boolean}} options
   */
  constructor(area, ctx, options) {
    this.area = area;
    this.ctx = ctx;
    this.options = options;
    this.id = freshId("suggestions");
    this.node = h("div", {
      class: "suggestions",
      role: "listbox",
      id: this.id,
      "aria-label": "Suggestions",
      hidden: true,
    });
    for (const [name, value] of Object.entries({
      "aria-autocomplete": "list",
      "aria-controls": this.id,
      "aria-haspopup": "listbox",
    }))
      area.setAttribute(name, value);
    area.addEventListener("input", () => this.#update());
    area.addEventListener("blur", () => this.close());
  }

  #update() {
    const before = this.area.value.slice(0, this.area.selectionStart);
    const { start, found } = suggest(before, this.ctx, this.options.withCommands);
    this.#start = start;
    this.#found = found;
    this.#at = 0;
    this.#draw();
  }

  #draw() {
    this.node.hidden = this.#found.length === 0;
    fill(
      this.node,
      this.#found.map((item, index) => this.#row(item, index)),
    );
    if (this.node.hidden) this.area.removeAttribute("aria-activedescendant");
    else this.area.setAttribute("aria-activedescendant", `${this.id}-${this.#at}`);
    this.node.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }

  #row(item, index) {
    const on = { mousedown: (event) => event.preventDefault(), click: () => this.#choose(item) };
    const props = {
      on,
      id: `${this.id}-${index}`,
      role: "option",
      class: `suggestion${index === this.#at ? " active" : ""}`,
      "aria-selected": String(index === this.#at),
    };
    return h(
      "div",
      props,
      item.symbol && h("span", { class: "emoji" }, item.symbol),
      h("strong", {}, item.label),
      item.hint && h("code", {}, item.hint),
      item.note && h("small", {}, item.note),
    );
  }

  close() {
    this.#found = [];
    this.#draw();
  }

  /** Takes a key press; true when it was for the suggestions. */
  key(event) {
    if (!this.#found.length) return false;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves)
      this.#at = (this.#at + moves[event.key] + this.#found.length) % this.#found.length;
    else if (event.key === "Escape") this.#found = [];
    else if ((event.key === "Enter" && !event.shiftKey && !this.#isTyped()) || event.key === "Tab")
      return this.#take(event);
    else return false;
    event.preventDefault();
    this.#draw();
    return true;
  }

  // A command already typed in full is sent by Enter.
  #isTyped() {
    return this.#found[this.#at].insert.trim() === this.area.value.trim();
  }

  #take(event) {
    event.preventDefault();
    this.#choose(this.#found[this.#at]);
    return true;
  }

  #choose(item) {
    const { value, selectionStart } = this.area;
    this.area.value = value.slice(0, this.#start) + item.insert + value.slice(selectionStart);
    const caret = this.#start + item.insert.length;
    this.area.setSelectionRange(caret, caret);
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
    this.area.focus();
  }
}
