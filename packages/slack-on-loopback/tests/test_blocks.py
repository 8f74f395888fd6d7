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


def table(rows: int = 1, cells: int = 1) -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}] * cells] * rows}


def select(**more: Any) -> dict[str, Any]:
    element = {"type": "static_select", "action_id": "s", "options": [OPTION], **more}
    return {**text_input(), "element": element}


def container(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "container", "title": PLAIN, "child_blocks": list(blocks)}


def plan(status: str = "complete", **more: Any) -> dict[str, Any]:
    task = {"type": "task_card", "task_id": "1", "title": "t", "status": status, **more}
    return {"type": "plan", "title": "p", "tasks": [task]}


FEEDBACK = {
    "type": "feedback_buttons",
    "positive_button": {"text": PLAIN, "value": "+"},
    "negative_button": {"text": PLAIN, "value": "-"},
}
ACCEPTED: dict[str, dict[str, Any]] = {
    "section_3000": text_section(chars(3000)),
    "accessory": {**text_section(), "accessory": button()},
    "header_150": {"type": "header", "text": plain(150)},
    "divider": {"type": "divider"},
    "context": {"type": "context", "elements": [PLAIN]},
    "actions_25": actions(*[button(f"b{n}") for n in range(25)]),
    "button_limits": actions(button(value=chars(2000), text=plain(75))),
    "table": table(100, 20),
    "feedback": {"type": "context_actions", "elements": [FEEDBACK]},
    "container": container(text_section()),
    "plan": plan(),
    "bar_chart": chart(),
}
#: Block, and where the problem is.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown_type": ({"type": "banner"}, ""),
    "no_type": ({"text": PLAIN}, ""),
    "type_is_no_text": ({"type": {}}, ""),
    "unknown_key": ({**text_section(), "colour": "red"}, ""),
    "block_id_256": ({**text_section(), "block_id": chars(256)}, "/block_id"),
    "section_3001": (text_section(chars(3001)), "/text/text"),
    "section_empty_text": (text_section(""), "/text/text"),
    "section_without_text": ({"type": "section"}, ""),
    "header_151": ({"type": "header", "text": plain(151)}, "/text/text"),
    "header_mrkdwn": ({"type": "header", "text": {"type": "mrkdwn", "text": "x"}}, "/text/type"),
    "actions_26": (actions(*[button(f"b{n}") for n in range(26)]), "/elements"),
    "actions_none": (actions(), "/elements"),
    "context_11": ({"type": "context", "elements": [PLAIN] * 11}, "/elements"),
    "button_in_context": ({"type": "context", "elements": [button()]}, "/elements/0"),
    "button_text_76": (actions(button(text=plain(76))), "/elements/0/text/text"),
    "button_value_2001": (actions(button(value=chars(2001))), "/elements/0/value"),
    "button_style": (actions(button(style="loud")), "/elements/0/style"),
    "menu_in_actions": (actions(select()["element"]), "/elements/0"),
    "table_101_rows": (table(101), "/rows"),
    "table_21_cells": (table(1, 21), "/rows/0"),
    "container_11": (container(*[text_section()] * 11), "/child_blocks"),
    "container_of_unknown": (container({"type": "heading"}), "/child_blocks/0"),
    "task_status": (plan("done"), "/tasks/0/status"),
    "chart_title_51": ({**chart(), "title": chars(51)}, "/title"),
    "chart_type": (chart(type="radar"), "/chart"),
    "chart_series_7": (chart(series=series(*"1234567")), "/chart/series"),
    "chart_other_labels": (chart(series=series("s", labels="ba")), "/chart"),
    "chart_without_axes": (chart(axis_config=None), "/chart/axis_config"),
    "chart_value_as_text": (
        chart(series=[{"name": "s", "data": [{"label": "a", "value": "1"}]}]),
        "/chart/series/0/data/0/value",
    ),
    "input_in_a_message": (text_input(), ""),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_slack_accepts_passes(name: str) -> None:
    assert block_problems([ACCEPTED[name]], "message") == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_slack_refuses_is_named_with_its_path(name: str) -> None:
    block, path = REFUSED[name]
    problems = block_problems([block], "message")
    assert problems
    assert any(problem.endswith(f"[json-pointer:/blocks/0{path}]") for problem in problems), (
        problems
    )


#: Blocks of Slack that are refused here, as unknown.
NOT_TAKEN = {
    *("alert", "auth_provider", "call", "card", "carousel", "file", "image", "markdown"),
    *("rich_text", "task_card", "video"),
}


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


def test_ids_must_differ_in_a_message_and_in_a_block() -> None:
    twice = [actions(button("a"), block_id="x"), actions(button("a"), block_id="x")]
    assert "block_id" in block_problems(twice, "message")[0]
    assert "action_id" in block_problems([actions(button("a"), button("a"))], "message")[0]
    rows = [actions(button("a"), block_id="x"), actions(button("a"), block_id="y")]
    assert block_problems(rows, "message") == []


def test_a_message_holds_one_table_and_two_charts_and_no_form_holds_one() -> None:
    assert block_problems([chart(), chart(), table()], "message") == []
    assert "no more than 2" in block_problems([chart()] * 3, "message")[0]
    assert "only_one_table_allowed" in block_problems([table()] * 2, "message")[0]
    assert block_problems([chart()], "modal")
    assert block_problems([chart()], "home")


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
    "input_without_submit": ({"type": "modal", "title": PLAIN, "blocks": [text_input()]}, "/view"),
    "bad_block": (modal(text_section(chars(3001))), "/view/blocks/0/text/text"),
    "option_101": (modal(select(options=[OPTION] * 101)), "/view/blocks/0/element/options"),
    "option_value_151": (
        modal(select(options=[{**OPTION, "value": chars(151)}])),
        "/view/blocks/0/element/options/0/value",
    ),
    "bad_date": (
        modal({**text_input(), "element": {"type": "datepicker", "initial_date": "2026-13-01"}}),
        "/view/blocks/0/element/initial_date",
    ),
    "button_in_input": (modal({**text_input(), "element": button()}), "/view/blocks/0/element"),
}


@pytest.mark.parametrize("name", BAD_VIEWS)
def test_a_bad_view_is_refused_with_its_path(name: str) -> None:
    view, path = BAD_VIEWS[name]
    with pytest.raises(SlackRefusal) as refused:
        check_view(view, "modal")
    assert refused.value.code == "invalid_arguments"
    assert any(path in message for message in refused.value.messages)


def test_missing_ids_are_filled_in_and_buttons_in_containers_are_found() -> None:
    row = {"type": "actions", "elements": [{"type": "button", "text": PLAIN}]}
    inner = container(actions(button("in"), block_id="c"))
    filled = with_ids([row, {**text_section(), "accessory": button()}, inner], "b")
    ids = [(block_id, element["action_id"]) for block_id, element in interactive_elements(filled)]
    assert ids == [("b0", "b0a0"), ("b1", "go"), ("c", "in")]


def test_problems_are_told_in_slacks_words() -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        (
            plan(title=chars(3001)),
            "must be less than 3001 characters [json-pointer:/blocks/0/tasks/0/title]",
        ),
        ({"type": "heading"}, "unsupported type for block: heading [json-pointer:/blocks/0]"),
        ({"type": {}}, "missing required field: type [json-pointer:/blocks/0]"),
    )
    for block, words in wrong:
        assert block_problems([block], "message") == [f"[ERROR] {words}"]
