// Reactions under a message.

import { h } from "./dom.js";
import { emoji, nameOf } from "./mentions.js";

/** The row of reactions; null when there are none. */
export function drawReactions(message, ctx) {
  if (!message.reactions?.length) return null;
  return h(
    "ul",
    { class: "reactions", "aria-label": "Reactions" },
    message.reactions.map((reaction) => drawOne(reaction, ctx)),
  );
}

function drawOne(reaction, ctx) {
  const names = (reaction.users ?? [])
    .map((id) => (id === ctx.store.me ? "you" : nameOf(ctx.store.users.get(id))))
    .join(", ");
  const words = `${reaction.name.replaceAll("_", " ")}, ${reaction.count}: ${names}`;
  return h(
    "li",
    { class: "reaction", title: words },
    emoji(reaction.name, ctx),
    h("span", {}, String(reaction.count)),
  );
}
