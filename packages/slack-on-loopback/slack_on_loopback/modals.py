"""Views: the open modal of each user, and its values."""

import secrets

from slack_on_loopback.blocks import interactive_elements, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, child, copy, objects, present, text_at
from slack_on_loopback.runtime import Runtime

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


def new_view(runtime: Runtime, view: Json) -> Json:
    """Return a view object with the fields that Slack adds."""
    view_id = runtime.state.new_id("V")
    fields: Json = {
        "id": view_id,
        "team_id": runtime.state.team_id,
        "app_id": runtime.app.id,
        "app_installed_team_id": runtime.state.team_id,
        "bot_id": runtime.app.bot_id,
        "root_view_id": view_id,
        "previous_view_id": None,
    }
    _fill(runtime, fields, view)
    return fields


def show(runtime: Runtime, user: str, view: Json) -> None:
    """Show a view as the modal of a user; it replaces an open one."""
    close(runtime, user)
    runtime.modals[user] = view
    runtime.feed.tell_user(user, {"type": "view_opened", "view": copy(view)})
    runtime.notify_change()


def close(runtime: Runtime, user: str) -> None:
    """Close the modal of a user, if one is open."""
    view = runtime.modals.pop(user, None)
    if view is not None:
        runtime.feed.tell_user(user, {"type": "view_closed", "view_id": view["id"]})
        runtime.notify_change()


def replace_view(runtime: Runtime, user: str, stored: Json, view: Json) -> Json:
    """Change a view in place; values of inputs with the same ids stay."""
    typed = child(stored, "state", "values")
    for key in _GIVEN:
        stored.pop(key, None)
    _fill(runtime, stored, view)
    keep_typed(stored, typed)
    runtime.feed.tell_user(user, {"type": "view_updated", "view": copy(stored)})
    runtime.notify_change()
    return stored


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
            "state": {"values": _initial_values(blocks)},
            **present(**{key: view.get(key) for key in _GIVEN}),
        }
    )


def _initial_values(blocks: list[Json]) -> Json:
    values: Json = {}
    for block_id, element in interactive_elements(blocks):
        field = VALUE_FIELD.get(text_at(element, "type"))
        if field is None:
            continue
        initial = element.get(f"initial_{field.removeprefix('selected_')}")
        if initial is None and field in _LISTS:
            initial = list[Json]()
        entry = {"type": element["type"], field: initial}
        values.setdefault(block_id, {})[element["action_id"]] = entry
    return values


def find(runtime: Runtime, user: str, view_id: str) -> Json:
    """Return an open modal or published Home of a user."""
    for view in (runtime.modals.get(user), runtime.state.homes.get(user)):
        if view is not None and view["id"] == view_id:
            return view
    raise SlackRefusal("not_found")


def find_modal(runtime: Runtime, view_id: str) -> tuple[str, Json]:
    """Return the user of an open modal, and the modal."""
    for user, view in runtime.modals.items():
        if view["id"] == view_id:
            return user, view
    raise SlackRefusal("not_found")


def keep_typed(view: Json, typed: Json) -> None:
    """Store a person's values; unknown blocks and actions are ignored."""
    for block_id, actions in child(view, "state", "values").items():
        for action_id, entry in actions.items():
            value, field = child(typed, block_id, action_id), VALUE_FIELD[entry["type"]]
            if field in value:
                entry[field] = value[field]


def missing_answers(view: Json) -> dict[str, str]:
    """Return the errors that Slack's client shows before it sends a form: block id → message."""
    faults: dict[str, str] = {}
    for block in objects(view.get("blocks")):
        if block["type"] != "input":
            continue
        element, block_id = child(block, "element"), text_at(block, "block_id")
        entry = child(view, "state", "values", block_id, text_at(element, "action_id"))
        value, most = entry.get(VALUE_FIELD[element["type"]]), element.get("max_length")
        if value in (None, "", []):
            if not block.get("optional"):
                faults[block_id] = "Please complete this required field."
        elif most and len(value) > most:
            faults[block_id] = f"Please enter at most {most} characters."
    return faults
