"""conversations.* and users.conversations: channels, their members and their messages."""

from decimal import Decimal, InvalidOperation

from slack_on_loopback import access, channels
from slack_on_loopback.api_call import ApiCall, Arguments, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, without
from slack_on_loopback.methods.paging import page
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel

_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history")
_TYPES = {"public_channel": "channel", "private_channel": "group", "im": "im"}


def info(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.info."""
    channel = _visible_channel(runtime, call)
    fields = channels.channel_object(channel, call.app.bot_user)
    if not call.args.flag("include_num_members"):
        fields.pop("num_members", None)
    return {"channel": fields}


def of_user(runtime: Runtime, call: ApiCall) -> Json:
    """users.conversations: those the app is in; with `user`, those it shares with them."""
    if runtime.state.is_org_wide:
        call.args.required("team_id")
    user = access.known_user(runtime, call.args.text("user") or call.app.bot_user)
    kinds = _kinds(call.args)
    matches = [
        channel
        for channel in runtime.state.channels.values()
        if channel.kind() in kinds
        and {user.id, call.app.bot_user} <= set(channel.members)
        and not (channel.is_archived and call.args.flag("exclude_archived"))
    ]
    rows, cursor = page(matches, call.args, 100, 999)
    objects = [channels.channel_object(channel, call.app.bot_user) for channel in rows]
    return {"channels": objects, "response_metadata": {"next_cursor": cursor}}


def members(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.members."""
    channel = _visible_channel(runtime, call)
    ids, cursor = page(channel.members, call.args, 100, 999)
    return {"members": ids, "response_metadata": {"next_cursor": cursor}}


def history(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.history: newest first, without the replies of threads."""
    _charge(runtime, call)
    channel = access.readable_channel(runtime, call.app, call.args.required("channel"))
    roots = [root for root in channel.roots() if _within(root["ts"], call.args)]
    return {
        **_messages(runtime, list(reversed(roots)), call, 100),
        "pin_count": len(channel.pins),
    }


def replies(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.replies: the root, then its replies, oldest first."""
    _charge(runtime, call)
    channel = access.readable_channel(runtime, call.app, call.args.required("channel"))
    ts = call.args.required("ts")
    if ts not in channel.messages:
        raise SlackRefusal("thread_not_found")
    root = channel.messages[ts].get("thread_ts") or ts
    first, *rest = channel.thread(root)
    messages = [first, *(message for message in rest if _within(message["ts"], call.args))]
    return _messages(runtime, messages, call, 1000)


def _charge(runtime: Runtime, call: ApiCall) -> None:
    pace = runtime.config.pace
    runtime.charge(call.app.id, call.method, pace.tier(pace.history_tier))


def _visible_channel(runtime: Runtime, call: ApiCall) -> Channel:
    channel = access.visible_channel(runtime, call.app, call.args.required("channel"))
    access.need_scope(call.app, f"{channel.family()}:read")
    return channel


def _kinds(args: Arguments) -> set[str]:
    names = args.names("types") or ["public_channel"]
    unknown = [name for name in names if name not in {*_TYPES, "mpim"}]
    if unknown:
        raise SlackRefusal("invalid_types")
    return {_TYPES[name] for name in names if name in _TYPES}


def _messages(runtime: Runtime, messages: list[Json], call: ApiCall, default: int) -> Json:
    rows, cursor = page(messages, call.args, default, 1000, longest=runtime.config.pace.page)
    hidden = ("channel",) if call.args.flag("include_all_metadata") else ("channel", "metadata")
    body: Json = {
        "messages": [without(message, hidden) for message in rows],
        "has_more": bool(cursor),
    }
    return {**body, **({"response_metadata": {"next_cursor": cursor}} if cursor else {})}


def _within(ts: str, args: Arguments) -> bool:
    oldest, latest = (
        _moment(args, "oldest", "invalid_ts_oldest"),
        _moment(args, "latest", "invalid_ts_latest"),
    )
    at = Decimal(ts)
    if args.flag("inclusive"):
        return (oldest is None or at >= oldest) and (latest is None or at <= latest)
    return (oldest is None or at > oldest) and (latest is None or at < latest)


def _moment(args: Arguments, name: str, refusal: str) -> Decimal | None:
    if not args.text(name):
        return None
    try:
        return Decimal(args.text(name))
    except InvalidOperation:
        raise SlackRefusal(refusal) from None


METHODS: Methods = {
    "conversations.info": Method(info, _READ, tier=3),
    "conversations.members": Method(members, _READ, tier=4),
    "conversations.history": Method(history, _HISTORY, tier=None),
    "conversations.replies": Method(replies, _HISTORY, tier=None),
    "users.conversations": Method(of_user, _READ, tier=3),
}
