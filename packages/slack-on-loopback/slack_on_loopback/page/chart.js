// Charts of bars. Every value stands there as text, so that nobody has to guess it from a shape or
// a colour.

import { h } from "./dom.js";
import { drawText } from "./text.js";

/**
 * Draws a chart with its title.
 * @param {object} block Slack's data_visualization block
 * @param {object} scope
 */
export function drawChart(block, scope) {
  const { series, axis_config: axes } = block.chart;
  const isPercent = /^(percent|%)$/i.test(axes.y_label ?? "");
  // Shares of 100 fill their line only at 100.
  const values = series.flatMap((one) => one.data.map((point) => Math.abs(point.value)));
  const most = isPercent ? 100 : Math.max(...values) || 1;
  const rows = axes.categories.map((category, n) =>
    h(
      "li",
      { class: "chart-row" },
      h("span", { class: "chart-label" }, category),
      h(
        "span",
        { class: "chart-bars" },
        series.map((one) => drawBar(one.name, one.data[n].value, most, isPercent)),
      ),
    ),
  );
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, drawText(block.title, scope.ctx)),
    h("ul", { class: "chart-rows" }, rows),
    h("small", { class: "chart-axes" }, [axes.y_label, axes.x_label].filter(Boolean).join(" by ")),
  );
}

function drawBar(name, value, most, isPercent) {
  const bar = h("span", { class: "chart-bar" });
  bar.style.inlineSize = `${Math.min((100 * Math.abs(value)) / most, 100)}%`;
  return h(
    "span",
    { class: "chart-track", title: name },
    h("span", { class: "chart-groove", "aria-hidden": "true" }, bar),
    h("span", { class: "chart-value" }, `${value.toLocaleString("en")}${isPercent ? "%" : ""}`),
  );
}
