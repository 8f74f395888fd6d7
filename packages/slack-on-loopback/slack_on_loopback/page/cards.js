// Containers, which may be collapsible, and plans with their tasks.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { drawText } from "./text.js";

const STATUS = {
  pending: { icon: "dot", label: "Pending" },
  in_progress: { icon: "spinner", label: "In progress" },
  complete: { icon: "check", label: "Complete" },
  error: { icon: "alert", label: "Failed" },
};

// Which containers the reader opened or closed, so that an edited message keeps them so.
const openState = new Map();

/** container block; drawBlocks is passed in, because containers hold blocks. */
export function drawContainer(block, scope, drawBlocks) {
  const title = h("div", { class: "container-title" }, drawText(block.title, scope.ctx));
  const body = h("div", { class: "container-body" }, drawBlocks(block.child_blocks, scope));
  if (!block.is_collapsible)
    return h("section", { class: "container" }, h("div", { class: "container-head" }, title), body);
  const key = `${scope.key}/${block.block_id}`;
  const node = h(
    "details",
    { class: "container", open: openState.get(key) ?? !block.default_collapsed },
    h("summary", { class: "container-head" }, icon("chevron"), title),
    body,
  );
  node.addEventListener("toggle", () => openState.set(key, node.open));
  return node;
}

/** plan block: a titled list of tasks */
export function drawPlan(block, { ctx }) {
  const tasks = block.tasks ?? [];
  const done = tasks.filter((task) => task.status === "complete").length;
  const count = tasks.length > 0 && h("small", {}, `${done} of ${tasks.length} done`);
  const head = h("div", { class: "plan-head" }, h("strong", {}, drawText(block.title, ctx)), count);
  const rows = tasks.map((task) => {
    const { icon: name, label } = STATUS[task.status];
    const props = { class: `task-mark task-${task.status}`, role: "img", "aria-label": label };
    const title = h("span", { class: "task-title" }, drawText(task.title, ctx));
    return h("div", { class: "task-card" }, h("span", props, icon(name)), title);
  });
  return h("section", { class: "plan" }, head, rows);
}
