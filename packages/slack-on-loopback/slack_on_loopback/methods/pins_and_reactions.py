"""pins.* and reactions.*: marks on messages."""

from slack_on_loopback import access, posting
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel


def add_pin(runtime: Runtime, call: ApiCall) -> Json:
    """pins.add."""
    channel, ts = _marked(runtime, call, "timestamp")
    posting.pin(runtime, channel, ts, call.app.bot_user)
    return {}


def remove_pin(runtime: Runtime, call: ApiCall) -> Json:
    """pins.remove."""
    channel, ts = _marked(runtime, call, "timestamp")
    posting.unpin(runtime, channel, ts, call.app.bot_user)
    return {}


def list_pins(runtime: Runtime, call: ApiCall) -> Json:
    """pins.list."""
    channel = access.visible_channel(runtime, call.app, call.args.required("channel"))
    access.require_member(call.app, channel)
    items = [
        {
            "type": "message",
            "channel": channel.id,
            "created": pin.created,
            "created_by": pin.user,
            "message": copy(channel.messages[pin.ts]),
        }
        for pin in reversed(channel.pins)
        if pin.ts in channel.messages
    ]
    return {"items": items}


def add_reaction(runtime: Runtime, call: ApiCall) -> Json:
    """reactions.add."""
    channel, ts = _marked(runtime, call, "timestamp")
    posting.react(runtime, channel, ts, user=call.app.bot_user, name=_emoji(call))
    return {}


def _emoji(call: ApiCall) -> str:
    name = call.args.text("name").strip(":")
    if not name:
        raise SlackRefusal("invalid_name")
    return name


def _marked(runtime: Runtime, call: ApiCall, ts_name: str) -> tuple[Channel, str]:
    channel = access.visible_channel(runtime, call.app, call.args.required("channel"))
    access.require_member(call.app, channel)
    access.require_open(channel)
    ts = call.args.text(ts_name)
    if not ts:
        raise SlackRefusal("no_item_specified")
    return channel, ts


METHODS: Methods = {
    "pins.add": Method(add_pin, ("pins:write",), tier=2),
    "pins.remove": Method(remove_pin, ("pins:write",), tier=2),
    "pins.list": Method(list_pins, ("pins:read",), tier=2),
    "reactions.add": Method(add_reaction, ("reactions:write",), tier=3),
}
