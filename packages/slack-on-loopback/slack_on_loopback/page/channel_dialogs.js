// What people do with channels: create, rename, archive, join, leave, see and change members.

import { authorOfUser, avatar } from "./authors.js";
import { ask, askText, openDialog } from "./dialog.js";
import { fill, freshId, h } from "./dom.js";
import { nameOf } from "./mentions.js";
import { openMenu } from "./menu.js";
import { attempt } from "./notices.js";
import { Picker } from "./picker.js";

function change(ctx, action, body) {
  return attempt(() => ctx.api.post("channels", { action, ...body }));
}

/** Asks for a name and creates a channel. */
export async function createChannel(ctx) {
  const box = h("input", { type: "checkbox", id: freshId("private") });
  const extra = h(
    "label",
    { class: "option" },
    box,
    h("span", {}, "Private", h("small", {}, "Only people who are invited can see it.")),
  );
  const name = await askText({
    title: "Create a channel",
    label: "Name",
    confirm: "Create",
    extra,
  });
  if (!name) return;
  const answer = await change(ctx, "create", { name, is_private: box.checked });
  if (answer?.channel?.id) location.hash = `#/${answer.channel.id}`;
}

async function rename(ctx, channel) {
  const name = await askText({
    title: "Rename channel",
    label: "Name",
    value: channel.name,
    confirm: "Rename",
  });
  if (name && name !== channel.name) await change(ctx, "rename", { channel: channel.id, name });
}

async function archive(ctx, channel) {
  const sure = await ask({
    title: `Archive #${channel.name}?`,
    text: "Nobody can write in it until it is brought back.",
    confirm: "Archive",
    deny: "Cancel",
    danger: true,
  });
  if (sure) await change(ctx, "archive", { channel: channel.id });
}

/** Joins a public channel. */
export function joinChannel(ctx, channel) {
  return change(ctx, "join", { channel: channel.id });
}

/** Opens the menu of a channel. */
export function openChannelMenu(anchor, channel, ctx) {
  if (channel.is_archived) {
    openMenu(anchor, [
      {
        label: "Bring back",
        icon: "archive",
        run: () => change(ctx, "unarchive", { channel: channel.id }),
      },
    ]);
    return;
  }
  const membership = channel.is_member
    ? {
        label: "Leave channel",
        icon: "back",
        run: () => change(ctx, "leave", { channel: channel.id }),
      }
    : { label: "Join channel", icon: "plus", run: () => joinChannel(ctx, channel) };
  openMenu(anchor, [
    { label: "Members", icon: "people", run: () => showMembers(ctx, channel.id) },
    { label: "Rename", icon: "edit", run: () => rename(ctx, channel) },
    membership,
    null,
    { label: "Archive channel", icon: "archive", danger: true, run: () => archive(ctx, channel) },
  ]);
}

/** Shows who is in a channel, with inviting and removing. */
export function showMembers(ctx, id) {
  const body = h("div", { class: "members" });
  const draw = () => fill(body, drawInvite(ctx, id), drawMembers(ctx, id));
  const stop = ctx.store.on("channels", draw);
  const close = () => {
    stop();
    dialog.remove();
  };
  draw();
  const dialog = openDialog({
    title: `Members of #${ctx.store.channels.get(id).name}`,
    body,
    className: "small",
    close,
  });
}

function drawMembers(ctx, id) {
  const members = ctx.store.channels.get(id)?.members ?? [];
  const rows = members
    .map((member) => ctx.store.users.get(member))
    .filter(Boolean)
    .map((user) =>
      h(
        "li",
        {},
        avatar(authorOfUser(user, ctx), "small"),
        h("span", { class: "nav-name" }, nameOf(user)),
        h(
          "button",
          {
            class: "button small",
            type: "button",
            "aria-label": `Remove ${nameOf(user)}`,
            on: { click: () => change(ctx, "kick", { channel: id, member: user.id }) },
          },
          "Remove",
        ),
      ),
    );
  return h("ul", { class: "member-list" }, rows);
}

function drawInvite(ctx, id) {
  const members = new Set(ctx.store.channels.get(id)?.members ?? []);
  const choices = [...ctx.store.users.values()]
    .filter((user) => !members.has(user.id))
    .map((user) => ({ id: user.id, label: nameOf(user), hint: `@${user.name}`, raw: user.id }));
  const picker = new Picker({
    id: freshId("invite"),
    label: "Invite someone",
    placeholder: "Invite someone…",
    chosen: [],
    find: (query) =>
      choices.filter((choice) => choice.label.toLowerCase().includes(query.toLowerCase())),
    changed: () => change(ctx, "invite", { channel: id, member: picker.chosen[0].raw }),
  });
  return picker.node;
}
