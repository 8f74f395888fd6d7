"""Block Kit's composition objects and elements: shapes and limits (pure).

Source: https://docs.slack.dev/reference/block-kit and the validators of slack_sdk's models.
"""

from collections.abc import Mapping

from slack_on_loopback.checks import (
    Check,
    Rule,
    anything,
    choice,
    either,
    flag,
    many,
    matching,
    shape,
    string,
    tagged,
    whole,
)
from slack_on_loopback.json_values import Json

URL = string(3000)
IDENTIFIER = string(255)


def plain_text(most: int) -> Check:
    """A plain_text object of at most so many characters."""
    return shape({"type": choice("plain_text"), "text": string(most)}, {"emoji": flag})


def mrkdwn_text(most: int) -> Check:
    """A mrkdwn object of at most so many characters."""
    return shape({"type": choice("mrkdwn"), "text": string(most)}, {"verbatim": flag})


def any_text(most: int) -> Check:
    """A plain_text or mrkdwn object of at most so many characters."""
    return tagged({"plain_text": plain_text(most), "mrkdwn": mrkdwn_text(most)}, "text object")


CONFIRM = shape(
    {
        "title": plain_text(100),
        "text": any_text(300),
        "confirm": plain_text(30),
        "deny": plain_text(30),
    },
    {"style": choice("primary", "danger")},
)
OPTION = shape(
    {"text": any_text(75), "value": string(150)}, {"description": any_text(75), "url": URL}
)
OPTION_GROUP = shape({"label": plain_text(75), "options": many(OPTION, 100)})
SLACK_FILE = shape({}, {"id": IDENTIFIER, "url": URL}, either("id", "url"))
DISPATCH = shape(
    {"trigger_actions_on": many(choice("on_enter_pressed", "on_character_entered"), 2)}
)
CONVERSATION_FILTER = shape(
    {},
    {
        "include": many(choice("im", "mpim", "private", "public"), 4),
        "exclude_external_shared_channels": flag,
        "exclude_bot_users": flag,
    },
)
IMAGE = shape(
    {"type": choice("image"), "alt_text": string(2000)},
    {"image_url": URL, "slack_file": SLACK_FILE},
    either("image_url", "slack_file"),
)


def _element(
    name: str,
    required: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    *rules: Rule,
) -> Check:
    base = {"type": choice(name), **(required or {})}
    return shape(base, {"action_id": IDENTIFIER, **(optional or {})}, *rules)


def _input(
    name: str,
    required: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    *rules: Rule,
) -> Check:
    common = {"placeholder": plain_text(150), "confirm": CONFIRM, "focus_on_load": flag}
    return _element(name, required, {**common, **(optional or {})}, *rules)


def _lengths(found: Json) -> str | None:
    least, most = found.get("min_length"), found.get("max_length")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        return "min_length must not be greater than max_length"
    return None


_OPTIONS = {"options": many(OPTION, 100), "option_groups": many(OPTION_GROUP, 100)}
_ONE_SOURCE = either("options", "option_groups")
_SELECTED_MOST = {"max_selected_items": whole(1, 1000)}
_DATE = matching(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "must be in format YYYY-MM-DD")
_TIME = matching(r"([01]\d|2[0-3]):[0-5]\d", "must be in format HH:mm")
_IDS = many(IDENTIFIER, 1000)

