"""Views: the stack of modals a user has open, and what was typed into them."""

import secrets
from typing import Any

from slack_on_loopback.blocks import interactive_elements, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, child, copy, objects, present, text_at
from slack_on_loopback.rules import MOST_VIEWS
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App
from slack_on_loopback.triggers import Trigger

_GIVEN = ("title", "submit", "close", "callback_id", "private_metadata", "external_id")
# element type → the field its value is in, in `state.values`
VALUE_FIELD = {
    "plain_text_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "number_input": "value",
    "rich_text_input": "rich_text_value",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "overflow": "selected_option",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "multi_conversations_select": "selected_conversations",
    "channels_select": "selected_channel",
    "multi_channels_select": "selected_channels",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "file_input": "files",
}
_LISTS = frozenset(
    {"selected_options", "selected_users", "selected_conversations", "selected_channels", "files"}
)
_INITIAL = {
    "value": "initial_value",
    "rich_text_value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_user": "initial_user",
    "selected_users": "initial_users",
    "selected_conversation": "initial_conversation",
    "selected_conversations": "initial_conversations",
    "selected_channel": "initial_channel",
    "selected_channels": "initial_channels",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
    "selected_date_time": "initial_date_time",
}


def new_view(runtime: Runtime, app: App, view: Json) -> Json:
    """Return a view object with everything Slack adds.

    Raises:
        SlackRefusal: duplicate_external_id.
    """
    external = text_at(view, "external_id")
    views = (v for stack in runtime.modals.values() for v in stack)
    if external and any(text_at(view, "external_id") == external for view in views):
        raise SlackRefusal("duplicate_external_id")
    view_id = runtime.state.new_id("V")
    fields: Json = {
        "id": view_id,
        "team_id": runtime.state.team_id,
        "app_id": app.id,
        "app_installed_team_id": runtime.state.team_id,
        "bot_id": app.bot_id,
        "root_view_id": view_id,
        "previous_view_id": None,
    }
    _fill(runtime, fields, view)
    return fields


def initial_values(blocks: list[Json]) -> Json:
    """Return `state.values` before anybody has typed."""
    values: Json = {}
    for block_id, element in interactive_elements(blocks):
        field = VALUE_FIELD.get(text_at(element, "type"))
        if field is None or element["type"] == "overflow":
            continue
        empty: list[Any] | None = [] if field in _LISTS else None
        initial = element.get(_INITIAL.get(field, ""), empty)
        entry = {"type": element["type"], field: initial}
        values.setdefault(block_id, {})[element["action_id"]] = entry
    return values


def show_first(runtime: Runtime, user: str, view: Json) -> None:
    """Show a view as the only modal of a user."""
    close_all(runtime, user)
    runtime.modals[user] = [view]
    runtime.feed.tell_user(user, {"type": "view_opened", "view": copy(view)})
    runtime.changed()


def require_room(runtime: Runtime, trigger: Trigger) -> None:
    """Check that one more view fits on a user's stack.

    Raises:
        SlackRefusal: push_limit_reached; not_found when the modal is gone.
    """
    stack = runtime.modals.get(trigger.user, [])
    if trigger.view_id not in {view["id"] for view in stack}:
        raise SlackRefusal("not_found")
    if len(stack) >= MOST_VIEWS:
        raise SlackRefusal("push_limit_reached")


def push(runtime: Runtime, app: App, user: str, view: Json) -> Json:
    """Put a view on top of a user's stack."""
    stack = runtime.modals[user]
    pushed = new_view(runtime, app, view)
    pushed["previous_view_id"] = stack[-1]["id"]
    pushed["root_view_id"] = stack[0]["id"]
    stack.append(pushed)
    runtime.feed.tell_user(user, {"type": "view_pushed", "view": copy(pushed)})
    runtime.changed()
    return pushed


def replace_view(runtime: Runtime, user: str, stored: Json, view: Json) -> Json:
    """Change a view in place; what was typed stays where ids are the same."""
    typed = child(stored, "state", "values")
    for key in _GIVEN:
        stored.pop(key, None)
    _fill(runtime, stored, view)
    keep_typed(child(stored, "state", "values"), typed)
    runtime.feed.tell_user(user, {"type": "view_updated", "view": copy(stored)})
    runtime.changed()
    return stored


