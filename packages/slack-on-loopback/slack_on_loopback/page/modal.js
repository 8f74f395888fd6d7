// The modal view: a form in a dialog, with errors at the fields.

import { drawBlocks } from "./blocks.js";
import { openDialog } from "./dialog.js";
import { freshId, h } from "./dom.js";
import { Form } from "./form.js";
import { attempt, toast } from "./notices.js";
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
    const handlers = {
      view_opened: () => this.show(event.view),
      view_updated: () => this.#update(event.view),
      view_closed: () => this.#drop(event.view_id),
    };
    handlers[event.type]?.();
    return event.type in handlers;
  }

  /** Shows a view, if there is one. */
  show(view) {
    if (view) this.#draw(view, view.state?.values);
  }

  #update(view) {
    if (this.#open?.view.id !== view.id) return;
    // What was typed stays where block_id and action_id stay the same, as in Slack.
    this.#draw(view, { ...view.state?.values, ...this.#open.form.values() });
  }

  #drop(id) {
    if (this.#open?.view.id !== id) return;
    this.#dialog.remove();
    this.#open = this.#dialog = null;
  }

  #draw(view, state) {
    const form = new Form();
    const scope = { ctx: this.ctx, surface: { view_id: view.id }, form, state, key: view.id };
    const submit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    const props = { id: freshId("view"), class: "view", novalidate: true, on: { submit } };
    const body = h("form", props, drawBlocks(view.blocks, scope));
    const focus = this.#dialog?.node.contains(document.activeElement) && document.activeElement.id;
    this.#open = { view, form };
    const parts = this.#parts(view, body);
    if (this.#dialog) this.#dialog.show(parts);
    else this.#dialog = openDialog(parts);
    focusFirst(body, focus);
  }

  #parts(view, body) {
    const close = () => this.#close();
    const cancel = h(
      "button",
      { class: "button", type: "button", on: { click: close } },
      drawText(view.close, this.ctx) ?? "Cancel",
    );
    const submit =
      view.submit &&
      h(
        "button",
        { class: "button primary", type: "submit", form: body.id },
        drawText(view.submit, this.ctx),
      );
    return { title: drawText(view.title, this.ctx), body, footer: [cancel, submit], close };
  }

  async #submit() {
    const { view, form } = this.#open;
    if (!form.check()) return;
    const button = this.#dialog.node.querySelector("[type=submit]");
    button?.setAttribute("aria-busy", "true");
    const answer = await attempt(() =>
      this.ctx.api.post("view/submit", { view_id: view.id, values: form.values() }),
    );
    button?.removeAttribute("aria-busy");
    const { response_action: action, errors } = answer?.response ?? {};
    if (action === "errors") for (const text of form.showErrors(errors)) toast(text, { error: true });
    else if (answer && !action) this.#drop(view.id);
  }

  #close() {
    const { id } = this.#open.view;
    this.#drop(id);
    return attempt(() => this.ctx.api.post("view/close", { view_id: id }));
  }
}

function focusFirst(body, keptId) {
  const kept = keptId && document.getElementById(keptId);
  const first =
    body.querySelector("[autofocus]") ??
    body.querySelector("input:not([type=hidden]), textarea, select, button");
  (kept || first)?.focus();
}
