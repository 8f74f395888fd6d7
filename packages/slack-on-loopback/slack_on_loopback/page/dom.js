// Builds DOM nodes. Text always becomes a text node: no string is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "hidden", "open", "selected"]);
const SAFE_PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/**
 * Creates an element: `h("button", {class: "x", on: {click}}, "Label")`.
 * @param {string} tag
 * @param {Object<string, any>} [props] attributes; `on` holds listeners, `data` data attributes.
 * @param {...any} children nodes, strings, arrays of them; null and false are left out.
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(node, name, value);
  return append(node, children);
}

function setProp(node, name, value) {
  if (value === undefined || value === null) return;
  if (name === "on")
    for (const [type, fn] of Object.entries(value)) node.addEventListener(type, fn);
  else if (name === "data") Object.assign(node.dataset, value);
  else if (PROPERTIES.has(name)) node[name] = value;
  else if (value !== false) node.setAttribute(name, value === true ? "" : String(value));
}

/** Appends children (nodes, strings, nested arrays) and returns the node. */
function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

/** A fragment of children. */
export function fragment(...children) {
  return append(document.createDocumentFragment(), children);
}

/** Replaces all children of a node. */
export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** An SVG element, for icons and marks. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return append(node, children);
}

/** A link to the outside; an address that no person may follow becomes its label as text. */
export function outlink(url, label) {
  if (!URL.canParse(url) || !SAFE_PROTOCOLS.has(new URL(url).protocol)) return h("span", {}, label);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, label);
}

let counter = 0;

/** An id that is new on this page. */
export function freshId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}
