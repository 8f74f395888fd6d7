// Dialogs on the native <dialog>: focus stays inside, Esc closes, focus returns afterwards.

import { fill, freshId, h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a modal dialog.
 * @param {{title: any, body: any, footer?: any, className?: string, back?: Function|null, close: Function}} parts
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
  const back = parts.back && h("button", { class: "icon-button", type: "button", "aria-label": "Back", on: { click: parts.back } }, icon("back"));
  const cross = h("button", { class: "icon-button", type: "button", "aria-label": "Close", on: { click: () => (parts.closeAll ?? parts.close)() } }, icon("close"));
  fill(
    node,
    h("header", { class: "dialog-head" }, back, h("h2", { id: titleId }, parts.title), cross),
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
    const yes = h("button", { class: `button ${question.danger ? "danger" : "primary"}`, type: "button", on: { click: () => done(true) } }, question.confirm);
    const no = h("button", { class: "button", type: "button", on: { click: () => done(false) } }, question.deny);
    const dialog = openDialog({ title: question.title, body: question.text, footer: [no, yes], className: "small", close: () => done(false) });
    yes.focus();
  });
}

/**
 * Asks for one line of text.
 * @param {{title: string, label: string, value?: string, confirm: string, extra?: Node}} question
 * @returns {Promise<string|null>} null when it was closed
 */
export function askText(question) {
  return new Promise((resolve) => {
    const id = freshId("ask");
    const multiline = question.multiline ? "textarea" : "input";
    const input = h(multiline, { id, class: "text-input", value: question.value ?? "", required: true, maxlength: question.max ?? "80" });
    const done = (answer) => {
      dialog.remove();
      resolve(answer);
    };
    const submit = (event) => {
      event.preventDefault();
      done(input.value.trim());
    };
    const formId = freshId("form");
    const form = h("form", { id: formId, on: { submit } }, h("label", { class: "field-label", for: id }, question.label), input, question.extra);
    const yes = h("button", { class: "button primary", type: "submit", form: formId }, question.confirm);
    const no = h("button", { class: "button", type: "button", on: { click: () => done(null) } }, "Cancel");
    const dialog = openDialog({ title: question.title, body: form, footer: [no, yes], className: "small", close: () => done(null) });
    input.focus();
    input.select();
  });
}
