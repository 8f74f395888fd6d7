// An app's Home tab.

import { drawBlocks } from "./blocks.js";
import { iconLink } from "./controls.js";
import { fill, h } from "./dom.js";
import { Form } from "./form.js";
import { icon } from "./icons.js";
import { drawEmpty } from "./message_list.js";

/** The Home of one app on screen. */
export class HomePane {
  /**
   * @param {object} ctx drawing context
   * @param {string} app id
   */
  constructor(ctx, app) {
    this.ctx = ctx;
    this.app = app;
    this.body = h("div", { class: "home-body", tabindex: "-1" });
    this.head = h("header", { class: "pane-head" });
    this.node = h(
      "div",
      { class: "pane" },
      this.head,
      h("div", { class: "scroll-box home-scroll" }, this.body),
    );
    this.stops = [
      ctx.store.on("home", (id) => id === app && this.#draw()),
      ctx.store.on("apps", () => this.#drawHead()),
    ];
    this.#drawHead();
    this.#draw();
  }

  #drawHead() {
    const app = this.ctx.store.apps.get(this.app);
    fill(
      this.head,
      iconLink("back", "Back to channels", "#/", "only-phone"),
      h(
        "div",
        { class: "pane-title" },
        h("h1", {}, icon("home"), h("span", {}, app?.name ?? "App")),
        h("p", { class: "topic" }, app?.connected ? "Home" : "Home · not connected"),
      ),
    );
  }

  /** Tells the app that its Home was opened, and shows what it published last. */
  async refresh() {
    const answer = await this.ctx.api.post("home", { app: this.app });
    if (answer.view) this.ctx.store.setHome(this.app, answer.view);
  }

  #draw() {
    const view = this.ctx.store.homes.get(this.app);
    if (!view) {
      fill(
        this.body,
        drawEmpty("Nothing here yet", "The app shows its Home here when it has one."),
      );
      return;
    }
    const scope = {
      ctx: this.ctx,
      surface: { view_id: view.id },
      form: new Form(),
      state: view.state?.values,
      key: view.id,
    };
    const focus = document.activeElement?.dataset?.focus;
    fill(this.body, drawBlocks(view.blocks, scope));
    if (focus) this.body.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
  }

  /** Stops listening. */
  close() {
    for (const stop of this.stops) stop();
  }
}
