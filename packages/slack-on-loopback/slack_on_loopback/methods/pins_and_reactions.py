"""pins.* and reactions.*: marks on messages."""

from slack_on_loopback import access, posting
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel


def add_pin(runtime: Runtime, call: ApiCall) -> Json:
    posting.pin(runtime, *_marked(runtime, call), runtime.app.bot_user)
    return {}


def remove_pin(runtime: Runtime, call: ApiCall) -> Json:
    posting.unpin(runtime, *_marked(runtime, call))
    return {}


def add_reaction(runtime: Runtime, call: ApiCall) -> Json:
    name, user = call.text("name").strip(":"), runtime.app.bot_user
    posting.react(runtime, *_marked(runtime, call), user=user, name=name)
    return {}


def _marked(runtime: Runtime, call: ApiCall) -> tuple[Channel, str]:
    channel = access.joined_channel(runtime, call.required("channel"))
    access.require_open(channel)
    if not call.has("timestamp"):
        raise SlackRefusal("no_item_specified")
    return channel, call.text("timestamp")


METHODS: Methods = {
    "pins.add": Method(add_pin, ("pins:write",), tier=2),
    "pins.remove": Method(remove_pin, ("pins:write",), tier=2),
    "reactions.add": Method(add_reaction, ("reactions:write",), tier=3),
}
