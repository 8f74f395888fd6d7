// Short notices: toasts, the bars about the connection and the apps, and the live region.

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
  const item = h(
    "div",
    { class: `toast${error ? " error" : ""}`, role: error ? "alert" : "status" },
    icon(error ? "alert" : "info"),
    h("span", {}, text),
    close,
  );
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
  if (!lost) return;
  const again = button("Try now", retry, "small");
  fill(
    bar,
    icon("alert"),
    h("span", {}, "Connection lost. New messages do not arrive; trying again…"),
    again,
  );
}

/** Shows or hides the bar about apps that are not connected. */
export function showApps(apps) {
  const bar = document.getElementById("apps-bar");
  const away = apps.filter((app) => !app.connected).map((app) => app.name);
  bar.hidden = away.length === 0;
  if (away.length === 0) return;
  const verb = away.length === 1 ? "is" : "are";
  fill(
    bar,
    icon("bolt"),
    h(
      "span",
      {},
      h("strong", {}, away.join(", ")),
      ` ${verb} not connected: commands and buttons get no answer.`,
    ),
  );
}
