// Draws Block Kit: one function per block type.

import { fragment, h } from "./dom.js";
import { drawContainer, drawPlan } from "./cards.js";
import { drawChart } from "./chart.js";
import { drawElement } from "./elements.js";
import { drawField } from "./field.js";
import { drawTable } from "./table.js";
import { drawText } from "./text.js";

const BLOCKS = {
  section: drawSection,
  header: (block, { ctx }) => h("h2", { class: "header-block" }, drawText(block.text, ctx)),
  divider: () => h("hr"),
  context: drawContext,
  actions: (block, scope) => h("div", { class: "actions" }, drawElements(block, scope)),
  context_actions: (block, scope) =>
    h("div", { class: "actions context-actions" }, drawElements(block, scope)),
  table: (block, scope) => drawTable(block, scope.ctx),
  data_visualization: drawChart,
  input: drawField,
  plan: drawPlan,
  container: (block, scope) => drawContainer(block, scope, drawBlocks),
};

/** Draws blocks in order. */
export function drawBlocks(blocks, scope) {
  return fragment(
    blocks.map((block) =>
      h("div", { class: `block block-${block.type}` }, BLOCKS[block.type](block, scope)),
    ),
  );
}

function drawElements(block, scope) {
  return block.elements.map((element) => drawElement(element, block.block_id, scope));
}

function drawSection({ text, accessory, block_id: blockId }, scope) {
  const main = h("div", { class: "section-main" }, drawText(text, scope.ctx));
  const beside =
    accessory && h("div", { class: "accessory" }, drawElement(accessory, blockId, scope));
  return h("div", { class: "section" }, main, beside);
}

function drawContext(block, { ctx }) {
  const texts = block.elements.map((text) =>
    h("span", { class: "context-text" }, drawText(text, ctx)),
  );
  return h("div", { class: "context" }, texts);
}
