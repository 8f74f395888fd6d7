"""Messages: placing, editing, deleting, reacting, pinning; the same for apps and people."""

from collections.abc import Callable
from typing import Any

from slack_on_loopback import events
from slack_on_loopback.emoji import EMOJI
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, copy, objects
from slack_on_loopback.rules import MOST_PINS, MOST_REACTIONS
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, Pin, is_reply


def post(runtime: Runtime, channel: Channel, message: Json) -> Json:
    """Put a new message into a channel and tell everybody.

    Args:
        runtime: the workspace.
        channel: where.
        message: without ts; with thread_ts for a reply.

    Returns:
        The stored message.
    """
    ts = runtime.state.new_ts(runtime.now())
    stored = {"type": "message", **message, "ts": ts, "channel": channel.id}
    channel.messages[ts] = stored
    runtime.tell(channel, {"type": "message", "message": view_of(channel, stored)})
    if is_reply(stored):
        root = channel.messages[stored["thread_ts"]]
        root["thread_ts"] = root["ts"]
        _recount(channel, root)
        _show_change(runtime, channel, root)
    events.emit_message(runtime, stored, channel)
    return stored


def post_ephemeral(runtime: Runtime, channel: Channel, message: Json, viewer: str) -> Json:
    """Show a message to one person."""
    ts = runtime.state.new_ts(runtime.now())
    stored = {
        "type": "message",
        **message,
        "ts": ts,
        "channel": channel.id,
        "is_ephemeral": True,
        "viewer": viewer,
    }
    runtime.ephemeral.append(stored)
    runtime.feed.tell_user(viewer, {"type": "ephemeral", "message": copy(stored)})
    runtime.notify_change()
    return stored


def find(channel: Channel, ts: str) -> Json:
    """Return a message.

    Raises:
        SlackRefusal: message_not_found.
    """
    if ts not in channel.messages:
        raise SlackRefusal("message_not_found")
    return channel.messages[ts]


def thread_root(channel: Channel, thread_ts: str) -> Json:
    """Return the message that a reply belongs to.

    Raises:
        SlackRefusal: thread_not_found; cannot_reply_to_message for a reply's own ts.
    """
    root = channel.messages.get(thread_ts)
    if root is None:
        raise SlackRefusal("thread_not_found")
    if is_reply(root):
        raise SlackRefusal("cannot_reply_to_message")
    return root


def view_of(channel: Channel, message: Json) -> Json:
    """Return a message as people see it; a broadcast brings its root along."""
    fields = copy(message)
    if fields.get("subtype") == "thread_broadcast" and fields["thread_ts"] in channel.messages:
        fields["root"] = copy(channel.messages[fields["thread_ts"]])
    if session := channel.sessions.get(fields["ts"]):
        fields["agent_session"] = {"title": session.title, "status": session.status}
    return fields


def show_again(runtime: Runtime, channel: Channel, ts: str) -> None:
    """Show people a message of which more than its words has changed."""
    _show_change(runtime, channel, channel.messages[ts])


def change(runtime: Runtime, channel: Channel, ts: str, edit: Callable[[Json], None]) -> Json:
    """Edit a message in place, tell people, and send message_changed to apps."""
    message = channel.messages[ts]
    before = copy(message)
    edit(message)
    _show_change(runtime, channel, message)
    events.emit_change(runtime, channel, message, before)
    return message


def delete(runtime: Runtime, channel: Channel, ts: str) -> None:
    """Delete a message; a root with replies leaves a tombstone, as on Slack."""
    before = channel.messages[ts]
    if before.get("reply_count"):
        channel.messages[ts] = _tombstone(before)
        _show_change(runtime, channel, channel.messages[ts])
        events.emit_change(runtime, channel, channel.messages[ts], before)
        return
    del channel.messages[ts]
    channel.pins = [pin for pin in channel.pins if pin.ts != ts]
    runtime.tell(channel, {"type": "message_deleted", "channel": channel.id, "ts": ts})
    events.emit_deletion(runtime, channel, before)
    root = channel.messages.get(before["thread_ts"]) if is_reply(before) else None
    if root is not None:
        _recount(channel, root)
        _show_change(runtime, channel, root)


