// The page's own line icons, drawn as SVG paths on a 20 × 20 grid.

import { svg } from "./dom.js";

const PATHS = {
  hash: "M7.5 3 6 17M14 3l-1.5 14M3.5 7.5h13.5M3 12.5h13.5",
  lock: "M5 9h10v8H5zM7 9V6.5a3 3 0 0 1 6 0V9",
  archive: "M3 4h14v3.5H3zM4.5 7.5V16h11V7.5M8 11h4",
  home: "M3.5 9.5 10 4l6.5 5.5M5.5 8v8.5h9V8",
  pin: "M7 3h6l-.8 6 2.8 2.5H5L7.8 9zM10 11.5V17",
  thread: "M4 4h12v9H9.5L6 16v-3H4z",
  close: "m5 5 10 10M15 5 5 15",
  back: "M12.5 4 6.5 10l6 6",
  send: "M4 10 3 4l14 6-14 6zM4 10h7",
  file: "M5 3h6.5L15 6.5V17H5zM11.5 3v3.5H15",
  download: "M10 3v9M6 8.5l4 4 4-4M4 16.5h12",
  chevron: "m6 8 4 4 4-4",
  eye: "M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5zM10 8.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  person: "M10 9.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM4 17c.4-3.4 2.8-5 6-5s5.6 1.6 6 5",
  bolt: "M11 3 5 11h4.5L9 17l6-8h-4.5z",
  up: "M6 17V9M6 9l3-6c1.5 0 2.3 1 2 2.5L10.6 8h4.2c1.2 0 2 1 1.7 2.2l-1.2 5.3c-.2.9-.9 1.5-1.8 1.5H6M3.5 9v8",
  down: "M14 3v8M14 11l-3 6c-1.5 0-2.3-1-2-2.5l.4-2.5H5.2c-1.2 0-2-1-1.7-2.2l1.2-5.3C4.9 3.6 5.6 3 6.5 3H14M16.5 3v8",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  alert: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.3v.2",
  info: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9v4.5M10 6.5v.2",
  dot: "M10 8.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  spinner: "M10 3a7 7 0 0 1 7 7",
};

/** One icon of the table above; decoration only, so it is hidden from screen readers. */
export function icon(name) {
  const path = svg("path", { d: PATHS[name] ?? PATHS.dot });
  return svg(
    "svg",
    { class: `icon icon-${name}`, viewBox: "0 0 20 20", "aria-hidden": "true" },
    path,
  );
}
