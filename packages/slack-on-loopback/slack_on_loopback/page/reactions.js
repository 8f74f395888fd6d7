// Reactions under a message, and the emoji picker.

import { fill, h } from "./dom.js";
import { symbolOrLetter } from "./glyphs.js";
import { icon } from "./icons.js";
import { emoji, nameOf } from "./mentions.js";
import { attempt } from "./notices.js";
import { openPopup } from "./popup.js";

const COLUMNS = 8;
const SHOWN = 240;
const FIRST = [
  "+1",
  "eyes",
  "white_check_mark",
  "tada",
  "heart",
  "thinking_face",
  "raised_hands",
  "-1",
];

function send(message, name, remove, ctx) {
  return attempt(() =>
    ctx.api.post("react", { channel: message.channel, ts: message.ts, name, remove }),
  );
}

/** The row of reactions; null when there are none. */
export function drawReactions(message, ctx) {
  if (!message.reactions?.length) return null;
  const add = h(
    "button",
    {
      class: "reaction add",
      type: "button",
      "aria-label": "Add reaction",
      on: { click: (event) => pickReaction(event.currentTarget, message, ctx) },
    },
    icon("smile"),
  );
  return h(
    "div",
    { class: "reactions", role: "group", "aria-label": "Reactions" },
    message.reactions.map((reaction) => drawOne(reaction, message, ctx)),
    add,
  );
}

function drawOne(reaction, message, ctx) {
  const users = reaction.users ?? [];
  const mine = users.includes(ctx.store.me);
  const names = users
    .map((id) => (id === ctx.store.me ? "you" : nameOf(ctx.store.users.get(id))))
    .join(", ");
  const label = `${reaction.name.replaceAll("_", " ")}, ${reaction.count}: ${names}`;
  const props = {
    class: "reaction",
    type: "button",
    "aria-pressed": String(mine),
    "aria-label": label,
    title: label,
    data: { focus: `reaction/${reaction.name}` },
  };
  return h(
    "button",
    { ...props, on: { click: () => send(message, reaction.name, mine, ctx) } },
    emoji(reaction.name, ctx),
    h("span", {}, String(reaction.count)),
  );
}

/** Opens the emoji picker and reacts with what is chosen. */
export function pickReaction(anchor, message, ctx) {
  pickEmoji(anchor, ctx, (name) => send(message, name, false, ctx));
}

/** Opens the emoji picker beside a button; `chosen(name)` gets the shortcode. */
export function pickEmoji(anchor, ctx, chosen) {
  const grid = h("div", { class: "emoji-grid", role: "group", "aria-label": "Emoji" });
  const search = h("input", {
    class: "text-input",
    type: "search",
    placeholder: "Search emoji",
    "aria-label": "Search emoji",
  });
  const pick = (name) => {
    popup.close();
    chosen(name);
  };
  const draw = () =>
    fill(
      grid,
      found(search.value, ctx).map((name) => emojiButton(name, ctx, pick)),
    );
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => enterGrid(event, grid));
  grid.addEventListener("keydown", (event) => moveInGrid(event, grid, search));
  draw();
  const popup = openPopup(anchor, h("div", { class: "emoji-picker" }, search, grid));
  search.focus();
}

function found(query, ctx) {
  const words = query.trim().toLowerCase().replaceAll(" ", "_");
  const all = Object.keys(ctx.store.emoji);
  if (!words)
    return [
      ...FIRST.filter((name) => name in ctx.store.emoji),
      ...all.filter((name) => !FIRST.includes(name)),
    ].slice(0, SHOWN);
  return all.filter((name) => name.includes(words)).slice(0, SHOWN);
}

function emojiButton(name, ctx, pick) {
  const words = name.replaceAll("_", " ");
  return h(
    "button",
    {
      type: "button",
      class: "emoji-button",
      "aria-label": words,
      title: `:${name}:`,
      on: { click: () => pick(name) },
    },
    symbolOrLetter(ctx.store.emoji[name], name),
  );
}

function enterGrid(event, grid) {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  if (event.key === "Enter") grid.firstElementChild?.click();
  else grid.firstElementChild?.focus();
}

function moveInGrid(event, grid, search) {
  const all = [...grid.children];
  const at = all.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  (all[at + step] ?? (step < 0 ? search : all.at(-1))).focus();
}
