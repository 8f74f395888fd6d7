"""What Slack refuses about blocks, and where."""

from typing import Any

import pytest
from slack_sdk.models import blocks as sdk

from slack_on_loopback.block_kit import BLOCK_TYPES
from slack_on_loopback.blocks import (
    SurfaceKind,
    block_problems,
    interactive_elements,
    with_ids,
)
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.rules import check_message_blocks, check_view
from tests.bots import actions, button, modal, text_input, text_section

PLAIN = {"type": "plain_text", "text": "x"}
OPTION = {"text": PLAIN, "value": "a"}
RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "bold", "style": {"bold": True}},
                {"type": "link", "url": "https://example.com", "text": "there"},
                {"type": "user", "user_id": "U1"},
                {"type": "emoji", "name": "eyes"},
            ],
        },
        {
            "type": "rich_text_list",
            "style": "bullet",
            "indent": 1,
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]}
            ],
        },
    ],
}
IMAGE = {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a"}


def chars(count: int) -> str:
    return "x" * count


def plain(count: int) -> dict[str, str]:
    return {"type": "plain_text", "text": chars(count)}


def chart(**changes: Any) -> dict[str, Any]:
    points = [{"label": "a", "value": 1}, {"label": "b", "value": 2.5}]
    axes = {"categories": ["a", "b"], "y_label": "Percent"}
    drawn = {"type": "bar", "series": [{"name": "s", "data": points}], "axis_config": axes}
    return {"type": "data_visualization", "title": "t", "chart": {**drawn, **changes}}


def series(*names: str, labels: str = "ab") -> list[dict[str, Any]]:
    points = [{"label": label, "value": 1} for label in labels]
    return [{"name": name, "data": points} for name in names]


ACCEPTED: dict[str, dict[str, Any]] = {
    "section_3000": text_section(chars(3000)),
    "fields": {"type": "section", "fields": [PLAIN] * 10},
    "accessory": {**text_section(), "accessory": button()},
    "header_150": {"type": "header", "text": plain(150)},
    "divider": {"type": "divider"},
    "image": IMAGE,
    "context": {"type": "context", "elements": [PLAIN, IMAGE]},
    "actions_25": actions(*[button(f"b{n}") for n in range(25)]),
    "button_limits": actions(button(value=chars(2000), text=plain(75))),
    "markdown": {"type": "markdown", "text": "# Title\n\n- one"},
    "rich_text": RICH,
    "table": {
        "type": "table",
        "rows": [[{"type": "raw_text", "text": "a"}, {"type": "raw_number", "value": 1}]],
        "column_settings": [{"align": "right"}],
    },
    "select": actions({"type": "static_select", "action_id": "s", "options": [OPTION]}),
    "feedback": {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "positive_button": {"text": PLAIN, "value": "+"},
                "negative_button": {"text": PLAIN, "value": "-"},
            }
        ],
    },
    "input": text_input(),
    "container": {"type": "container", "title": PLAIN, "child_blocks": [text_section()]},
    "task_card": {"type": "task_card", "task_id": "1", "title": "t", "status": "complete"},
    "plan": {"type": "plan", "title": "p", "tasks": []},
    "bar_chart": chart(),
}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown_type": ({"type": "banner"}, "/blocks/0"),
    "no_type": ({"text": PLAIN}, "/blocks/0"),
    "section_3001": (text_section(chars(3001)), "/blocks/0/text/text"),
    "section_empty_text": (text_section(""), "/blocks/0/text/text"),
    "section_without_text": ({"type": "section"}, "/blocks/0"),
    "fields_11": ({"type": "section", "fields": [PLAIN] * 11}, "/blocks/0/fields"),
    "field_2001": ({"type": "section", "fields": [plain(2001)]}, "/blocks/0/fields/0/text"),
    "header_151": ({"type": "header", "text": plain(151)}, "/blocks/0/text/text"),
    "header_mrkdwn": (
        {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
        "/blocks/0/text/type",
    ),
    "actions_26": (actions(*[button(f"b{n}") for n in range(26)]), "/blocks/0/elements"),
    "actions_none": (actions(), "/blocks/0/elements"),
    "context_11": ({"type": "context", "elements": [PLAIN] * 11}, "/blocks/0/elements"),
    "button_in_context": ({"type": "context", "elements": [button()]}, "/blocks/0/elements/0"),
    "button_text_76": (actions(button(text=plain(76))), "/blocks/0/elements/0/text/text"),
    "button_value_2001": (actions(button(value=chars(2001))), "/blocks/0/elements/0/value"),
    "button_style": (actions(button(style="loud")), "/blocks/0/elements/0/style"),
    "button_mrkdwn": (
        actions(button(text={"type": "mrkdwn", "text": "x"})),
        "/blocks/0/elements/0/text/type",
    ),
    "unknown_key": ({**text_section(), "colour": "red"}, "/blocks/0"),
    "block_id_256": ({**text_section(), "block_id": chars(256)}, "/blocks/0/block_id"),
    "option_101": (
        actions({"type": "static_select", "options": [OPTION] * 101}),
        "/blocks/0/elements/0/options",
    ),
    "options_and_groups": (
        actions(
            {
                "type": "static_select",
                "options": [OPTION],
                "option_groups": [{"label": PLAIN, "options": [OPTION]}],
            }
        ),
        "/blocks/0/elements/0",
    ),
    "option_value_151": (
        actions({"type": "static_select", "options": [{**OPTION, "value": chars(151)}]}),
        "/blocks/0/elements/0/options/0/value",
    ),
    "bad_date": (
        actions({"type": "datepicker", "initial_date": "2026-13-01"}),
        "/blocks/0/elements/0/initial_date",
    ),
    "text_input_in_actions": (actions(text_input()["element"]), "/blocks/0/elements/0"),
    "button_in_input": ({**text_input(), "element": button()}, "/blocks/0/element"),
    "image_without_alt": ({"type": "image", "image_url": "https://x"}, "/blocks/0"),
    "markdown_12001": ({"type": "markdown", "text": chars(12_001)}, "/blocks/0/text"),
    "table_101_rows": (
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]] * 101},
        "/blocks/0/rows",
    ),
    "table_21_cells": (
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}] * 21]},
        "/blocks/0/rows/0",
    ),
    "container_11": (
        {"type": "container", "title": PLAIN, "child_blocks": [text_section()] * 11},
        "/blocks/0/child_blocks",
    ),
    "task_status": (
        {"type": "task_card", "task_id": "1", "title": "t", "status": "done"},
        "/blocks/0/status",
    ),
    "rich_text_list_of_text": (
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_list", "style": "bullet", "elements": [{"type": "text"}]}
            ],
        },
        "/blocks/0/elements/0/elements/0",
    ),
    "chart_title_51": ({**chart(), "title": chars(51)}, "/blocks/0/title"),
    "chart_type": (chart(type="radar"), "/blocks/0/chart"),
    "chart_series_7": (chart(series=series(*"1234567")), "/blocks/0/chart/series"),
    "chart_series_name_21": (chart(series=series(chars(21))), "/blocks/0/chart/series/0/name"),
    "chart_series_twice": (chart(series=series("s", "s")), "/blocks/0/chart"),
    "chart_other_labels": (chart(series=series("s", labels="ba")), "/blocks/0/chart"),
    "chart_without_axes": (chart(axis_config=None), "/blocks/0/chart/axis_config"),
    "chart_value_as_text": (
        chart(series=[{"name": "s", "data": [{"label": "a", "value": "1"}]}]),
        "/blocks/0/chart/series/0/data/0/value",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_slack_accepts_passes(name: str) -> None:
    assert block_problems([ACCEPTED[name]], "message") == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_slack_refuses_is_named_with_its_path(name: str) -> None:
    block, path = REFUSED[name]
    problems = block_problems([block], "message")
    assert problems
    assert any(problem.endswith(f"[json-pointer:{path}]") for problem in problems), problems


#: Blocks of Slack that are refused here, as unknown.
NOT_TAKEN = {"alert", "auth_provider", "call", "card", "carousel", "file", "video"}


def test_every_block_class_of_the_sdk_is_known_or_named_as_not_taken() -> None:
    names = {
        str(vars(value)["type"])
        for value in vars(sdk).values()
        if isinstance(value, type) and issubclass(value, sdk.Block) and value is not sdk.Block
    }
    assert names - BLOCK_TYPES == NOT_TAKEN


@pytest.mark.parametrize(("surface", "most"), [("message", 50), ("modal", 100), ("home", 100)])
def test_a_surface_holds_so_many_blocks(surface: SurfaceKind, most: int) -> None:
    assert block_problems([{"type": "divider"}] * most, surface) == []
    assert block_problems([{"type": "divider"}] * (most + 1), surface) != []


def test_ids_must_differ() -> None:
    twice = [actions(button("a"), block_id="x"), actions(button("a"), block_id="x")]
    assert "block_id" in block_problems(twice, "message")[0]
    same_action = [actions(button("a"), button("a"))]
    assert "action_id" in block_problems(same_action, "message")[0]


def test_the_same_action_id_in_two_blocks_is_fine() -> None:
    rows = [actions(button("a"), block_id="x"), actions(button("a"), block_id="y")]
    assert block_problems(rows, "message") == []


def test_a_message_holds_two_charts_and_no_form_holds_one() -> None:
    assert block_problems([chart(), chart()], "message") == []
    assert "no more than 2" in block_problems([chart()] * 3, "message")[0]
    assert block_problems([chart()], "modal")


def test_markdown_blocks_are_limited_together() -> None:
    half = {"type": "markdown", "text": chars(6001)}
    assert block_problems([half], "message") == []
    assert block_problems([half, half], "message") != []


def test_a_message_has_one_table() -> None:
    table = ACCEPTED["table"]
    assert "only_one_table_allowed" in block_problems([table, table], "message")[0]


def test_all_blocks_together_must_stay_under_13200_characters() -> None:
    fits = [text_section(chars(2500)) for _ in range(5)]
    assert check_message_blocks(fits) == fits
    with pytest.raises(SlackRefusal, match="msg_blocks_too_long"):
        check_message_blocks([*fits, text_section(chars(700))])


def test_blocks_that_are_no_list_have_an_error_of_their_own() -> None:
    with pytest.raises(SlackRefusal, match="invalid_blocks_format"):
        check_message_blocks({"type": "divider"})


BAD_VIEWS: dict[str, tuple[dict[str, Any], str]] = {
    "title_25": (modal(title=plain(25)), "/view/title/text"),
    "submit_25": (modal(submit=plain(25)), "/view/submit/text"),
    "close_25": (modal(close=plain(25)), "/view/close/text"),
    "private_metadata_3001": (modal(private_metadata=chars(3001)), "/view/private_metadata"),
    "callback_id_256": (modal(callback_id=chars(256)), "/view/callback_id"),
    "no_title": ({"type": "modal", "blocks": []}, "/view"),
    "home_as_modal": ({"type": "home", "blocks": []}, "/view/type"),
    "input_without_submit": (
        {"type": "modal", "title": PLAIN, "blocks": [text_input()]},
        "/view",
    ),
    "bad_block": (modal(text_section(chars(3001))), "/view/blocks/0/text/text"),
}


@pytest.mark.parametrize("name", BAD_VIEWS)
def test_a_bad_view_is_refused_with_its_path(name: str) -> None:
    view, path = BAD_VIEWS[name]
    with pytest.raises(SlackRefusal) as refused:
        check_view(view, "modal")
    assert refused.value.code == "invalid_arguments"
    assert any(path in message for message in refused.value.messages)


def test_missing_ids_are_filled_in() -> None:
    row = {"type": "actions", "elements": [{"type": "button", "text": PLAIN}]}
    filled = with_ids([row, {**text_section(), "accessory": button()}], "b")
    ids = [(block_id, element["action_id"]) for block_id, element in interactive_elements(filled)]
    assert ids == [("b0", "b0a0"), ("b1", "go")]


def test_buttons_in_containers_are_found() -> None:
    nested = {"type": "container", "title": PLAIN, "child_blocks": [actions(button("in"))]}
    assert [e["action_id"] for _, e in interactive_elements([nested])] == ["in"]


def test_a_field_may_bear_the_name_of_its_objects_type() -> None:
    source = {"type": "url", "url": "x" * 3001, "text": "t"}
    task = {"type": "task_card", "task_id": "1", "title": "t", "status": "complete"}
    assert block_problems([{**task, "sources": [source]}], "message") == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/sources/0/url]"
    ]


def test_blocks_within_a_block_are_looked_at_too() -> None:
    box = {"type": "container", "title": PLAIN, "child_blocks": [{"type": "heading"}]}
    assert block_problems([box], "message") == [
        "[ERROR] unsupported type for block: heading [json-pointer:/blocks/0/child_blocks/0]"
    ]


def test_a_type_that_is_no_text_is_refused() -> None:
    assert block_problems([{"type": {}}], "modal") == [
        "[ERROR] missing required field: type [json-pointer:/blocks/0]"
    ]
