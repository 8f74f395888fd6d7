// The data_visualization block: bars, a pie, lines and areas. Every value stands there as text, so
// that nobody has to guess it from a shape or a colour.

import { h, svg } from "./dom.js";
import { drawText } from "./text.js";

const COLORS = 6;
const WIDTH = 320;
const HEIGHT = 120;

/**
 * Draws a chart with its title.
 * @param {object} block Slack's data_visualization block
 * @param {object} scope
 */
export function drawChart(block, scope) {
  const { chart } = block;
  const draw = { pie: drawPie, bar: drawBars, line: drawLines, area: drawLines }[chart.type];
  return h(
    "figure",
    { class: `chart is-${chart.type}` },
    h("figcaption", {}, drawText(block.title, scope.ctx)),
    draw(chart),
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

function drawPie(chart) {
  const values = chart.segments.map((one) => Math.max(one.value, 0));
  const total = values.reduce((sum, value) => sum + value, 0) || 1;
  let turned = -Math.PI / 2;
  const slices = values.map((value, n) => {
    const from = turned;
    turned += (2 * Math.PI * value) / total;
    return svg("path", { d: wedge(from, turned), class: `chart-color-${n % COLORS}` });
  });
  const rows = chart.segments.map((one, n) =>
    h("li", {}, mark(n), `${one.label}: ${one.value.toLocaleString("en")}`),
  );
  return h(
    "div",
    { class: "chart-pie-box" },
    svg("svg", { viewBox: "-50 -50 100 100", class: "chart-disc", "aria-hidden": "true" }, slices),
    h("ul", { class: "chart-legend" }, rows),
  );
}

function wedge(from, to) {
  // A whole circle has the same beginning and end, and would be nothing.
  const end = Math.min(to, from + 2 * Math.PI - 0.0001);
  const at = (angle) => `${48 * Math.cos(angle)} ${48 * Math.sin(angle)}`;
  return `M0 0L${at(from)}A48 48 0 ${end - from > Math.PI ? 1 : 0} 1 ${at(end)}Z`;
}

/** Lines or areas, and the same as a table, which can be read. */
function drawLines(chart) {
  const { series, axis_config: axes } = chart;
  const most = mostOf(series);
  const step = WIDTH / Math.max(axes.categories.length - 1, 1);
  const shapes = series.map((one, n) => {
    const points = one.data.map(
      (point, at) => `${at * step},${HEIGHT - (HEIGHT * point.value) / most}`,
    );
    if (chart.type === "area") points.push(`${(one.data.length - 1) * step},${HEIGHT}`, `0,${HEIGHT}`);
    const tag = chart.type === "area" ? "polygon" : "polyline";
    return svg(tag, { points: points.join(" "), class: `chart-${tag} chart-color-${n % COLORS}` });
  });
  const head = h("tr", {}, [
    h("td", {}),
    axes.categories.map((name) => h("th", { scope: "col" }, name)),
  ]);
  const rows = series.map((one, n) =>
    h("tr", {}, [
      h("th", { scope: "row" }, mark(n), one.name),
      one.data.map((point) => h("td", { class: "align-right" }, point.value.toLocaleString("en"))),
    ]),
  );
  return [
    svg(
      "svg",
      { viewBox: `-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`, class: "chart-plot", "aria-hidden": "true" },
      shapes,
    ),
    h(
      "div",
      { class: "table-box", tabindex: "0", role: "group", "aria-label": "Values of the chart" },
      h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
    ),
  ];
}
