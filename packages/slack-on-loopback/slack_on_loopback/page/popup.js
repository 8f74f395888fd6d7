// A floating layer beside an anchor: placed on screen, closed by Esc or a click elsewhere.

import { h } from "./dom.js";

const GAP = 4;
const EDGE = 8;

/**
 * Opens a layer.
 * @param {HTMLElement} anchor what it belongs to; focus returns there
 * @param {Node} content
 * @param {{className?: string, closed?: Function}} [options]
 * @returns {{node: HTMLElement, close: Function}}
 */
export function openPopup(anchor, content, options = {}) {
  const node = h("div", { class: `popup ${options.className ?? ""}`, popover: "auto" }, content);
  (anchor.closest("dialog") ?? document.body).append(node);
  node.addEventListener("toggle", (event) => event.newState === "closed" && finish());
  const finish = () => {
    const hadFocus =
      node.contains(document.activeElement) || document.activeElement === document.body;
    node.remove();
    options.closed?.();
    if (hadFocus && anchor.isConnected) anchor.focus();
  };
  node.showPopover();
  place(node, anchor);
  return { node, close: () => node.isConnected && node.hidePopover() };
}

/** Puts a fixed layer under its anchor, or over it where there is no room below. */
export function place(node, anchor, { stretch = false } = {}) {
  const box = anchor.getBoundingClientRect();
  if (stretch) node.style.minWidth = `${box.width}px`;
  const below = innerHeight - box.bottom - EDGE - GAP;
  const above = box.top - EDGE - GAP;
  const up = node.offsetHeight > below && above > below;
  node.style.maxHeight = `${Math.max(up ? above : below, 120)}px`;
  const left = Math.min(box.left, innerWidth - node.offsetWidth - EDGE);
  node.style.left = `${Math.max(left, EDGE)}px`;
  node.style.top = up
    ? `${Math.max(EDGE, box.top - node.offsetHeight - GAP)}px`
    : `${box.bottom + GAP}px`;
}
