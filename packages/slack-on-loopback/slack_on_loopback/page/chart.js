// Charts of bars. Every value stands there as text, so that nobody has to guess it from a shape or
// a colour.

import { h } from "./dom.js";
import { drawText } from "./text.js";

/** Draws a data_visualization block with its title. */
export function drawChart(block, scope) {
  const { series, axis_config: axes } = block.chart;
  const isPercent = /^(percent|%)$/i.test(axes.y_label ?? "");
  // Shares of 100 fill their line only at 100.
  const values = series.flatMap(({ data }) => data.map((point) => Math.abs(point.value)));
  const most = isPercent ? 100 : Math.max(...values) || 1;
  const rows = axes.categories.map((category, place) => {
    const bars = series.map(({ name, data }) =>
      drawBar(name, data[place].value, most, isPercent),
    );
    const label = h("span", { class: "chart-label" }, category);
    return h("li", { class: "chart-row" }, label, h("span", { class: "chart-bars" }, bars));
  });
  const title = h("figcaption", {}, drawText(block.title, scope.ctx));
  const words = [axes.y_label, axes.x_label].filter(Boolean).join(" by ");
  const list = h("ul", { class: "chart-rows" }, rows);
  return h("figure", { class: "chart" }, title, list, h("small", { class: "chart-axes" }, words));
}

function drawBar(name, value, most, isPercent) {
  const bar = h("span", { class: "chart-bar" });
  bar.style.inlineSize = `${Math.min((100 * Math.abs(value)) / most, 100)}%`;
  const groove = h("span", { class: "chart-groove", "aria-hidden": "true" }, bar);
  const words = `${value.toLocaleString("en")}${isPercent ? "%" : ""}`;
  const number = h("span", { class: "chart-value" }, words);
  return h("span", { class: "chart-track", title: name }, groove, number);
}
