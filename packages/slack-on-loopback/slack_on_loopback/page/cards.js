// Cards and their relatives: card, carousel, container, task card, plan, alert, auth provider.

import { h, outlink } from "./dom.js";
import { drawElement } from "./elements.js";
import { icon } from "./icons.js";
import { drawImage } from "./images.js";
import { drawRichText } from "./rich_text.js";
import { drawText } from "./text.js";

const ALERT_ICONS = {
  default: "info",
  info: "info",
  warning: "alert",
  error: "alert",
  success: "check",
};
const STATUS = {
  pending: { icon: "dot", label: "Pending" },
  in_progress: { icon: "spinner", label: "In progress" },
  complete: { icon: "check", label: "Complete" },
  error: { icon: "alert", label: "Failed" },
};

// Which containers the reader opened or closed, so that an edited message keeps them so.
const openState = new Map();

function details(key, isOpen, props, ...children) {
  const node = h("details", { ...props, open: openState.get(key) ?? isOpen }, children);
  node.addEventListener("toggle", () => openState.set(key, node.open));
  return node;
}

/** alert block */
export function drawAlert(block, scope) {
  const level = ALERT_ICONS[block.level] ? block.level : "default";
  return h(
    "div",
    { class: `alert alert-${level}`, role: "note" },
    icon(ALERT_ICONS[level]),
    h("div", {}, drawText(block.text, scope.ctx)),
  );
}

/** card block */
export function drawCard(block, scope) {
  const head = h(
    "div",
    { class: "card-head" },
    block.icon && drawImage(block.icon, scope.ctx, { small: true }),
    h(
      "div",
      {},
      block.title && h("div", { class: "card-title" }, drawText(block.title, scope.ctx)),
      block.subtitle && h("div", { class: "card-subtitle" }, drawText(block.subtitle, scope.ctx)),
    ),
  );
  return h(
    "article",
    { class: "card" },
    block.hero_image && drawImage(block.hero_image, scope.ctx),
    head,
    block.body && h("div", { class: "card-body" }, drawText(block.body, scope.ctx)),
    block.actions &&
      h(
        "div",
        { class: "actions" },
        block.actions.map((element) => drawElement(element, block.block_id, scope)),
      ),
  );
}

/** carousel block: cards side by side */
export function drawCarousel(block, scope) {
  return h(
    "div",
    { class: "carousel", tabindex: "0", role: "group", "aria-label": "Cards" },
    block.elements.map((card) => drawCard(card, scope)),
  );
}

/** container block; drawBlocks is passed in, because containers hold blocks. */
export function drawContainer(block, scope, drawBlocks) {
  const title = block.rich_text_title
    ? drawRichText(block.rich_text_title, scope.ctx)
    : drawText(block.title, scope.ctx);
  const words = h(
    "div",
    { class: "container-words" },
    h("div", { class: "container-title" }, title),
    block.subtitle &&
      h("div", { class: "container-subtitle" }, drawText(block.subtitle, scope.ctx)),
  );
  const head = [block.icon && drawImage(block.icon, scope.ctx, { small: true }), words];
  const body = h("div", { class: "container-body" }, drawBlocks(block.child_blocks, scope));
  const style = `container width-${block.width ?? "standard"}${block.has_header_divider ? " divided" : ""}`;
  if (!block.is_collapsible)
    return h("section", { class: style }, h("div", { class: "container-head" }, head), body);
  const key = `${scope.key}/${block.block_id}`;
  return details(
    key,
    !block.default_collapsed,
    { class: style },
    h("summary", { class: "container-head" }, icon("chevron"), head),
    body,
  );
}

/** task_card block */
export function drawTaskCard(block, scope) {
  const status = STATUS[block.status] ?? STATUS.pending;
  const head = [
    h(
      "span",
      { class: `task-mark task-${block.status}`, role: "img", "aria-label": status.label },
      icon(status.icon),
    ),
    h("span", { class: "task-title" }, drawText(block.title, scope.ctx)),
  ];
  const body = [
    block.details && drawRichText(block.details, scope.ctx),
    block.output && h("div", { class: "task-output" }, drawRichText(block.output, scope.ctx)),
    block.sources?.length &&
      h(
        "div",
        { class: "task-sources" },
        block.sources.map((source) =>
          outlink(source.url, source.text || source.url, { class: "chip" }),
        ),
      ),
  ].filter(Boolean);
  if (!body.length) return h("div", { class: "task-card" }, h("div", { class: "task-head" }, head));
  return details(
    `${scope.key}/${block.task_id}`,
    false,
    { class: "task-card" },
    h("summary", { class: "task-head" }, head, icon("chevron")),
    h("div", { class: "task-body" }, body),
  );
}

/** plan block: a titled list of tasks */
export function drawPlan(block, scope) {
  const tasks = block.tasks ?? [];
  const done = tasks.filter((task) => task.status === "complete").length;
  const head = h(
    "div",
    { class: "plan-head" },
    h("strong", {}, drawText(block.title, scope.ctx)),
    tasks.length > 0 && h("small", {}, `${done} of ${tasks.length} done`),
  );
  return h(
    "section",
    { class: "plan" },
    head,
    tasks.map((task) => drawTaskCard(task, scope)),
  );
}

/** auth_provider block */
export function drawAuthProvider(block, scope) {
  const words = h(
    "div",
    { class: "section-main" },
    h("strong", {}, drawText(block.name, scope.ctx)),
    block.description &&
      h("div", { class: "card-subtitle" }, drawText(block.description, scope.ctx)),
    block.is_connected &&
      h(
        "div",
        { class: "card-subtitle" },
        "Connected",
        block.connected_identity && [" as ", drawText(block.connected_identity, scope.ctx)],
      ),
  );
  const url = block.is_connected ? block.disconnect_url : block.auth_url;
  const link =
    url && outlink(url, block.is_connected ? "Disconnect" : "Connect", { class: "button" });
  const accessory = block.accessory && drawElement(block.accessory, block.block_id, scope);
  return h(
    "div",
    { class: "section card" },
    words,
    h("div", { class: "accessory" }, link, accessory),
  );
}
