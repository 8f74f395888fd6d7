// Old-style attachments: a coloured bar beside text, fields or blocks.

import { h, outlink } from "./dom.js";
import { drawBlocks } from "./blocks.js";
import { drawMrkdwn } from "./mrkdwn.js";

function drawFields(fields, ctx) {
  return h(
    "div",
    { class: "fields" },
    fields.map((field) =>
      h("div", {}, h("strong", {}, field.title), h("div", {}, drawMrkdwn(field.value, ctx))),
    ),
  );
}

/**
 * Draws one attachment.
 * @param {object} attachment
 * @param {import("./elements.js").Scope} scope
 */
export function drawAttachment(attachment, scope) {
  const { ctx } = scope;
  const bar = h(
    "div",
    { class: "attachment" },
    attachment.title &&
      h(
        "strong",
        {},
        attachment.title_link ? outlink(attachment.title_link, attachment.title) : attachment.title,
      ),
    attachment.text && h("div", {}, drawMrkdwn(attachment.text, ctx)),
    attachment.fields && drawFields(attachment.fields, ctx),
    attachment.blocks && drawBlocks(attachment.blocks, scope),
    attachment.footer && h("small", {}, attachment.footer),
  );
  if (/^#?[0-9a-f]{6}$/i.test(attachment.color ?? ""))
    bar.style.borderColor = `#${attachment.color.replace("#", "")}`;
  return [attachment.pretext && h("div", {}, drawMrkdwn(attachment.pretext, ctx)), bar];
}
