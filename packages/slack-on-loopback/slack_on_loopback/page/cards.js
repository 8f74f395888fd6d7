// What folds and what goes on: container, task card, plan.

import { h, outlink } from "./dom.js";
import { icon } from "./icons.js";
import { drawRichText } from "./rich_text.js";
import { drawText } from "./text.js";

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
  const body = h("div", { class: "container-body" }, drawBlocks(block.child_blocks, scope));
  const style = `container width-${block.width ?? "standard"}${block.has_header_divider ? " divided" : ""}`;
  if (!block.is_collapsible)
    return h("section", { class: style }, h("div", { class: "container-head" }, words), body);
  const key = `${scope.key}/${block.block_id}`;
  return details(
    key,
    !block.default_collapsed,
    { class: style },
    h("summary", { class: "container-head" }, icon("chevron"), words),
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
