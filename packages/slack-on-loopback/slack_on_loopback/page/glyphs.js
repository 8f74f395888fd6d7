// Whether this machine has a font for an emoji; without one the page shows a plain sign, not a box.

const SIZE = 24;
const FONT = '16px "Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji", sans-serif';
// Belongs to no character: drawn as what a font shows for one that it lacks.
const NOTHING = "\u{10FFFE}";
// What fonts without emoji have, for those whose sense is in the sign.
const PLAIN = { white_check_mark: "✓", heavy_check_mark: "✓", "+1": "+", "-1": "−", x: "✗", no_entry: "✗", eyes: "◉" };
const canvas = document.createElement("canvas");
canvas.width = canvas.height = SIZE;
const brush = canvas.getContext("2d", { willReadFrequently: true });
const known = new Map();

function pixels(symbol) {
  brush.clearRect(0, 0, SIZE, SIZE);
  brush.font = FONT;
  brush.textBaseline = "top";
  brush.fillText(symbol, 0, 2);
  return brush.getImageData(0, 0, SIZE, SIZE).data.join();
}

/** Whether a symbol can be drawn here. */
export function hasGlyph(symbol) {
  // A sign that only asks for colours is drawn as nothing, or as a second box.
  const base = symbol.replaceAll("\uFE0F", "");
  if (!known.has(base)) known.set(base, pixels(base) !== pixels(NOTHING));
  return known.get(base);
}

/** The symbol, or a plain sign where it cannot be drawn: a letter beside a word would be read as one. */
export function symbolOrSign(symbol, name) {
  return hasGlyph(symbol) ? symbol : (PLAIN[name] ?? "●");
}
