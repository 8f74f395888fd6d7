"""Events API payloads: who gets which event, and in which envelope.

Source: https://docs.slack.dev/apis/events-api and /reference/events.
"""

from slack_on_loopback.json_values import Json, text_at, without
from slack_on_loopback.rules import mentions
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, StoredFile

# What a subscription needs besides itself; message.* needs the history scope of its channel kind.
_SCOPES = {
    "agent_session_stopped": "assistant:write",
    "app_mention": "app_mentions:read",
    "file_shared": "files:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "pin_added": "pins:read",
    "pin_removed": "pins:read",
}
_NOT_IN_EVENTS = ("metadata", "pinned_to", "reply_count", "reply_users", "latest_reply", "viewer")


def emit(runtime: Runtime, event: Json, channel: Channel) -> None:
    """Send an event about a channel to the subscribed apps that are members of it."""
    for app in runtime.apps_where(lambda app: _wants(app, event, channel)):
        send(runtime, app, event)


def emit_message(runtime: Runtime, message: Json, channel: Channel) -> None:
    """Send a message event, and app_mention besides when it mentions an app."""
    event = without(message, _NOT_IN_EVENTS)
    event |= {"event_ts": message["ts"], "channel_type": channel.kind()}
    emit(runtime, event, channel)
    _emit_mention(runtime, event, channel)


def emit_change(runtime: Runtime, channel: Channel, message: Json, before: Json) -> None:
    """Send message_changed, and app_mention once more when the text still mentions an app.

    Slack sends app_mention for an edited message too: with the message's own ts, an `edited` field
    and an event_id of its own.
    """
    ts = runtime.state.new_ts(runtime.now())
    change = {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind(),
        "ts": ts,
        "event_ts": ts,
        "message": without(message, _NOT_IN_EVENTS),
        "previous_message": without(before, _NOT_IN_EVENTS),
    }
    emit(runtime, change, channel)
    if message.get("edited") and text_at(message, "text") != text_at(before, "text"):
        again = without(message, _NOT_IN_EVENTS)
        _emit_mention(runtime, {**again, "event_ts": ts}, channel)


def _emit_mention(runtime: Runtime, event: Json, channel: Channel) -> None:
    """Send app_mention to the apps that a message mentions."""
    if event.get("subtype") not in {None, "file_share", "thread_broadcast"}:
        return
    for app in runtime.apps_where(lambda app: _mentioned(app, event, channel)):
        plain = without(event, ("subtype", "channel_type"))
        send(runtime, app, {**plain, "type": "app_mention"})


def emit_deletion(runtime: Runtime, channel: Channel, before: Json) -> None:
    """Send message_deleted."""
    ts = runtime.state.new_ts(runtime.now())
    deletion = {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind(),
        "ts": ts,
        "event_ts": ts,
        "deleted_ts": before["ts"],
        "previous_message": without(before, _NOT_IN_EVENTS),
    }
    emit(runtime, deletion, channel)


def emit_file(runtime: Runtime, channel: Channel, stored: StoredFile, user: str) -> None:
    """Send file_shared: ids only, the app asks files.info for the rest."""
    event: Json = {
        "type": "file_shared",
        "file_id": stored.id,
        "file": {"id": stored.id},
        "user_id": user,
        "channel_id": channel.id,
        "event_ts": runtime.state.new_ts(runtime.now()),
    }
    emit(runtime, event, channel)


def send(runtime: Runtime, app: App, event: Json) -> None:
    """Send an event to one app, whatever it subscribed to."""
    payload = _envelope(runtime, app, event)
    dispatcher = runtime.connections[app.id].dispatcher
    dispatcher.deliver_event(payload)
    if runtime.faults.take_double():
        dispatcher.deliver_event(payload)


def is_subscribed(app: App, event: Json, channel: Channel | None) -> bool:
    """Whether an app subscribed to an event and has the scope for it."""
    kind = text_at(event, "type")
    if kind == "message" and channel is not None:
        topic = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}
        return topic[channel.kind()] in app.events and f"{channel.family()}:history" in app.scopes
    needed = _SCOPES.get(kind)
    return kind in app.events and (needed is None or needed in app.scopes)


def _wants(app: App, event: Json, channel: Channel) -> bool:
    leaver = event.get("type") == "member_left_channel" and event.get("user") == app.bot_user
    member = app.bot_user in channel.members or leaver
    return member and is_subscribed(app, event, channel)


def _mentioned(app: App, event: Json, channel: Channel) -> bool:
    mention = {"type": "app_mention"}
    by_itself = event.get("bot_id") == app.bot_id
    text = text_at(event, "text")
    return _wants(app, mention, channel) and not by_itself and mentions(text, app.bot_user)


def _envelope(runtime: Runtime, app: App, event: Json) -> Json:
    state = runtime.state
    return {
        "token": app.verification_token,
        "team_id": state.team_id,
        **({"enterprise_id": state.enterprise_id} if state.enterprise_id else {}),
        "context_team_id": state.team_id,
        "context_enterprise_id": state.enterprise_id or None,
        "api_app_id": app.id,
        "event": event,
        "type": "event_callback",
        "event_id": runtime.state.new_id("Ev"),
        "event_time": int(runtime.now()),
        "authorizations": [
            {
                "enterprise_id": state.enterprise_id or None,
                "team_id": None if state.is_org_wide else state.team_id,
                "user_id": app.bot_user,
                "is_bot": True,
                "is_enterprise_install": state.is_org_wide,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": runtime.state.new_id("4-"),
    }
