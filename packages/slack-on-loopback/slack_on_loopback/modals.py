"""Views: the modal that a user has open, and what was typed into it."""

import secrets
from typing import Any

from slack_on_loopback.blocks import interactive_elements, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, child, copy, objects, present, text_at
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App

_GIVEN = ("title", "submit", "close", "callback_id", "private_metadata")
# element type → the field its value is in, in `state.values`
VALUE_FIELD = {
    "plain_text_input": "value",
    "static_select": "selected_option",
    "multi_static_select": "selected_options",
    "checkboxes": "selected_options",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
}
_LISTS = frozenset({"selected_options", "selected_users"})
_INITIAL = {
    "value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_users": "initial_users",
    "selected_conversation": "initial_conversation",
    "selected_date": "initial_date",
}


def new_view(runtime: Runtime, app: App, view: Json) -> Json:
    """Return a view object with everything Slack adds."""
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
        if field is None:
            continue
        empty: list[Any] | None = [] if field in _LISTS else None
        initial = element.get(_INITIAL[field], empty)
        entry = {"type": element["type"], field: initial}
        values.setdefault(block_id, {})[element["action_id"]] = entry
    return values


def show(runtime: Runtime, user: str, view: Json) -> None:
    """Show a view as the modal of a user, in the place of one that is open."""
    close(runtime, user)
    runtime.modals[user] = view
    runtime.feed.tell_user(user, {"type": "view_opened", "view": copy(view)})
    runtime.notify_change()


def close(runtime: Runtime, user: str) -> None:
    """Close the modal of a user, if there is one."""
    view = runtime.modals.pop(user, None)
    if view is not None:
        runtime.feed.tell_user(user, {"type": "view_closed", "view_id": view["id"]})
        runtime.notify_change()


def replace_view(runtime: Runtime, user: str, stored: Json, view: Json) -> Json:
    """Change a view in place; what was typed stays where ids are the same."""
    typed = child(stored, "state", "values")
    for key in _GIVEN:
        stored.pop(key, None)
    _fill(runtime, stored, view)
    keep_typed(child(stored, "state", "values"), typed)
    runtime.feed.tell_user(user, {"type": "view_updated", "view": copy(stored)})
    runtime.notify_change()
    return stored


def find(runtime: Runtime, user: str, view_id: str) -> Json:
    """Return an open modal or published Home of a user.

    Raises:
        SlackRefusal: not_found.
    """
    homes = [home for key, home in runtime.state.homes.items() if key.endswith(f":{user}")]
    modal = runtime.modals.get(user)
    for view in [*([modal] if modal else []), *homes]:
        if view["id"] == view_id:
            return view
    raise SlackRefusal("not_found")


def find_own(runtime: Runtime, app: App, view_id: str) -> tuple[str, Json]:
    """Return an open modal of an app, and whose screen it is on.

    Raises:
        SlackRefusal: not_found.
    """
    for user, view in runtime.modals.items():
        if view["id"] == view_id and view["app_id"] == app.id:
            return user, view
    raise SlackRefusal("not_found")


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
            "clear_on_close": False,
            "notify_on_close": False,
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
