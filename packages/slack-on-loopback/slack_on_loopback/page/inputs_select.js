// Selects of Block Kit (static, users, conversations; one or several) on the Picker.

import { nameOf } from "./mentions.js";
import { Picker } from "./picker.js";
import { wordsOf } from "./text.js";

/** An option of Slack's as a Choice. */
function ofOption(option, group) {
  return {
    id: option.value ?? wordsOf(option.text),
    label: wordsOf(option.text),
    hint: wordsOf(option.description),
    group,
    raw: option,
  };
}

function ofGroups({ options, option_groups: groups }) {
  const grouped = (groups ?? []).flatMap((group) =>
    group.options.map((option) => ofOption(option, wordsOf(group.label))),
  );
  return [...(options ?? []).map((option) => ofOption(option)), ...grouped];
}

function ofUser(user) {
  return { id: user.id, label: nameOf(user), hint: user.name && `@${user.name}`, raw: user.id };
}

function ofChannel(channel) {
  return {
    id: channel.id,
    label: `${channel.is_private ? "🔒" : "#"} ${channel.name}`,
    raw: channel.id,
  };
}

function matching(choices, query) {
  const words = query.toLowerCase();
  return choices.filter((choice) =>
    `${choice.label} ${choice.hint ?? ""}`.toLowerCase().includes(words),
  );
}

const SOURCES = {
  static: { choices: (element) => ofGroups(element), singular: "option", plural: "options" },
  users: {
    choices: (_, io) => [...io.ctx.store.users.values()].map(ofUser),
    singular: "user",
    plural: "users",
  },
  conversations: { choices: conversations, singular: "conversation", plural: "conversations" },
};

function openChannels(io) {
  return [...io.ctx.store.channels.values()].filter(
    (channel) => !channel.is_archived && !channel.is_im,
  );
}

function conversations(element, io) {
  const wanted = element.filter?.include;
  const fits = (channel) => !wanted || wanted.includes(channel.is_private ? "private" : "public");
  return openChannels(io).filter(fits).map(ofChannel);
}

/** Draws a select; its type names the source ("multi_users_select" → users). */
export function selectInput(element, io) {
  const multiple = element.type.startsWith("multi_");
  const source = SOURCES[element.type.replace("multi_", "").replace("_select", "")];
  const field = `${multiple ? source.plural : source.singular}`;
  const picker = new Picker({
    id: io.id,
    label: io.label,
    describedBy: io.describedBy,
    multiple,
    find: (query) => matching(source.choices(element, io), query),
    max: element.max_selected_items,
    placeholder: wordsOf(element.placeholder) || (multiple ? "Choose some" : "Choose one"),
    chosen: startingChoices(element, io, source, field),
    changed: () => io.changed(),
  });
  const read = () => {
    const raws = picker.chosen.map((choice) => choice.raw);
    return { type: element.type, [`selected_${field}`]: multiple ? raws : (raws[0] ?? null) };
  };
  return {
    node: picker.node,
    read,
    isEmpty: () => picker.chosen.length === 0,
    focus: () => picker.focus(),
  };
}

function startingChoices(element, io, source, field) {
  let start = element[`initial_${field}`] ?? [];
  if (!start.length && !start.value && element.default_to_current_conversation)
    start = io.ctx.store.active;
  const known = new Map(source.choices(element, io).map((choice) => [choice.id, choice]));
  return [start]
    .flat()
    .filter(Boolean)
    .map((raw) => (raw.text ? ofOption(raw) : (known.get(raw) ?? { id: raw, label: raw, raw })));
}
