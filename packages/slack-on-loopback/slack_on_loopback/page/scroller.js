// Scrolling of a message list: stays at the end while the reader is there, else offers a pill; or at a
// message that was brought into view.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

const NEAR_END = 48;
const READER_SCROLLS = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Wraps a list in a scrolling box with the pill "n new messages". */
export class Scroller {
  #atEnd = true;
  #shown = null;
  #missed = 0;
  #lastTop = 0;

  /** @param {HTMLElement} content */
  constructor(content) {
    this.box = h("div", { class: "scroll-box" }, content);
    this.pill = h("button", {
      class: "new-pill",
      type: "button",
      hidden: true,
      on: { click: () => this.toEnd() },
    });
    this.node = h("div", { class: "scroll-frame" }, this.box, this.pill);
    this.box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const type of READER_SCROLLS)
      this.box.addEventListener(type, () => (this.#shown = null), { passive: true });
    const observer = new ResizeObserver(() => (this.#atEnd || this.#shown) && this.#jump());
    observer.observe(content);
    observer.observe(this.box);
  }

  /** The content was replaced: keep the end in view if the reader was there. */
  loaded() {
    if (this.#atEnd) this.#jump();
  }

  /** One message came; a reader's own message always brings the end into view. */
  added(own) {
    if (own || this.#atEnd) {
      this.toEnd();
      return;
    }
    this.#missed += 1;
    fill(
      this.pill,
      icon("chevron"),
      this.#missed === 1 ? "1 new message" : `${this.#missed} new messages`,
    );
    this.pill.hidden = false;
  }

  /** Brings the end into view. */
  toEnd() {
    this.#shown = null;
    this.#jump();
    this.#reachEnd();
  }

  /** Brings a part of the content into view and keeps it there, whatever changes above it, until the reader scrolls. */
  show(node) {
    this.#countFromHere();
    this.release();
    this.#shown = node;
    this.#jump();
  }

  /** Nothing is kept in view. */
  release() {
    this.#atEnd = false;
    this.#shown = null;
  }

  #jump() {
    if (!this.#shown) {
      this.box.scrollTop = this.box.scrollHeight;
      return;
    }
    // Of one that is higher than the window, its beginning is what counts.
    const isHigh = this.#shown.offsetHeight > this.box.clientHeight;
    this.#shown.scrollIntoView({ block: isHigh ? "start" : "center" });
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.box;
    // Only going up leaves the end: a list that grows or a box that shrinks moves the end away by itself.
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) this.#reachEnd();
    else if (scrollTop < this.#lastTop) this.#atEnd = false;
    this.#lastTop = scrollTop;
  }

  #reachEnd() {
    this.#atEnd = true;
    this.#countFromHere();
  }

  #countFromHere() {
    this.#missed = 0;
    this.pill.hidden = true;
  }
}
