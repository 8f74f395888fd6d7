// The line at the top in which whoever runs the workspace says what to look at, and its buttons.

import { button } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { attempt } from "./notices.js";

// A thread has room beside its channel from here on.
const WIDE = matchMedia("(min-width: 921px)");

/** The line; `show` it whenever it changes. */
export class GuideBar {
  #opened = "";

  /** @param {object} ctx drawing context */
  constructor(ctx) {
    this.ctx = ctx;
    this.bar = document.getElementById("guide-bar");
  }

  /** @param {{text: string, thread: string[], buttons: object[]}|null} guide */
  show(guide) {
    this.bar.hidden = !guide;
    if (!guide) return;
    // Who pressed a button by keyboard stays on the one that takes its place.
    const pressed = [...this.bar.querySelectorAll("button")].indexOf(document.activeElement);
    const buttons = guide.buttons.map((item) => button(item.label, () => this.#press(item), "small"));
    fill(this.bar, icon("info"), h("span", { role: "status" }, guide.text), buttons);
    this.bar.querySelectorAll("button")[pressed]?.focus();
    this.#open(guide.thread, guide.message);
  }

  // Once for each thread and message, and only for who looks at their channel: nobody is taken away
  // from elsewhere.
  #open([channel, ts], message) {
    // Where there is room for one pane only, the message is shown in the channel.
    const thread = WIDE.matches ? `/${ts}` : "";
    const address = `#/${channel}${thread}${message ? `?m=${message}` : ""}`;
    if (!ts || this.#opened === address) return;
    this.#opened = address;
    const isHere = location.hash.split(/[/?]/)[1] === channel;
    if (isHere && (WIDE.matches || message) && !isTyping()) location.hash = address;
  }

  #press({ shows, types, name }) {
    if (shows) this.#show(shows);
    if (types) this.#type(types);
    if (name) attempt(() => this.ctx.api.post("guide", { name }));
  }

  // Who stands at this address and scrolled away is brought back.
  #show(address) {
    if (location.hash === address) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = address;
  }

  #type(words) {
    const area = document.querySelector("#main .composer-text");
    if (!area) return;
    area.value = words;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  }
}

function isTyping() {
  return Boolean(document.activeElement?.value);
}
