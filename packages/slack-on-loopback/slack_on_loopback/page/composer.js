// The box to write in: grows with the text, sends on Enter, keeps drafts, turns names into mentions.

import { Refusal } from "./api.js";
import { iconButton } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { nameOf } from "./mentions.js";
import { attempt } from "./notices.js";

const drafts = new Map();
const TALLEST = 220;

/** What a person typed, with names of people and channels as Slack's tokens; the server escapes the rest. */
function withTokens(text, store) {
  return tokens(store).reduce((typed, [name, token]) => replaceName(typed, name, token), text);
}

function tokens(store) {
  const people = [...store.users.values()].flatMap((user) =>
    [nameOf(user), user.name].map((name) => [`@${name}`, `<@${user.id}>`]),
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
  #files = [];

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
      on: { input: () => this.#typed(), keydown: (event) => this.#key(event) },
    });
    this.error = h("p", { class: "composer-error", role: "alert", hidden: true });
    this.chosen = h("ul", { class: "chosen-files" });
    const named = { type: "submit", "aria-label": "Send", title: "Send" };
    const send = h("button", { class: "send", ...named }, icon("send"));
    const box = h("div", { class: "composer-box" }, this.#attach(), this.area, send);
    const props = { class: "composer", on: { submit: (event) => this.#submit(event) } };
    this.node = h("form", props, this.error, this.chosen, box);
    requestAnimationFrame(() => this.#grow());
  }

  #attach() {
    const change = async () => {
      const chosen = [...field.files];
      field.value = "";
      // Those that could not be sent are left out.
      const sent = await Promise.all(chosen.map((file) => attempt(() => this.#upload(file))));
      this.#setFiles([...this.#files, ...sent.filter(Boolean)]);
    };
    const props = { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach" };
    const field = h("input", { ...props, on: { change } });
    return [field, iconButton("file", "Attach files", () => field.click())];
  }

  async #upload(file) {
    const content = await base64(file);
    const answer = await this.ctx.api.post("files", { name: file.name, mimetype: file.type, content });
    return answer.file;
  }

  #setFiles(files) {
    this.#files = files;
    const chips = files.map((file) => {
      const click = () => this.#setFiles(this.#files.filter((other) => other !== file));
      const props = { type: "button", "aria-label": `Remove ${file.name}`, on: { click } };
      return h("li", { class: "chip" }, icon("file"), file.name, h("button", props, icon("close")));
    });
    fill(this.chosen, chips);
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
    if (event.isComposing || event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.node.requestSubmit();
  }

  async #submit(event) {
    event.preventDefault();
    const typed = this.area.value;
    if (!typed.trim() && !this.#files.length) return;
    this.#set("");
    const error = await this.#send(typed.trim());
    if (!error) this.#setFiles([]);
    this.error.hidden = !error;
    fill(this.error, error && [icon("alert"), error]);
    if (error && !this.area.value) this.#set(typed);
  }

  async #send(typed) {
    const { channel, threadTs } = this.place;
    const text = withTokens(typed, this.ctx.store);
    const files = this.#files.map((file) => file.id);
    try {
      await this.ctx.api.post("say", { channel, text, thread_ts: threadTs, files });
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

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