def react(runtime: Runtime, channel: Channel, ts: str, *, user: str, name: str) -> None:
    """Add a reaction.

    Raises:
        SlackRefusal: invalid_name, already_reacted, too_many_emoji.
    """
    message = find(channel, ts)
    if name.partition("::")[0] not in EMOJI:
        raise SlackRefusal("invalid_name")
    reactions = objects(message.get("reactions"))
    mine: Json | None = next((reaction for reaction in reactions if reaction["name"] == name), None)
    if mine is not None and user in mine["users"]:
        raise SlackRefusal("already_reacted")
    if mine is None and len(reactions) >= MOST_REACTIONS:
        raise SlackRefusal("too_many_emoji")
    if mine is None:
        mine = {"name": name, "users": [], "count": 0}
        message.setdefault("reactions", []).append(mine)
    mine["users"].append(user)
    mine["count"] += 1
    _show_reactions(runtime, channel, message, "reaction_added", who_what=(user, name))


def pin(runtime: Runtime, channel: Channel, ts: str, user: str) -> None:
    """Pin a message.

    Raises:
        SlackRefusal: message_not_found, already_pinned, too_many_pins.
    """
    message = find(channel, ts)
    if any(item.ts == ts for item in channel.pins):
        raise SlackRefusal("already_pinned")
    if len(channel.pins) >= MOST_PINS:
        raise SlackRefusal("too_many_pins")
    channel.pins.append(Pin(ts=ts, user=user, created=int(runtime.now())))
    message["pinned_to"] = [channel.id]
    _show_pins(runtime, channel, message, "pin_added", user=user)


def unpin(runtime: Runtime, channel: Channel, ts: str, user: str) -> None:
    """Unpin a message.

    Raises:
        SlackRefusal: message_not_found, no_pin.
    """
    message = find(channel, ts)
    if all(item.ts != ts for item in channel.pins):
        raise SlackRefusal("no_pin")
    channel.pins = [item for item in channel.pins if item.ts != ts]
    message.pop("pinned_to", None)
    _show_pins(runtime, channel, message, "pin_removed", user=user)


def pinned_ts(channel: Channel) -> list[str]:
    """Return the ts of all pinned messages, newest pin first."""
    return [item.ts for item in reversed(channel.pins)]


def _recount(channel: Channel, root: Json) -> None:
    replies = channel.thread(root["ts"])[1:]
    authors = [reply.get("user") or reply.get("bot_id") for reply in replies]
    root["reply_count"] = len(replies)
    root["reply_users"] = list(dict.fromkeys(authors))
    root["reply_users_count"] = len(root["reply_users"])
    root["latest_reply"] = replies[-1]["ts"] if replies else None
    if not replies:
        for key in ("reply_count", "reply_users", "reply_users_count", "latest_reply", "thread_ts"):
            root.pop(key, None)


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


def _show_change(runtime: Runtime, channel: Channel, message: Json) -> None:
    runtime.tell(channel, {"type": "message_changed", "message": view_of(channel, message)})


def _show_reactions(
    runtime: Runtime, channel: Channel, message: Json, kind: str, *, who_what: tuple[str, str]
) -> None:
    user, name = who_what
    if not as_list(message.get("reactions")):
        message.pop("reactions", None)
    shown_now: dict[str, Any] = {
        "type": "reaction",
        "channel": channel.id,
        "ts": message["ts"],
        "reactions": copy({"all": message.get("reactions") or []})["all"],
    }
    runtime.tell(channel, shown_now)
    item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
    event = {"type": kind, "user": user, "reaction": name, "item": item}
    event |= {"item_user": message.get("user"), "event_ts": runtime.state.new_ts(runtime.now())}
    events.emit(runtime, event, channel)


def _show_pins(runtime: Runtime, channel: Channel, message: Json, kind: str, *, user: str) -> None:
    runtime.tell(channel, {"type": "pins", "channel": channel.id, "pins": pinned_ts(channel)})
    event = {
        "type": kind,
        "user": user,
        "channel_id": channel.id,
        "item": {"type": "message", "channel": channel.id, "message": copy(message)},
        "pin_count": len(channel.pins),
        "event_ts": runtime.state.new_ts(runtime.now()),
    }
    events.emit(runtime, event, channel)
