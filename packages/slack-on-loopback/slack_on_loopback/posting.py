"""Messages: posting, editing, deleting, reacting, pinning, for the app and for people."""

from collections.abc import Callable

from slack_on_loopback import events
from slack_on_loopback.emoji import EMOJI
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, objects
from slack_on_loopback.rules import MOST_PINS
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, Pin, is_reply

_COUNTS = ("reply_count", "reply_users", "reply_users_count", "latest_reply")


def post(runtime: Runtime, channel: Channel, message: Json) -> Json:
    """Add a message to a channel, send its events, and return the stored message.

    Args:
        runtime: the workspace.
        channel: the channel.
        message: without ts; with thread_ts for a reply.
    """
    ts = runtime.new_ts()
    stored = {"type": "message", **message, "ts": ts, "channel": channel.id}
    channel.messages[ts] = stored
    runtime.tell(channel, {"type": "message", "message": view_of(channel, stored)})
    if is_reply(stored):
        root = channel.messages[stored["thread_ts"]]
        root["thread_ts"] = root["ts"]
        _recount(runtime, channel, root)
    events.emit_message(runtime, stored, channel)
    return stored


def post_ephemeral(runtime: Runtime, channel: Channel, message: Json, viewer: str) -> Json:
    """Show a message to one person."""
    stored = {
        "type": "message",
        **message,
        "ts": runtime.new_ts(),
        "channel": channel.id,
        "is_ephemeral": True,
        "viewer": viewer,
    }
    runtime.ephemeral.append(stored)
    runtime.feed.tell_user(viewer, {"type": "ephemeral", "message": copy(stored)})
    runtime.notify_change()
    return stored


def find(channel: Channel, ts: str) -> Json:
    if ts not in channel.messages:
        raise SlackRefusal("message_not_found")
    return channel.messages[ts]


def thread_root(channel: Channel, thread_ts: str) -> Json:
    """Return the message that a reply belongs to."""
    root = channel.messages.get(thread_ts)
    if root is None:
        raise SlackRefusal("thread_not_found")
    if is_reply(root):
        raise SlackRefusal("cannot_reply_to_message")
    return root


def view_of(channel: Channel, message: Json) -> Json:
    """Return a message as people see it; a broadcast includes its root."""
    fields = copy(message)
    if fields.get("subtype") == "thread_broadcast" and fields["thread_ts"] in channel.messages:
        fields["root"] = copy(channel.messages[fields["thread_ts"]])
    if session := channel.sessions.get(fields["ts"]):
        fields["agent_session"] = {"title": session.title, "status": session.status}
    return fields


def show_change(runtime: Runtime, channel: Channel, message: Json) -> None:
    """Send the current state of a message to the pages."""
    runtime.tell(channel, {"type": "message_changed", "message": view_of(channel, message)})


def change(runtime: Runtime, channel: Channel, ts: str, edit: Callable[[Json], None]) -> Json:
    """Edit a message in place, update the pages, and send message_changed to the app."""
    message = channel.messages[ts]
    before = copy(message)
    edit(message)
    show_change(runtime, channel, message)
    events.emit_change(runtime, channel, message, before)
    return message


def delete(runtime: Runtime, channel: Channel, ts: str) -> None:
    """Delete a message; a root with replies leaves a tombstone, as on Slack."""
    before = channel.messages[ts]
    if before.get("reply_count"):
        tombstone = _tombstone(before)
        channel.messages[ts] = tombstone
        show_change(runtime, channel, tombstone)
        events.emit_change(runtime, channel, tombstone, before)
        return
    del channel.messages[ts]
    channel.pins = [pin for pin in channel.pins if pin.ts != ts]
    runtime.tell(channel, {"type": "message_deleted", "channel": channel.id, "ts": ts})
    events.emit_deletion(runtime, channel, before)
    if is_reply(before) and before["thread_ts"] in channel.messages:
        _recount(runtime, channel, channel.messages[before["thread_ts"]])


def _tombstone(before: Json) -> Json:
    keys = ("ts", "channel", "thread_ts", "reply_count", "reply_users", "latest_reply")
    return {
        "type": "message",
        "subtype": "tombstone",
        "text": "This message was deleted.",
        "user": "USLACKBOT",
        "hidden": True,
        **{key: before[key] for key in keys if key in before},
    }


def _recount(runtime: Runtime, channel: Channel, root: Json) -> None:
    for key in _COUNTS:
        root.pop(key, None)
    replies = channel.thread(root["ts"])[1:]
    if replies:
        authors = dict.fromkeys(reply.get("user") or reply.get("bot_id") for reply in replies)
        root |= {
            "reply_count": len(replies),
            "reply_users": list(authors),
            "reply_users_count": len(authors),
            "latest_reply": replies[-1]["ts"],
        }
    else:
        root.pop("thread_ts", None)
    show_change(runtime, channel, root)


def react(runtime: Runtime, channel: Channel, ts: str, *, user: str, name: str) -> None:
    """Add a reaction."""
    message = find(channel, ts)
    if name.partition("::")[0] not in EMOJI:
        raise SlackRefusal("invalid_name")
    reactions = message.setdefault("reactions", [])
    known = (reaction for reaction in objects(reactions) if reaction["name"] == name)
    mine: Json | None = next(known, None)
    if mine is None:
        mine = {"name": name, "users": [], "count": 0}
        reactions.append(mine)
    elif user in mine["users"]:
        raise SlackRefusal("already_reacted")
    mine["users"].append(user)
    mine["count"] += 1
    show_change(runtime, channel, message)


def pin(runtime: Runtime, channel: Channel, ts: str, user: str) -> None:
    message = find(channel, ts)
    if ts in pinned_ts(channel):
        raise SlackRefusal("already_pinned")
    if len(channel.pins) >= MOST_PINS:
        raise SlackRefusal("too_many_pins")
    channel.pins.append(Pin(ts=ts, user=user, created=int(runtime.now())))
    message["pinned_to"] = [channel.id]
    _show_pins(runtime, channel)


def unpin(runtime: Runtime, channel: Channel, ts: str) -> None:
    message = find(channel, ts)
    if ts not in pinned_ts(channel):
        raise SlackRefusal("no_pin")
    channel.pins = [item for item in channel.pins if item.ts != ts]
    message.pop("pinned_to", None)
    _show_pins(runtime, channel)


def pinned_ts(channel: Channel) -> list[str]:
    """Return the ts of all pinned messages, newest pin first."""
    return [item.ts for item in reversed(channel.pins)]


def _show_pins(runtime: Runtime, channel: Channel) -> None:
    runtime.tell(channel, {"type": "pins", "channel": channel.id, "pins": pinned_ts(channel)})
