// What a channel or direct message is called, and the icon before it.

import { nameOf } from "./mentions.js";

/** "architecture", or the name of the other side of a direct message. */
export function titleOf(channel, ctx) {
  if (!channel.is_im) return channel.name;
  const other = channel.members.find((member) => member !== ctx.store.me) ?? ctx.store.me;
  return nameOf(ctx.store.users.get(other));
}

/** "#architecture", or the bare name of a person. */
export function addressOf(channel, ctx) {
  return channel.is_im ? titleOf(channel, ctx) : `#${channel.name}`;
}

/** The name of the channel's icon. */
export function symbolOf(channel) {
  if (channel.is_im) return "person";
  if (channel.is_archived) return "archive";
  return channel.is_private ? "lock" : "hash";
}
