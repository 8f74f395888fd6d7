// Charts of bars. Every value stands there as text, so that nobody has to guess it from a shape or
// a colour.

import { h } from "./dom.js";
import { drawText } from "./text.js";

const COLORS = 6;

/**
 * Draws a chart with its title.
 * @param {object} block Slack's data_visualization block
 * @param {object} scope
 */
export function drawChart(block, scope) {
  const { chart } = block;
  if (chart.type !== "bar")
    return h("div", { class: "not-drawn" }, `chart “${chart.type}” is not drawn here`);
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, drawText(block.title, scope.ctx)),
    drawBars(chart),
    axesOf(chart),
  );
}

function axesOf(chart) {
  const { x_label: across, y_label: up } = chart.axis_config ?? {};
  const words = [up, across].filter(Boolean).join(" by ");
  return words && h("small", { class: "chart-axes" }, words);
}

function mark(n) {
  return h("span", { class: `chart-mark chart-color-${n % COLORS}`, "aria-hidden": "true" });
}

function legend(names) {
  return h(
    "ul",
    { class: "chart-legend" },
    names.map((name, n) => h("li", {}, mark(n), name)),
  );
}

function mostOf(series) {
  return Math.max(...series.flatMap((one) => one.data.map((point) => Math.abs(point.value)))) || 1;
}

/** Groups of bars, one for each category; shares of 100 fill their line only at 100. */
function drawBars(chart) {
  const { series, axis_config: axes } = chart;
  const isPercent = /^(percent|%)$/i.test(axes.y_label ?? "");
  const most = isPercent ? 100 : mostOf(series);
  const rows = axes.categories.map((category, n) =>
    h(
      "li",
      { class: "chart-row" },
      h("span", { class: "chart-label" }, category),
      h(
        "span",
        { class: "chart-bars" },
        series.map((one, color) => drawBar(one, one.data[n].value, { most, color, isPercent })),
      ),
    ),
  );
  return [
    series.length > 1 && legend(series.map((one) => one.name)),
    h("ul", { class: "chart-rows" }, rows),
  ];
}

function drawBar(series, value, { most, color, isPercent }) {
  const bar = h("span", { class: `chart-bar chart-color-${color % COLORS}` });
  bar.style.inlineSize = `${Math.min((100 * Math.abs(value)) / most, 100)}%`;
  return h(
    "span",
    { class: "chart-track", title: series.name },
    h("span", { class: "chart-groove", "aria-hidden": "true" }, bar),
    h("span", { class: "chart-value" }, `${value.toLocaleString("en")}${isPercent ? "%" : ""}`),
  );
}
