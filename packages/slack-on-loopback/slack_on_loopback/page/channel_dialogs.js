// What people do with channels: join, see and change members.

import { authorOfUser, avatar } from "./authors.js";
import { openDialog } from "./dialog.js";
import { fill, freshId, h } from "./dom.js";
import { nameOf } from "./mentions.js";
import { attempt } from "./notices.js";
import { Picker } from "./picker.js";

function change(ctx, action, body) {
  return attempt(() => ctx.api.post("channels", { action, ...body }));
}

/** Joins a public channel. */
export function joinChannel(ctx, channel) {
  return change(ctx, "join", { channel: channel.id });
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
