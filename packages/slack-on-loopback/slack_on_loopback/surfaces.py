"""Messages and views in which people click, and the elements and values in them."""

from dataclasses import dataclass

from slack_on_loopback import modals
from slack_on_loopback.blocks import interactive_elements
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json, child, compact, copy, objects, present, text_at
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, User


@dataclass(frozen=True, slots=True)
class SurfaceRef:
    """A message (channel and ts) or a view, as the page names it."""

    channel: str = ""
    message_ts: str = ""
    view_id: str = ""


@dataclass(frozen=True, slots=True)
class Surface:
    """A message or view with its channel.

    Attributes:
        source: the message or view itself.
        channel: None for a view.
    """

    source: Json
    channel: Channel | None = None

    def payload(self) -> Json:
        """Return the parts of an interaction payload that describe the surface."""
        source = copy(self.source)
        if self.channel is None:
            return {"container": {"type": "view", "view_id": source["id"]}, "view": source}
        ephemeral = bool(source.get("is_ephemeral"))
        container = {
            "type": "message",
            "message_ts": source["ts"],
            "channel_id": self.channel.id,
            "is_ephemeral": ephemeral,
            **present(thread_ts=source.get("thread_ts")),
        }
        return {
            "container": container,
            "channel": {"id": self.channel.id, "name": self.channel.name},
            # Slack sends no message for an ephemeral one.
            **({} if ephemeral else {"message": source}),
            "state": {"values": {}},
        }


def find_surface(runtime: Runtime, user: User, where: SurfaceRef) -> Surface:
    """Find the message or view a person sees."""
    try:
        if where.view_id:
            return Surface(modals.find(runtime, user.id, where.view_id))
        channel = runtime.state.channel(where.channel)
    except SlackRefusal as refused:
        raise _gone() from refused
    own = (
        message
        for message in runtime.ephemeral
        if message["viewer"] == user.id and message["ts"] == where.message_ts
    )
    message = next(own, None) or channel.messages.get(where.message_ts)
    if message is None or not channel.sees(user.id):
        raise _gone()
    return Surface(message, channel)


def _gone() -> PersonRefusal:
    return PersonRefusal("not_found", "This is not there any more.")


def take_action(runtime: Runtime, surface: Surface, choice: Json) -> Json:
    """Return the entry of `actions`, and store the values of a view.

    Raises:
        PersonRefusal: no_such_element, no_such_option.
    """
    block_id, element = _element(surface.source, choice)
    kind = text_at(element, "type")
    action: Json = {
        "type": kind,
        "action_id": element["action_id"],
        "block_id": block_id,
        "action_ts": runtime.new_ts(),
    }
    if kind == "button":
        action |= copy({key: element[key] for key in ("text", "value", "style") if key in element})
    elif kind == "feedback_buttons":
        action["value"] = text_at(choice, "value")
    else:
        field = modals.VALUE_FIELD[kind]
        action |= copy({field: choice.get(field)})
        chosen = [*objects([action[field]]), *objects(action[field])]
        offered = {text_at(option, "value") for option in objects(element.get("options"))}
        if not {text_at(option, "value") for option in chosen} <= offered:
            raise PersonRefusal("no_such_option", f"Not an option: {compact(chosen)}")
    modals.keep_typed(surface.source, child(choice, "values"))
    modals.keep_typed(surface.source, {block_id: {element["action_id"]: action}})
    return action


def _element(source: Json, choice: Json) -> tuple[str, Json]:
    wanted, action_id = text_at(choice, "block_id"), text_at(choice, "action_id")
    for block_id, element in interactive_elements(objects(source.get("blocks"))):
        if element["action_id"] == action_id and wanted in {"", block_id}:
            return block_id, element
    raise PersonRefusal("no_such_element", "This button or menu is not there any more.")
