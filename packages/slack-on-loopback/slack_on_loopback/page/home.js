// The app's Home tab.

import { drawBlocks } from "./blocks.js";
import { iconLink } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { drawEmpty } from "./message_list.js";

/** The Home on screen. */
export class HomePane {
  /** @param {object} ctx drawing context */
  constructor(ctx) {
    this.ctx = ctx;
    this.body = h("div", { class: "home-body", tabindex: "-1" });
    this.head = h("header", { class: "pane-head" });
    const box = h("div", { class: "scroll-box home-scroll" }, this.body);
    this.node = h("div", { class: "pane" }, this.head, box);
    this.stops = [
      ctx.store.on("home", () => this.#draw()),
      ctx.store.on("app", () => this.#drawHead()),
    ];
    this.#drawHead();
    this.#draw();
  }

  #drawHead() {
    const { app } = this.ctx.store;
    const title = h("h1", {}, icon("home"), h("span", {}, app.name));
    const topic = h("p", { class: "topic" }, app.connected ? "Home" : "Home · not connected");
    const back = iconLink("back", "Back to channels", "#/", "only-phone");
    fill(this.head, back, h("div", { class: "pane-title" }, title, topic));
  }

  /** Tells the app that its Home was opened, and shows what it published last. */
  async refresh() {
    const answer = await this.ctx.api.post("home", {});
    if (answer.view) this.ctx.store.setHome(answer.view);
  }

  #draw() {
    const view = this.ctx.store.home;
    const words = "The app shows its Home here when it has one.";
    const scope = view && { ctx: this.ctx, surface: { view_id: view.id }, key: view.id };
    const focus = document.activeElement?.dataset?.focus;
    fill(this.body, view ? drawBlocks(view.blocks, scope) : drawEmpty("Nothing here yet", words));
    if (focus) this.body.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
  }

  /** Stops listening. */
  close() {
    for (const stop of this.stops) stop();
  }
}
