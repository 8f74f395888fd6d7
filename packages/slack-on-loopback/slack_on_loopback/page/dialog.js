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
  node.addEventListener("cancel", (event) => {
    if (event.target !== node) return;
    event.preventDefault();
    ask();
  });
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

/** Asks yes or no: `{title, text, confirm, deny}`. */
export function ask(question) {
  return new Promise((resolve) => {
    const done = (answer) => {
      dialog.remove();
      resolve(answer);
    };
    const yes = button(question.confirm, () => done(true), "primary");
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
