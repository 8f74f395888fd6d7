// The box to write in: grows with the text, sends on Enter, keeps drafts, turns names into mentions.

import { iconButton } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { nameOf } from "./mentions.js";
import { Refusal } from "./api.js";
import { chip, upload } from "./uploads.js";

const drafts = new Map();
const TALLEST = 220;

/**
 * What a person typed, with the names of people and channels as Slack's tokens; the server escapes the rest.
 * @param {string} text
 * @param {import("./store.js").Store} store
 */
export function withTokens(text, store) {
  return tokens(store).reduce((typed, [name, token]) => replaceName(typed, name, token), text);
}

function tokens(store) {
  const people = [...store.users.values()].flatMap((user) =>
    [nameOf(user), user.name].filter(Boolean).map((name) => [`@${name}`, `<@${user.id}>`]),
  );
  const channels = [...store.channels.values()]
    .filter((channel) => !channel.is_im)
    .map((channel) => [`#${channel.name}`, `<#${channel.id}>`]);
  return [...people, ...channels].sort((a, b) => b[0].length - a[0].length);
}

function replaceName(text, name, token) {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(
    new RegExp(`(^|[\\s(])${literal}(?![\\p{L}\\p{N}_-])`, "giu"),
    (_, before) => before + token,
  );
}

/** One composer, of a channel or a thread. */
export class Composer {
  /**
   * @param {object} ctx drawing context
   * @param {{key: string, label: string, channel: string, threadTs?: string}} place key names its draft
   */
  constructor(ctx, place) {
    this.ctx = ctx;
    this.place = place;
    this.area = h("textarea", {
      class: "composer-text",
      rows: 1,
      "aria-label": place.label,
      placeholder: place.label,
      value: drafts.get(place.key) ?? "",
    });
    this.error = h("p", { class: "composer-error", role: "alert", hidden: true });
    this.files = [];
    this.chosen = h("ul", { class: "chosen-files" });
    this.area.addEventListener("input", () => this.#typed());
    this.area.addEventListener("keydown", (event) => this.#key(event));
    this.node = h(
      "form",
      { class: "composer", on: { submit: (event) => this.#submit(event) } },
      this.error,
      this.chosen,
      this.#drawBox(),
    );
    requestAnimationFrame(() => this.#grow());
  }

  #drawBox() {
    const send = h(
      "button",
      { class: "send", type: "submit", "aria-label": "Send", title: "Send" },
      icon("send"),
    );
    return h("div", { class: "composer-box" }, this.#attach(), this.area, send);
  }

  #attach() {
    const field = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": "Files to attach",
    });
    field.addEventListener("change", async () => {
      this.files.push(...(await upload([...field.files], this.ctx.api)));
      field.value = "";
      this.#drawFiles();
    });
    return [field, iconButton("file", "Attach files", () => field.click())];
  }

  #drawFiles() {
    const drop = (file) => {
      this.files = this.files.filter((one) => one !== file);
      this.#drawFiles();
    };
    fill(
      this.chosen,
      this.files.map((file) => chip(file, drop)),
    );
  }

  #typed() {
    drafts.set(this.place.key, this.area.value);
    this.#grow();
  }

  #grow() {
    this.area.style.height = "auto";
    this.area.style.height = `${Math.min(this.area.scrollHeight, TALLEST)}px`;
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.node.requestSubmit();
  }

  async #submit(event) {
    event.preventDefault();
    const typed = this.area.value;
    if (!typed.trim() && !this.files.length) return;
    this.#set("");
    const error = await this.#send(typed.trim());
    if (!error) {
      this.files = [];
      this.#drawFiles();
    }
    this.error.hidden = !error;
    fill(this.error, error && [icon("alert"), error]);
    if (error && !this.area.value) this.#set(typed);
  }

  async #send(typed) {
    const { channel, threadTs } = this.place;
    try {
      await this.ctx.api.post("say", {
        channel,
        text: withTokens(typed, this.ctx.store),
        ...(threadTs ? { thread_ts: threadTs } : {}),
        ...(this.files.length ? { files: this.files.map((file) => file.id) } : {}),
      });
      return null;
    } catch (refusal) {
      if (refusal instanceof Refusal) return refusal.message;
      throw refusal;
    }
  }

  #set(text) {
    this.area.value = text;
    this.#typed();
  }

  focus() {
    this.area.focus();
  }
}
