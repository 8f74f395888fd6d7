// Short notices: toasts, the bars about the connection and the app, and the live region.

import { Refusal } from "./api.js";
import { button, iconButton } from "./controls.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

const TOAST_MS = 8000;
const MOST_TOASTS = 4;

/** Says something in the corner; errors stay until closed. */
export function toast(text, { error = false } = {}) {
  const box = document.getElementById("toasts");
  const close = iconButton("close", "Dismiss", () => item.remove());
  const props = { class: `toast${error ? " error" : ""}`, role: error ? "alert" : "status" };
  const item = h("div", props, icon(error ? "alert" : "info"), h("span", {}, text), close);
  box.append(item);
  while (box.children.length > MOST_TOASTS) box.firstElementChild.remove();
  if (!error) setTimeout(() => item.remove(), TOAST_MS);
}

/** Runs an action of the person; a refusal becomes a notice. Returns the answer or null. */
export async function attempt(action) {
  try {
    return await action();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    toast(refusal.message, { error: true });
    return null;
  }
}

/** Speaks to screen readers without moving focus. */
export function announce(text) {
  const region = document.getElementById("live-region");
  fill(region, h("p", {}, text.slice(0, 300)));
}

/** Shows or hides the bar "connection lost". */
export function showConnection(lost, retry) {
  const bar = document.getElementById("connection-bar");
  bar.hidden = !lost;
  const words = "Connection lost. New messages do not arrive; trying again…";
  if (lost) fill(bar, icon("alert"), h("span", {}, words), button("Try now", retry, "small"));
}

/** Shows or hides the bar about an app that is not connected. */
export function showApp({ name, connected }) {
  const bar = document.getElementById("app-bar");
  bar.hidden = connected;
  const words = " is not connected: commands and buttons get no answer.";
  if (!connected) fill(bar, icon("bolt"), h("span", {}, h("strong", {}, name), words));
}
