// Images in blocks. Nothing is fetched from another host before the reader asks for it.

import { h, safeUrl } from "./dom.js";
import { icon } from "./icons.js";
import { drawText } from "./text.js";

/**
 * Draws an image, or a button that loads it when it lies on another host.
 * @param {{image_url?: string, slack_file?: object, alt_text?: string, title?: object}} image
 * @param {object} ctx drawing context
 * @param {{small?: boolean}} [options] small: an accessory or context image
 */
export function drawImage(image, ctx, { small = false } = {}) {
  const url = image.image_url ?? image.slack_file?.url ?? "";
  const title = image.title && h("figcaption", {}, drawText(image.title, ctx));
  const picture = isHere(url) ? img(url, image) : placeholder(url, image, small);
  return h("figure", { class: small ? "image small" : "image" }, title, picture);
}

function isHere(url) {
  return (
    url.startsWith("data:image/") ||
    new URL(url || "about:blank", location.href).origin === location.origin
  );
}

function img(url, image) {
  return h("img", { src: url, alt: image.alt_text ?? "", loading: "lazy" });
}

function placeholder(url, image, small) {
  const host = safeUrl(url) ? new URL(url).host : "unknown host";
  const load = (event) => event.currentTarget.replaceWith(img(safeUrl(url) ?? "", image));
  const label = `Load image from ${host}: ${image.alt_text ?? "no description"}`;
  if (small)
    return h(
      "button",
      {
        class: "image-ask",
        type: "button",
        title: label,
        "aria-label": label,
        on: { click: load },
      },
      icon("eye"),
    );
  return h(
    "button",
    { class: "image-ask", type: "button", on: { click: load } },
    icon("eye"),
    h("span", {}, image.alt_text || "Image", h("small", {}, `Load image from ${host}`)),
  );
}
