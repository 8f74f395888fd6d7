"""Events API payloads: which events the app gets, and in which envelope.

Source: https://docs.slack.dev/apis/events-api and /reference/events.
"""

from slack_on_loopback.json_values import Json, text_at, without
from slack_on_loopback.rules import mentions
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel

# The scope of each subscription; message.* needs the history scope of its channel kind.
_SCOPES = {"agent_session_stopped": "assistant:write", "app_mention": "app_mentions:read"}
_NOT_IN_EVENTS = ("metadata", "pinned_to", "reply_count", "reply_users", "latest_reply", "viewer")


def emit(runtime: Runtime, event: Json, channel: Channel) -> None:
    """Send an event about a channel, if the app is subscribed to it and a member of it."""
    if runtime.app.bot_user in channel.members and is_subscribed(runtime.app, event, channel):
        send(runtime, event)


def emit_message(runtime: Runtime, message: Json, channel: Channel) -> None:
    """Send a message event, and app_mention if it mentions the app."""
    event = without(message, _NOT_IN_EVENTS)
    event |= {"event_ts": message["ts"], "channel_type": channel.kind()}
    emit(runtime, event, channel)
    _emit_mention(runtime, event, channel)


def emit_change(runtime: Runtime, channel: Channel, message: Json, before: Json) -> None:
    """Send message_changed, and app_mention again if the new text mentions the app.

    Slack sends app_mention for an edited message too: with the message's own ts, an `edited` field
    and an event_id of its own.
    """
    change = _message_event(runtime, channel, "message_changed", before)
    change["message"] = without(message, _NOT_IN_EVENTS)
    emit(runtime, change, channel)
    if message.get("edited") and text_at(message, "text") != text_at(before, "text"):
        _emit_mention(runtime, {**change["message"], "event_ts": change["ts"]}, channel)


def emit_deletion(runtime: Runtime, channel: Channel, before: Json) -> None:
    """Send message_deleted."""
    deletion = _message_event(runtime, channel, "message_deleted", before)
    emit(runtime, {**deletion, "deleted_ts": before["ts"]}, channel)


def _message_event(runtime: Runtime, channel: Channel, subtype: str, before: Json) -> Json:
    ts = runtime.new_ts()
    return {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind(),
        "ts": ts,
        "event_ts": ts,
        "previous_message": without(before, _NOT_IN_EVENTS),
    }


def _emit_mention(runtime: Runtime, event: Json, channel: Channel) -> None:
    app = runtime.app
    by_itself = event.get("bot_id") == app.bot_id
    is_new = event.get("subtype") in {None, "file_share", "thread_broadcast"}
    if is_new and not by_itself and mentions(text_at(event, "text"), app.bot_user):
        plain = without(event, ("subtype", "channel_type"))
        emit(runtime, {**plain, "type": "app_mention"}, channel)


def send(runtime: Runtime, event: Json) -> None:
    """Send an event to the app, without a check of subscriptions."""
    if runtime.app.revoked:
        return
    payload = _envelope(runtime, event)
    runtime.dispatcher.deliver_event(payload)
    if runtime.faults.double_events:
        runtime.faults.double_events -= 1
        runtime.dispatcher.deliver_event(payload)


def is_subscribed(app: App, event: Json, channel: Channel | None = None) -> bool:
    """Whether the app subscribed to an event and has the scope for it."""
    kind = text_at(event, "type")
    if kind == "message" and channel is not None:
        topic = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}
        return topic[channel.kind()] in app.events and f"{channel.family()}:history" in app.scopes
    needed = _SCOPES.get(kind)
    return kind in app.events and (needed is None or needed in app.scopes)


def _envelope(runtime: Runtime, event: Json) -> Json:
    state = runtime.state
    return {
        "token": state.app.verification_token,
        "team_id": state.team_id,
        **({"enterprise_id": state.enterprise_id} if state.enterprise_id else {}),
        "context_team_id": state.team_id,
        "context_enterprise_id": state.enterprise_id or None,
        "api_app_id": state.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": state.new_id("Ev"),
        "event_time": int(runtime.now()),
        "authorizations": [
            {
                "enterprise_id": state.enterprise_id or None,
                "team_id": None if state.is_org_wide else state.team_id,
                "user_id": state.app.bot_user,
                "is_bot": True,
                "is_enterprise_install": state.is_org_wide,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": state.new_id("4-"),
    }