def find(runtime: Runtime, user: str, view_id: str) -> Json:
    """Return an open modal or published Home of a user.

    Raises:
        SlackRefusal: not_found.
    """
    homes = [home for key, home in runtime.state.homes.items() if key.endswith(f":{user}")]
    for view in [*runtime.modals.get(user, []), *homes]:
        if view["id"] == view_id:
            return view
    raise SlackRefusal("not_found")


def find_own(runtime: Runtime, app: App, view_id: str, external_id: str) -> tuple[str, Json]:
    """Return an open modal of an app, and whose screen it is on.

    Raises:
        SlackRefusal: not_found.
    """
    for user, stack in runtime.modals.items():
        for view in stack:
            same = view["id"] == view_id or (external_id and view.get("external_id") == external_id)
            if same and view["app_id"] == app.id:
                return user, view
    raise SlackRefusal("not_found")


def close_top(runtime: Runtime, user: str, view_id: str) -> list[Json]:
    """Close a view and those above it; return what was closed."""
    stack = runtime.modals.get(user, [])
    index = next((i for i, view in enumerate(stack) if view["id"] == view_id), len(stack))
    return _close_from(runtime, user, index)


def close_all(runtime: Runtime, user: str) -> list[Json]:
    """Close a user's whole stack; return what was closed."""
    return _close_from(runtime, user, 0)


def type_into(view: Json, values: Json) -> None:
    """Take over what a person typed; unknown blocks and actions are ignored."""
    keep_typed(child(view, "state", "values"), values)


def home_key(app: App, user: str) -> str:
    """Return the key of an app's Home for a user."""
    return f"{app.id}:{user}"


def missing_answers(view: Json) -> dict[str, str]:
    """Return what Slack's own client refuses before it sends a form: block id → words."""
    faults: dict[str, str] = {}
    values = child(view, "state", "values")
    for block in objects(view.get("blocks")):
        element = child(block, "element")
        if block.get("type") != "input":
            continue
        block_id = text_at(block, "block_id")
        entry = child(values, block_id, text_at(element, "action_id"))
        words = _wrong(block, element, entry)
        if words:
            faults[block_id] = words
    return faults


def _wrong(block: Json, element: Json, entry: Json) -> str:
    value = entry.get(VALUE_FIELD.get(text_at(element, "type"), "value"))
    if value in (None, "", []):
        return "" if block.get("optional") else "Please complete this required field."
    least, most = element.get("min_length"), element.get("max_length")
    if isinstance(value, str) and isinstance(least, int) and len(value) < least:
        return f"Please enter at least {least} characters."
    if isinstance(value, str) and isinstance(most, int) and len(value) > most:
        return f"Please enter at most {most} characters."
    if element.get("type") == "number_input":
        return _wrong_number(element, str(value))
    return ""


def _wrong_number(element: Json, value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return "Please enter a number."
    if not element.get("is_decimal_allowed") and not number.is_integer():
        return "Please enter a whole number."
    low, high = text_at(element, "min_value"), text_at(element, "max_value")
    if low and number < float(low):
        return f"Please enter a number of at least {low}."
    if high and number > float(high):
        return f"Please enter a number of at most {high}."
    return ""


def _fill(runtime: Runtime, fields: Json, view: Json) -> None:
    blocks = with_ids(objects(view.get("blocks")), "v")
    fields |= copy(
        {
            "type": view["type"],
            "blocks": blocks,
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "clear_on_close": bool(view.get("clear_on_close")),
            "notify_on_close": bool(view.get("notify_on_close")),
            "hash": f"{int(runtime.now())}.{secrets.token_hex(4)}",
            "state": {"values": initial_values(blocks)},
            **present(**{key: view.get(key) for key in _GIVEN}),
        }
    )


def keep_typed(values: Json, typed: Json) -> None:
    """Carry what was typed over to the same blocks and actions of `state.values`."""
    for block_id, actions in values.items():
        for action_id, entry in actions.items():
            value = child(typed, block_id, action_id)
            field = VALUE_FIELD[entry["type"]]
            if field in value:
                entry[field] = value[field]


def _close_from(runtime: Runtime, user: str, index: int) -> list[Json]:
    stack = runtime.modals.get(user, [])
    closed = as_list(stack[index:]) or []
    del stack[index:]
    for view in reversed(closed):
        runtime.feed.tell_user(user, {"type": "view_closed", "view_id": view["id"]})
    runtime.changed()
    return closed
