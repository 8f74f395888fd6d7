// A menu of actions, fully usable by arrow keys, Home, End, letters and Esc.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { openPopup } from "./popup.js";

/**
 * Opens a menu beside a button.
 * @param {HTMLElement} anchor
 * @param {Array<{label: string, hint?: string, icon?: string, danger?: boolean, checked?: boolean, run: Function}|{heading: string}|null>} entries null draws a line
 */
export function openMenu(anchor, entries) {
  const close = () => popup.close();
  const list = h(
    "div",
    { class: "menu", role: "menu" },
    entries.map((entry) => drawEntry(entry, close)),
  );
  list.addEventListener("keydown", (event) => moveInMenu(event, list, close));
  const popup = openPopup(anchor, list, {
    closed: () => anchor.setAttribute("aria-expanded", "false"),
  });
  anchor.setAttribute("aria-expanded", "true");
  items(list)[0]?.focus();
  return popup;
}

function items(list) {
  return [...list.querySelectorAll("[role^=menuitem]")];
}

function drawEntry(entry, close) {
  if (!entry) return h("hr", { role: "separator" });
  if (entry.heading)
    return h("div", { class: "menu-heading", role: "presentation" }, entry.heading);
  const radio = entry.checked !== undefined;
  const props = {
    class: `menu-item${entry.danger ? " danger" : ""}`,
    type: "button",
    role: radio ? "menuitemradio" : "menuitem",
    tabindex: "-1",
    "aria-checked": radio ? String(entry.checked) : null,
    on: {
      click: () => {
        close();
        entry.run();
      },
    },
  };
  const mark = radio ? icon(entry.checked ? "check" : "dot") : entry.icon && icon(entry.icon);
  return h(
    "button",
    props,
    mark,
    h("span", { class: "menu-label" }, entry.label, entry.hint && h("small", {}, entry.hint)),
  );
}

function moveInMenu(event, list, close) {
  const all = items(list);
  const at = all.indexOf(document.activeElement);
  const last = all.length - 1;
  const targets = {
    ArrowDown: at === last ? 0 : at + 1,
    ArrowUp: at <= 0 ? last : at - 1,
    Home: 0,
    End: last,
  };
  let next = targets[event.key];
  if (event.key === "Tab") close();
  if (/^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey)
    next = byLetter(all, at, event.key);
  if (next === undefined || next < 0) return;
  event.preventDefault();
  all[next].focus();
}

function byLetter(all, at, letter) {
  const order = [...all.slice(at + 1), ...all.slice(0, at + 1)];
  return all.indexOf(
    order.find((item) => item.textContent.trim().toLowerCase().startsWith(letter.toLowerCase())),
  );
}