SELECTS: dict[str, Check] = {
    "static_select": _input(
        "static_select", None, {**_OPTIONS, "initial_option": OPTION}, _ONE_SOURCE
    ),
    "multi_static_select": _input(
        "multi_static_select",
        None,
        {**_OPTIONS, **_SELECTED_MOST, "initial_options": many(OPTION, 100)},
        _ONE_SOURCE,
    ),
    "external_select": _input(
        "external_select", None, {"initial_option": OPTION, "min_query_length": whole(0, 1000)}
    ),
    "multi_external_select": _input(
        "multi_external_select",
        None,
        {
            "initial_options": many(OPTION, 100),
            "min_query_length": whole(0, 1000),
            **_SELECTED_MOST,
        },
    ),
    "users_select": _input("users_select", None, {"initial_user": IDENTIFIER}),
    "multi_users_select": _input(
        "multi_users_select", None, {"initial_users": _IDS, **_SELECTED_MOST}
    ),
    "conversations_select": _input(
        "conversations_select",
        None,
        {
            "initial_conversation": IDENTIFIER,
            "default_to_current_conversation": flag,
            "response_url_enabled": flag,
            "filter": CONVERSATION_FILTER,
        },
    ),
    "multi_conversations_select": _input(
        "multi_conversations_select",
        None,
        {
            "initial_conversations": _IDS,
            "default_to_current_conversation": flag,
            "filter": CONVERSATION_FILTER,
            **_SELECTED_MOST,
        },
    ),
    "channels_select": _input(
        "channels_select", None, {"initial_channel": IDENTIFIER, "response_url_enabled": flag}
    ),
    "multi_channels_select": _input(
        "multi_channels_select", None, {"initial_channels": _IDS, **_SELECTED_MOST}
    ),
}
PICKERS: dict[str, Check] = {
    "datepicker": _input("datepicker", None, {"initial_date": _DATE}),
    "timepicker": _input("timepicker", None, {"initial_time": _TIME, "timezone": string(100)}),
    "datetimepicker": _input(
        "datetimepicker", None, {"initial_date_time": whole(0, 9_999_999_999)}
    ),
    "checkboxes": _input(
        "checkboxes", {"options": many(OPTION, 10)}, {"initial_options": many(OPTION, 10)}
    ),
    "radio_buttons": _input(
        "radio_buttons", {"options": many(OPTION, 10)}, {"initial_option": OPTION}
    ),
}
TEXT_INPUTS: dict[str, Check] = {
    "plain_text_input": _input(
        "plain_text_input",
        None,
        {
            "initial_value": string(3000, 0),
            "multiline": flag,
            "min_length": whole(0, 3000),
            "max_length": whole(1, 3000),
            "dispatch_action_config": DISPATCH,
        },
        _lengths,
    ),
    "rich_text_input": _input(
        "rich_text_input",
        None,
        {
            "initial_value": anything,
            "dispatch_action_config": DISPATCH,
            "min_lines": whole(1, 100),
            "max_lines": whole(1, 100),
        },
    ),
    "email_text_input": _input(
        "email_text_input",
        None,
        {"initial_value": string(3000), "dispatch_action_config": DISPATCH},
    ),
    "url_text_input": _input(
        "url_text_input", None, {"initial_value": string(3000), "dispatch_action_config": DISPATCH}
    ),
    "number_input": _input(
        "number_input",
        {"is_decimal_allowed": flag},
        {
            "initial_value": string(100),
            "min_value": string(100),
            "max_value": string(100),
            "dispatch_action_config": DISPATCH,
        },
    ),
    "file_input": _input(
        "file_input", None, {"filetypes": many(string(20), 100), "max_files": whole(1, 10)}
    ),
}
_STYLE = choice("primary", "danger")
BUTTONS: dict[str, Check] = {
    "button": _element(
        "button",
        {"text": plain_text(75)},
        {
            "value": string(2000, 0),
            "url": URL,
            "style": _STYLE,
            "confirm": CONFIRM,
            "accessibility_label": string(75),
            "agent_prompt": string(4000),
            "agent_prompt_display": anything,
            "visible_to_user_ids": _IDS,
        },
    ),
    "overflow": _element("overflow", {"options": many(OPTION, 5)}, {"confirm": CONFIRM}),
    "workflow_button": _element(
        "workflow_button",
        {"text": plain_text(75), "workflow": anything},
        {"style": _STYLE, "accessibility_label": string(75)},
    ),
}
_FEEDBACK = shape(
    {"text": plain_text(75), "value": string(2000)}, {"accessibility_label": string(75)}
)
CONTEXT_ACTIONS: dict[str, Check] = {
    "feedback_buttons": _element(
        "feedback_buttons", {"positive_button": _FEEDBACK, "negative_button": _FEEDBACK}
    ),
    "icon_button": _element(
        "icon_button",
        {"icon": string(100), "text": plain_text(75)},
        {
            "accessibility_label": string(75),
            "value": string(2000),
            "visible_to_user_ids": _IDS,
            "confirm": CONFIRM,
        },
    ),
}
ACTION_ELEMENTS: dict[str, Check] = {
    **BUTTONS,
    **SELECTS,
    **PICKERS,
    "rich_text_input": TEXT_INPUTS["rich_text_input"],
}
ACCESSORIES: dict[str, Check] = {**BUTTONS, **SELECTS, **PICKERS, "image": IMAGE}
INPUT_ELEMENTS: dict[str, Check] = {**SELECTS, **PICKERS, **TEXT_INPUTS}
CONTEXT_ELEMENTS: dict[str, Check] = {
    "image": IMAGE,
    "plain_text": plain_text(2000),
    "mrkdwn": mrkdwn_text(2000),
}
