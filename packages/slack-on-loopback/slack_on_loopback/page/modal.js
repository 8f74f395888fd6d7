// Modal views: a stack of forms in one dialog, with errors at the fields.

import { drawBlocks } from "./blocks.js";
import { openDialog } from "./dialog.js";
import { freshId, h } from "./dom.js";
import { Form } from "./form.js";
import { attempt, toast } from "./notices.js";
import { drawText } from "./text.js";

/** The open views of one person; the last of the stack is on screen. */
export class Modals {
  #stack = [];
  #dialog = null;

  /** @param {object} ctx drawing context */
  constructor(ctx) {
    this.ctx = ctx;
  }

  /** Handles view events; true if the event was one. */
  apply(event) {
    const handlers = {
      view_opened: () => this.#open(event.view),
      view_pushed: () => this.#push(event.view),
      view_updated: () => this.#update(event.view),
      view_closed: () => this.#drop(event.view_id),
    };
    handlers[event.type]?.();
    return event.type in handlers;
  }

  /** Shows the views that were open when the page was loaded. */
  restore(views) {
    for (const view of views ?? []) this.#push(view);
  }

  #find(id) {
    return this.#stack.find((entry) => entry.view.id === id);
  }

  #open(view) {
    this.#stack = [];
    this.#push(view);
  }

  #push(view) {
    if (this.#find(view.id)) {
      this.#update(view);
      return;
    }
    this.#stack.push(this.#entry(view, view.state?.values));
    this.#show();
  }

  #update(view) {
    const entry = this.#find(view.id);
    if (!entry) return;
    // What was typed stays where block_id and action_id stay the same, as in Slack.
    Object.assign(entry, this.#entry(view, { ...view.state?.values, ...entry.form.values() }));
    if (entry === this.#stack.at(-1)) this.#show();
  }

  #drop(id) {
    this.#stack = this.#stack.filter((entry) => entry.view.id !== id);
    this.#show();
  }

  #entry(view, state) {
    const form = new Form();
    const scope = { ctx: this.ctx, surface: { view_id: view.id }, form, state, key: view.id };
    const id = freshId("view");
    const body = h("form", { id, class: "view", novalidate: true }, drawBlocks(view.blocks, scope));
    const entry = { view, form, body };
    body.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(entry);
    });
    return entry;
  }

  #show() {
    const entry = this.#stack.at(-1);
    if (!entry) {
      this.#dialog?.remove();
      this.#dialog = null;
      return;
    }
    const focus = this.#dialog?.node.contains(document.activeElement) && document.activeElement.id;
    const parts = this.#parts(entry);
    if (this.#dialog) this.#dialog.show(parts);
    else this.#dialog = openDialog(parts);
    focusFirst(entry.body, focus);
  }

  #parts(entry) {
    const { view } = entry;
    const close = () => this.#close(entry);
    const cancel = h(
      "button",
      { class: "button", type: "button", on: { click: close } },
      drawText(view.close, this.ctx) ?? "Cancel",
    );
    const submit =
      view.submit &&
      h(
        "button",
        { class: "button primary", type: "submit", form: entry.body.id },
        drawText(view.submit, this.ctx),
      );
    const back = this.#stack.length > 1 ? close : null;
    return {
      title: drawText(view.title, this.ctx),
      body: entry.body,
      footer: [cancel, submit],
      close,
      closeAll: () => this.#closeAll(),
      back,
    };
  }

  async #submit(entry) {
    if (!entry.form.check()) return;
    const button = this.#dialog.node.querySelector("[type=submit]");
    button?.setAttribute("aria-busy", "true");
    const answer = await attempt(() =>
      this.ctx.api.post("view/submit", { view_id: entry.view.id, values: entry.form.values() }),
    );
    button?.removeAttribute("aria-busy");
    if (answer) this.#answered(entry, answer.response ?? {});
  }

  #answered(entry, response) {
    const act = {
      errors: () => this.#showErrors(entry, response.errors ?? {}),
      update: () =>
        response.view && this.#update({ ...response.view, id: response.view.id ?? entry.view.id }),
      push: () => response.view?.id && this.#push(response.view),
      clear: () => this.#clear(),
    }[response.response_action];
    if (act) act();
    else this.#drop(entry.view.id);
  }

  #showErrors(entry, errors) {
    for (const text of entry.form.showErrors(errors)) toast(text, { error: true });
  }

  #clear() {
    this.#stack = [];
    this.#show();
  }

  #close(entry) {
    this.#drop(entry.view.id);
    return attempt(() => this.ctx.api.post("view/close", { view_id: entry.view.id }));
  }

  async #closeAll() {
    for (const entry of [...this.#stack].reverse()) await this.#close(entry);
  }
}

function focusFirst(body, keptId) {
  const kept = keptId && document.getElementById(keptId);
  const first =
    body.querySelector("[autofocus]") ??
    body.querySelector("input:not([type=hidden]), textarea, select, button");
  (kept || first)?.focus();
}
