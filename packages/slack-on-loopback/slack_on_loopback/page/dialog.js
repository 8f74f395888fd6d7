// Dialogs on the native <dialog>: focus stays inside, Esc closes, focus returns afterwards.

import { button, iconButton } from "./controls.js";
import { fill, freshId, h } from "./dom.js";

/**
 * Opens a modal dialog.
 * @param {{title: any, body: any, footer?: any, className?: string, close: Function}} parts
 *   `close` is called when the person asks to close it (Esc or ×).
 * @returns {{node: HTMLDialogElement, show: Function, remove: Function}}
 */
export function openDialog(parts) {
  const node = h("dialog", { class: `dialog ${parts.className ?? ""}` });
  const before = document.activeElement;
  let ask = parts.close;
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    ask();
  });
  node.addEventListener("cancel", (event) => event.target === node && event.preventDefault());
  const show = (next) => {
    ask = next.close;
    drawFrame(node, next);
  };
  const remove = () => {
    node.close();
    node.remove();
    if (before?.isConnected) before.focus();
  };
  document.body.append(node);
  show(parts);
  node.showModal();
  return { node, show, remove };
}

function drawFrame(node, parts) {
  const titleId = freshId("dialog-title");
  node.setAttribute("aria-labelledby", titleId);
  const cross = iconButton("close", "Close", () => parts.close());
  fill(
    node,
    h("header", { class: "dialog-head" }, h("h2", { id: titleId }, parts.title), cross),
    h("div", { class: "dialog-body" }, parts.body),
    parts.footer && h("footer", { class: "dialog-foot" }, parts.footer),
  );
}

/**
 * Asks yes or no.
 * @param {{title: any, text?: any, confirm: any, deny: any, danger?: boolean}} question
 * @returns {Promise<boolean>}
 */
export function ask(question) {
  return new Promise((resolve) => {
    const done = (answer) => {
      dialog.remove();
      resolve(answer);
    };
    const yes = button(question.confirm, () => done(true), question.danger ? "danger" : "primary");
    const no = button(question.deny, () => done(false));
    const dialog = openDialog({
      title: question.title,
      body: question.text,
      footer: [no, yes],
      className: "small",
      close: () => done(false),
    });
    yes.focus();
  });
}

/**
 * Asks for a text.
 * @param {{title: string, label: string, value: string, confirm: string, max: number}} question
 * @returns {Promise<string|null>} null when it was closed
 */
export function askText(question) {
  return new Promise((resolve) => {
    const done = (answer) => {
      dialog.remove();
      resolve(answer);
    };
    const { form, input } = textForm(question, done);
    const confirm = { class: "button primary", type: "submit", form: form.id };
    const dialog = openDialog({
      title: question.title,
      body: form,
      footer: [button("Cancel", () => done(null)), h("button", confirm, question.confirm)],
      className: "small",
      close: () => done(null),
    });
    input.focus();
    input.select();
  });
}

function textForm({ label, value, max }, done) {
  const id = freshId("ask");
  const props = { id, class: "text-input", value, required: true, maxlength: max };
  const input = h("textarea", props);
  const submit = (event) => {
    event.preventDefault();
    done(input.value.trim());
  };
  const name = h("label", { class: "field-label", for: id }, label);
  return { input, form: h("form", { id: freshId("form"), on: { submit } }, name, input) };
}
