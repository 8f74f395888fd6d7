"""Moot's table of Slack's limits: the local Slack accepts each limit, and rejects one more."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bot.slack import limits
from bot.slack.blocks import actions, button
from bot.views.message import Field, multi_select, text_input
from slack_on_loopback import rules
from slack_on_loopback.blocks import MOST_BLOCK_CHARACTERS
from slack_on_loopback.errors import SlackRefusal

Json = dict[str, Any]
WORD = {"type": "plain_text", "text": "x"}
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}
BUTTON = {"type": "button", "action_id": "#", "text": WORD}
OPTION = {"text": WORD, "value": "x"}
SELECT = {"type": "static_select", "action_id": "x", "options": [OPTION]}
TYPED = {"type": "plain_text_input", "action_id": "x"}
BARS = {"series": [{"name": "x", "data": [{"label": "#", "value": 1}]}]}
FORM: Json = {"type": "modal", "title": WORD, "submit": WORD, "blocks": [{"type": "divider"}]}
CHART = {"type": "bar", **BARS, "axis_config": {"categories": ["#"]}}
PLACES: Mapping[str, Json] = {
    "form": FORM,
    "section": SECTION,
    "header": {"type": "header", "text": WORD},
    "context": {"type": "context", "elements": [SECTION["text"]]},
    "row": {"type": "actions", "elements": [BUTTON]},
    "fold": {"type": "container", "title": WORD, "child_blocks": [SECTION]},
    "chart": {"type": "data_visualization", "title": "x", "chart": CHART},
    "menu": {"type": "input", "label": WORD, "element": SELECT},
    "field": {"type": "input", "label": WORD, "element": TYPED},
}


def text(_old: Any, count: int) -> str:
    return "x" * count


def times(old: list[Any], count: int) -> list[Any]:
    """The first item `count` times, with `#` replaced by its number."""
    item = json.dumps(old[0])
    return [json.loads(item.replace("#", str(number))) for number in range(count)]


def number(_old: Any, count: int) -> int:
    return count


#: By limit: the payload, the paths in its JSON, and the function that builds a value of a length.
LIMITS: Mapping[str, tuple[str, str, Callable[[Any, int], Any]]] = {
    "SECTION_TEXT": ("section", "text.text", text),
    "HEADER_TEXT": ("header", "text.text", text),
    "CONTEXT_ELEMENTS": ("context", "elements", times),
    "ROW_ELEMENTS": ("row", "elements", times),
    "BUTTON_TEXT": ("row", "elements.0.text.text elements.0.accessibility_label", text),
    "BUTTON_VALUE": ("row", "elements.0.value", text),
    "FOLD_BLOCKS": ("fold", "child_blocks", times),
    "FOLD_TITLE": ("fold", "title.text", text),
    "CHART_BARS": ("chart", "chart.series.0.data chart.axis_config.categories", times),
    "CHART_LABEL": ("chart", "chart.series.0.data.0.label chart.axis_config.categories.0", text),
    "FORM_BLOCKS": ("form", "blocks", times),
    "FORM_TITLE": ("form", "title.text", text),
    "FORM_METADATA": ("form", "private_metadata", text),
    "FIELD_LABEL": ("menu", "label.text", text),
    "FIELD_TEXT": ("field", "element.max_length", number),
    "OPTIONS": ("menu", "element.options", times),
    "OPTION_TEXT": ("menu", "element.options.0.text.text", text),
}
#: Limits that the local Slack has as constants.
NAMED = {
    "MESSAGE_JSON": MOST_BLOCK_CHARACTERS,
    "UPDATE_TEXT": rules.UPDATE_TEXT,
    "POST_TEXT": rules.POST_TEXT,
}
TABLE: Mapping[str, int] = {name: most for name, most in vars(limits).items() if name.isupper()}


def check(name: str, count: int) -> None:
    """Check a payload with `count` items or characters with the local Slack."""
    place, ways, make = LIMITS[name]
    shown = json.loads(json.dumps(PLACES[place]))
    for way in ways.split():
        inner = shown
        *steps, last = (int(step) if step.isdecimal() else step for step in way.split("."))
        for step in steps:
            inner = inner[step]
        inner[last] = make(inner[last] if make is times else None, count)
    if shown.get("type") == "modal":
        rules.check_view(shown, "modal")
    elif shown.get("type") == "input":
        rules.check_view({**FORM, "blocks": [shown]}, "modal")
    else:
        rules.check_message_blocks([shown])


def test_every_limit_is_the_local_slacks_own() -> None:
    assert {*LIMITS, *NAMED} == set(TABLE)
    assert {name: TABLE[name] for name in NAMED} == NAMED
    for name in LIMITS:
        check(name, TABLE[name])
        with pytest.raises(SlackRefusal):
            check(name, TABLE[name] + 1)


def test_builders_cut_to_the_limits_and_keep_labels_apart() -> None:
    alike = {str(at): f"{'x' * 200} {at}" for at in range(limits.OPTIONS)}
    field = Field(id="x", label="x" * 3000, hint="x" * 3000)
    for block in (multi_select(field, alike, ["1", "2"]), text_input(field)):
        rules.check_view({**FORM, "blocks": [block]}, "modal")
    options = multi_select(field, alike)["element"]["options"]
    assert len({option["text"]["text"] for option in options}) == len(alike)
    rules.check_message_blocks([actions("row", button("x" * 100, "x", label="x" * 100))])
