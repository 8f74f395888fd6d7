"""conversations.* and users.conversations: channels, their members and their messages."""

from decimal import Decimal, InvalidOperation

from slack_on_loopback import access, channels
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, without
from slack_on_loopback.methods.paging import page
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel

_READ = ("channels:read", "groups:read", "im:read")
_HISTORY = ("channels:history", "groups:history", "im:history")
_TYPES = {"public_channel": "channel", "private_channel": "group", "im": "im"}


def info(runtime: Runtime, call: ApiCall) -> Json:
    channel = _visible_channel(runtime, call)
    return {"channel": channels.channel_object(channel, runtime.app.bot_user)}


def of_user(runtime: Runtime, call: ApiCall) -> Json:
    """users.conversations: the app's channels; with `user`, those it shares with the user."""
    if runtime.state.is_org_wide:
        call.required("team_id")
    bot = runtime.app.bot_user
    user = access.known_user(runtime, call.text("user") or bot)
    names = call.names("types") or ["public_channel"]
    if not set(names) <= {*_TYPES, "mpim"}:
        raise SlackRefusal("invalid_types")
    kinds = {_TYPES[name] for name in names if name in _TYPES}
    matches = [
        channel
        for channel in runtime.state.channels.values()
        if channel.kind() in kinds
        and {user.id, bot} <= set(channel.members)
        and not (channel.is_archived and call.flag("exclude_archived"))
    ]
    rows, cursor = page(matches, call, 100, 999)
    objects = [channels.channel_object(channel, bot) for channel in rows]
    return {"channels": objects, "response_metadata": {"next_cursor": cursor}}


def members(runtime: Runtime, call: ApiCall) -> Json:
    ids, cursor = page(_visible_channel(runtime, call).members, call, 100, 999)
    return {"members": ids, "response_metadata": {"next_cursor": cursor}}


def history(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.history: newest first, without the replies of threads."""
    channel = _channel_to_read(runtime, call)
    roots = [root for root in channel.roots() if _is_within(root["ts"], call)]
    return {**_messages(runtime, roots[::-1], call, 100), "pin_count": len(channel.pins)}


def replies(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.replies: the root, then its replies, oldest first."""
    channel, ts = _channel_to_read(runtime, call), call.required("ts")
    if ts not in channel.messages:
        raise SlackRefusal("thread_not_found")
    first, *rest = channel.thread(channel.messages[ts].get("thread_ts") or ts)
    messages = [first, *(message for message in rest if _is_within(message["ts"], call))]
    return _messages(runtime, messages, call, 1000)


def _channel_to_read(runtime: Runtime, call: ApiCall) -> Channel:
    pace = runtime.config.pace
    runtime.charge(call.method, pace.tier(pace.history_tier))
    return access.readable_channel(runtime, call.required("channel"))


def _visible_channel(runtime: Runtime, call: ApiCall) -> Channel:
    channel = access.visible_channel(runtime, call.required("channel"))
    access.need_scope(runtime.app, f"{channel.family()}:read")
    return channel


def _messages(runtime: Runtime, messages: list[Json], call: ApiCall, default: int) -> Json:
    rows, cursor = page(messages, call, default, 1000, longest=runtime.config.pace.page)
    hidden = ("channel",) if call.flag("include_all_metadata") else ("channel", "metadata")
    return {
        "messages": [without(message, hidden) for message in rows],
        "has_more": bool(cursor),
        **({"response_metadata": {"next_cursor": cursor}} if cursor else {}),
    }


def _is_within(ts: str, call: ApiCall) -> bool:
    at, oldest, latest = Decimal(ts), _moment(call, "oldest"), _moment(call, "latest")
    if call.flag("inclusive") and at in {oldest, latest}:
        return True
    return (oldest is None or at > oldest) and (latest is None or at < latest)


def _moment(call: ApiCall, name: str) -> Decimal | None:
    try:
        return Decimal(call.text(name)) if call.text(name) else None
    except InvalidOperation:
        raise SlackRefusal(f"invalid_ts_{name}") from None


METHODS: Methods = {
    "conversations.info": Method(info, _READ, tier=3),
    "conversations.members": Method(members, _READ, tier=4),
    "conversations.history": Method(history, _HISTORY, tier=None),
    "conversations.replies": Method(replies, _HISTORY, tier=None),
    "users.conversations": Method(of_user, _READ, tier=3),
}
