"""Where people click: messages and views, the element in them, and what they chose."""

from dataclasses import dataclass, field

from slack_on_loopback import modals
from slack_on_loopback.blocks import interactive_elements
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json, child, compact, copy, objects, present, text_at
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, User

_BUTTONS = frozenset({"button", "feedback_buttons"})


@dataclass(frozen=True, slots=True)
class SurfaceRef:
    """A message (channel and ts) or a view, as the page names it."""

    channel: str = ""
    message_ts: str = ""
    view_id: str = ""


@dataclass(frozen=True, slots=True)
class Surface:
    """A message or view that was found.

    Attributes:
        source: the message or view itself.
        app_id: whose it is.
        view_id: empty for a message.
        channel: None for a view.
        values: what is typed and chosen there (`state.values`).
    """

    source: Json
    app_id: str
    view_id: str = ""
    channel: Channel | None = None
    values: Json = field(default_factory=dict[str, "Json"])

    def element(self, block_id: str, action_id: str) -> Json:
        """Return an interactive element.

        Raises:
            PersonRefusal: no_such_element.
        """
        for found_block, element in interactive_elements(_all_blocks(self.source)):
            if element["action_id"] == action_id and block_id in {"", found_block}:
                return {**element, "block_id": found_block}
        raise PersonRefusal("no_such_element", "This button or menu is not there any more.")

    def payload(self) -> Json:
        """Return the parts of an interaction payload that say where it happened."""
        if self.channel is None:
            return {
                "container": {"type": "view", "view_id": self.view_id},
                "view": copy(self.source),
            }
        ephemeral = bool(self.source.get("is_ephemeral"))
        container = {
            "type": "message",
            "message_ts": self.source["ts"],
            "channel_id": self.channel.id,
            "is_ephemeral": ephemeral,
            **present(thread_ts=self.source.get("thread_ts")),
        }
        # Slack leaves out the message of an ephemeral one: the app must know it by itself.
        message = {} if ephemeral else {"message": copy(self.source)}
        return {
            "container": container,
            "channel": {"id": self.channel.id, "name": self.channel.name},
            **message,
            "state": {"values": copy(self.values)},
        }


def find_app(runtime: Runtime, app_id: str) -> App:
    """Return an installed app.

    Raises:
        PersonRefusal: no_app.
    """
    app = runtime.state.apps.get(app_id)
    if app is None or app.revoked:
        raise PersonRefusal("no_app", "The app is not installed any more.")
    return app


def find_command(runtime: Runtime, word: str) -> tuple[App, Json]:
    """Return the app that has a slash command, and the command's entry in its manifest.

    Raises:
        PersonRefusal: unknown_command.
    """
    for app in runtime.apps_where(lambda app: "commands" in app.scopes):
        for command in app.commands:
            if command.get("command") == word:
                return app, command
    raise PersonRefusal("unknown_command", f"{word} is not a valid command.")


def find_surface(runtime: Runtime, user: User, where: SurfaceRef) -> Surface:
    """Find the message or view a person sees.

    Raises:
        PersonRefusal: not_found.
    """
    try:
        if where.view_id:
            view = modals.find(runtime, user.id, where.view_id)
            return Surface(view, text_at(view, "app_id"), view_id=where.view_id)
        return _message_surface(runtime, user, where)
    except SlackRefusal as refused:
        raise PersonRefusal("not_found", "This is not there any more.") from refused


def take_action(runtime: Runtime, surface: Surface, choice: Json) -> Json:
    """Return the entry of `actions`, and remember what was chosen.

    Raises:
        PersonRefusal: no_such_element, no_such_option.
    """
    element = surface.element(text_at(choice, "block_id"), text_at(choice, "action_id"))
    kind = text_at(element, "type")
    action: Json = {
        "type": kind,
        "action_id": element["action_id"],
        "block_id": element["block_id"],
        "action_ts": runtime.state.new_ts(runtime.now()),
    }
    if kind in _BUTTONS:
        action |= {k: copy(element)[k] for k in ("text", "value", "style", "url") if k in element}
        if kind == "feedback_buttons":
            action["value"] = text_at(choice, "value")
    else:
        action |= _chosen(element, choice)
    _remember(surface, child(choice, "values"), action)
    return action


def _message_surface(runtime: Runtime, user: User, where: SurfaceRef) -> Surface:
    channel = runtime.state.channel(where.channel)
    own = (
        message
        for message in runtime.ephemeral
        if message["viewer"] == user.id and message["ts"] == where.message_ts
    )
    message = next(own, None) or channel.messages.get(where.message_ts)
    if message is None or not channel.sees(user.id):
        raise SlackRefusal("message_not_found")
    key = (user.id, f"{channel.id}/{where.message_ts}")
    values = runtime.typed.setdefault(key, {"values": {}})["values"]
    for block_id, actions in modals.initial_values(objects(message.get("blocks"))).items():
        for action_id, entry in actions.items():
            values.setdefault(block_id, {}).setdefault(action_id, entry)
    return Surface(message, text_at(message, "app_id"), channel=channel, values=values)


def _all_blocks(source: Json) -> list[Json]:
    attached = [
        block
        for item in objects(source.get("attachments"))
        for block in objects(item.get("blocks"))
    ]
    return [*objects(source.get("blocks")), *attached]


def _chosen(element: Json, choice: Json) -> Json:
    name = modals.VALUE_FIELD.get(text_at(element, "type"), "value")
    value = choice.get(name)
    _check_options(element, objects([value]) + objects(value))
    return {name: copy({"value": value})["value"]}


def _check_options(element: Json, options: list[Json]) -> None:
    groups = [
        option for g in objects(element.get("option_groups")) for option in objects(g["options"])
    ]
    offered = {text_at(item, "value") for item in [*objects(element.get("options")), *groups]}
    if offered and not {text_at(option, "value") for option in options} <= offered:
        raise PersonRefusal("no_such_option", f"Not an option: {compact(options)}")


def _remember(surface: Surface, typed: Json, action: Json) -> None:
    values = child(surface.source, "state", "values") if surface.view_id else surface.values
    modals.keep_typed(values, typed)
    entry = child(values, text_at(action, "block_id"), text_at(action, "action_id"))
    name = modals.VALUE_FIELD.get(text_at(action, "type"))
    if name in entry:
        entry[name] = action[name]
