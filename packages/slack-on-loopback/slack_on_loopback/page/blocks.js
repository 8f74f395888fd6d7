// Draws Block Kit: one function per block type; an unknown type is a visible grey box.

import { fragment, h } from "./dom.js";
import { drawContainer, drawPlan, drawTaskCard } from "./cards.js";
import { drawChart } from "./chart.js";
import { drawElement } from "./elements.js";
import { drawField } from "./field.js";
import { drawTable } from "./table.js";
import { drawText } from "./text.js";

const BLOCKS = {
  section: drawSection,
  header: (block, scope) => h("h2", { class: "header-block" }, drawText(block.text, scope.ctx)),
  divider: () => h("hr"),
  context: drawContext,
  actions: (block, scope) => h("div", { class: "actions" }, drawElements(block, scope)),
  context_actions: (block, scope) =>
    h("div", { class: "actions context-actions" }, drawElements(block, scope)),
  table: (block, scope) => drawTable(block, scope.ctx),
  data_visualization: drawChart,
  input: drawField,
  task_card: drawTaskCard,
  plan: drawPlan,
  container: (block, scope) => drawContainer(block, scope, drawBlocks),
};

/**
 * Draws blocks in order.
 * @param {object[]} blocks
 * @param {import("./elements.js").Scope} scope
 * @returns {DocumentFragment}
 */
export function drawBlocks(blocks, scope) {
  return fragment(
    (blocks ?? []).map((block) =>
      h("div", { class: `block block-${block.type}` }, drawBlock(block, scope)),
    ),
  );
}

function drawBlock(block, scope) {
  const draw = BLOCKS[block.type];
  if (!draw) return h("div", { class: "not-drawn" }, `block “${block.type}” is not drawn here`);
  try {
    return draw(block, scope);
  } catch (error) {
    console.error("A block is broken", block, error);
    return h("div", { class: "not-drawn" }, `block “${block.type}” is broken and cannot be drawn`);
  }
}

function drawElements(block, scope) {
  return block.elements.map((element) => drawElement(element, block.block_id, scope));
}

function drawSection(block, scope) {
  const text = block.text && h("div", { class: "section-text" }, drawText(block.text, scope.ctx));
  const fields =
    block.fields &&
    h(
      "div",
      { class: "fields" },
      block.fields.map((field) => h("div", {}, drawText(field, scope.ctx))),
    );
  const accessory =
    block.accessory &&
    h("div", { class: "accessory" }, drawElement(block.accessory, block.block_id, scope));
  return h(
    "div",
    { class: "section" },
    h("div", { class: "section-main" }, text, fields),
    accessory,
  );
}

function drawContext(block, scope) {
  return h("div", { class: "context" }, drawElements(block, scope));
}
