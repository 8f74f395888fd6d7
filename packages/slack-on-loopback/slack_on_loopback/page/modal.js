// The modal view: a form in a dialog, with errors at the fields.

import { drawBlocks } from "./blocks.js";
import { button } from "./controls.js";
import { openDialog } from "./dialog.js";
import { freshId, h } from "./dom.js";
import { Form } from "./form.js";
import { attempt } from "./notices.js";
import { drawText } from "./text.js";

/** The form that one person has open. */
export class Modal {
  #open = null;
  #dialog = null;

  /** @param {object} ctx drawing context */
  constructor(ctx) {
    this.ctx = ctx;
  }

  /** Handles view events; true if the event was one. */
  apply(event) {
    if (event.type === "view_opened") this.show(event.view);
    else if (event.type === "view_updated") this.#update(event.view);
    else if (event.type === "view_closed") this.#drop(event.view_id);
    return event.type.startsWith("view_");
  }

  /** Shows a view, if there is one. */
  show(view) {
    if (view) this.#draw(view, view.state.values);
  }

  #update(view) {
    if (this.#open?.view.id !== view.id) return;
    // What was typed stays where block_id and action_id stay the same, as in Slack.
    this.#draw(view, { ...view.state.values, ...this.#open.form.values() });
  }

  #drop(id) {
    if (this.#open?.view.id !== id) return;
    this.#dialog.remove();
    this.#open = this.#dialog = null;
  }

  #draw(view, state) {
    const form = new Form();
    const scope = { ctx: this.ctx, surface: { view_id: view.id }, form, state, key: view.id };
    const submit = (event) => this.#submit(event);
    const props = { id: freshId("view"), class: "view", novalidate: true, on: { submit } };
    const body = h("form", props, drawBlocks(view.blocks, scope));
    const focus = this.#dialog?.node.contains(document.activeElement) && document.activeElement.id;
    this.#open = { view, form };
    const parts = this.#parts(view, body);
    if (this.#dialog) this.#dialog.show(parts);
    else this.#dialog = openDialog(parts);
    const first = body.querySelector("input, textarea, select, button");
    ((focus && document.getElementById(focus)) || first)?.focus();
  }

  #parts(view, body) {
    const close = () => this.#close();
    const cancel = button(drawText(view.close, this.ctx) ?? "Cancel", close);
    const props = { class: "button primary", type: "submit", form: body.id };
    const submit = view.submit && h("button", props, drawText(view.submit, this.ctx));
    return { title: drawText(view.title, this.ctx), body, footer: [cancel, submit], close };
  }

  async #submit(event) {
    event.preventDefault();
    const { view, form } = this.#open;
    if (!form.check()) return;
    const pressed = this.#dialog.node.querySelector("[type=submit]");
    pressed?.setAttribute("aria-busy", "true");
    const answer = await attempt(() =>
      this.ctx.api.post("view/submit", { view_id: view.id, values: form.values() }),
    );
    pressed?.removeAttribute("aria-busy");
    const { response_action: action, errors } = answer?.response ?? {};
    if (action === "errors") form.showErrors(errors);
    else if (answer && !action) this.#drop(view.id);
  }

  #close() {
    const { id } = this.#open.view;
    this.#drop(id);
    return attempt(() => this.ctx.api.post("view/close", { view_id: id }));
  }
}
