"""Slack's limits as Moot knows them, each held against the local Slack: so much, and no more."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bot.slack import limits
from bot.slack.blocks import Block, actions, button, confirmation, plain_text, verbatim
from bot.views.forms import Field, Form, multi_select, text_input
from slack_on_loopback import rules
from slack_on_loopback.blocks import MOST_BLOCK_CHARACTERS
from slack_on_loopback.errors import SlackRefusal

DIVIDER: Block = {"type": "divider"}


def text(count: int) -> str:
    return "x" * count


def a_form(blocks: int = 1, title: int = 1, metadata: int = 0) -> Form:
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": text(title)},
        "private_metadata": text(metadata),
        "blocks": [DIVIDER] * blocks,
    }


def a_field(**element: Any) -> Block:
    return {
        "type": "input",
        "label": plain_text("x"),
        "element": {"action_id": "x", "type": "static_select", **element},
    }


def a_button(*, title: int = 1, words: int = 1, confirm: int = 1, **more: Any) -> Block:
    asking = confirmation(text(title), text(words), confirm=text(confirm), deny="x")
    plain: dict[str, Any] = {"type": "button", "action_id": "x", "text": plain_text("x")}
    return actions("row", {**plain, "confirm": asking, **more})


def an_option(words: int = 1, value: int = 1) -> Block:
    return {"text": {"type": "plain_text", "text": text(words)}, "value": text(value)}


def a_fold(blocks: int = 1, title: int = 1) -> Block:
    inner = [{"type": "section", "text": verbatim("x")}] * blocks
    return {"type": "container", "title": plain_text(text(title)), "child_blocks": inner}


def a_chart(title: int = 1, bars: int = 1, label: int = 0) -> Block:
    names = [text(label) or str(bar) for bar in range(bars)]
    series = [{"name": "x", "data": [{"label": name, "value": 1} for name in names]}]
    axes = {"categories": names}
    chart = {"type": "bar", "series": series, "axis_config": axes}
    return {"type": "data_visualization", "title": text(title), "chart": chart}


def a_table(rows: int = 1, columns: int = 1, cell: int = 1) -> Block:
    row = [{"type": "raw_text", "text": text(cell)}] * columns
    return {"type": "table", "rows": [row] * rows}


def a_context(elements: int = 1, words: int = 1) -> Block:
    return {"type": "context", "elements": [verbatim(text(words))] * elements}


def a_row(count: int) -> Block:
    return actions("row", *(button("x", f"a{at}", label="x") for at in range(count)))


def a_plan(count: int) -> Block:
    tasks = [
        {"type": "task_card", "task_id": f"t{at}", "title": "x", "status": "pending"}
        for at in range(count)
    ]
    return {"type": "plan", "title": "x", "tasks": tasks}


#: Limit → blocks of a message, or a view, in which there is so much of it.
MESSAGES: Mapping[str, Callable[[int], Block | list[Block]]] = {
    "MESSAGE_BLOCKS": lambda n: [DIVIDER] * n,
    "SECTION_TEXT": lambda n: {"type": "section", "text": verbatim(text(n))},
    "HEADER_TEXT": lambda n: {"type": "header", "text": plain_text(text(n))},
    "CONTEXT_ELEMENTS": lambda n: a_context(elements=n),
    "CONTEXT_TEXT": lambda n: a_context(words=n),
    "ROW_ELEMENTS": a_row,
    "BUTTON_TEXT": lambda n: a_button(text=plain_text(text(n)), accessibility_label=text(n)),
    "BUTTON_VALUE": lambda n: a_button(value=text(n)),
    "CONFIRMATION_TITLE": lambda n: a_button(title=n),
    "CONFIRMATION_TEXT": lambda n: a_button(words=n),
    "CONFIRMATION_BUTTON": lambda n: a_button(confirm=n),
    "FOLD_BLOCKS": lambda n: a_fold(blocks=n),
    "FOLD_TITLE": lambda n: a_fold(title=n),
    "CHART_TITLE": lambda n: a_chart(title=n),
    "CHART_BARS": lambda n: a_chart(bars=n),
    "CHART_LABEL": lambda n: a_chart(label=n),
    "TABLE_ROWS": lambda n: a_table(rows=n),
    "TABLE_COLUMNS": lambda n: a_table(columns=n),
    "TABLE_CELL": lambda n: a_table(cell=n),
    "PLAN_TASKS": a_plan,
}
VIEWS: Mapping[str, Callable[[int], Form]] = {
    "FORM_BLOCKS": lambda n: a_form(blocks=n),
    "FORM_TITLE": lambda n: a_form(title=n),
    "FORM_METADATA": lambda n: a_form(metadata=n),
    "HOME_BLOCKS": lambda n: {"type": "home", "blocks": [DIVIDER] * n},
    "FIELD_LABEL": lambda n: with_block({**a_field(options=[an_option()]), "label": label(n)}),
    "FIELD_TEXT": lambda n: with_block(a_field(type="plain_text_input", max_length=n)),
    "OPTIONS": lambda n: with_block(a_field(options=[an_option()] * n)),
    "OPTION_TEXT": lambda n: with_block(a_field(options=[an_option(words=n)])),
    "OPTION_VALUE": lambda n: with_block(a_field(options=[an_option(value=n)])),
}
#: Limits of whole texts, which the local Slack names itself.
NAMED = {
    "MESSAGE_JSON": MOST_BLOCK_CHARACTERS,
    "UPDATE_TEXT": rules.UPDATE_TEXT,
    "POST_TEXT": rules.POST_TEXT,
}
TABLE: Mapping[str, int] = {name: most for name, most in vars(limits).items() if name.isupper()}


def label(count: int) -> Block:
    return {"type": "plain_text", "text": text(count)}


def with_block(block: Block) -> Form:
    return {**a_form(), "submit": {"type": "plain_text", "text": "x"}, "blocks": [block]}


def check(name: str, count: int) -> None:
    """Hand the local Slack so much of it."""
    if name in VIEWS:
        view = VIEWS[name](count)
        rules.check_view(view, "home" if view["type"] == "home" else "modal")
    else:
        blocks = MESSAGES[name](count)
        rules.check_message_blocks(blocks if isinstance(blocks, list) else [blocks])


def test_every_limit_is_the_local_slacks_own():
    assert {*MESSAGES, *VIEWS, *NAMED} == set(TABLE)
    assert {name: TABLE[name] for name in NAMED} == NAMED
    for name in (*MESSAGES, *VIEWS):
        check(name, TABLE[name])
        with pytest.raises(SlackRefusal):
            check(name, TABLE[name] + 1)


def test_builders_cut_to_the_limits_and_keep_labels_apart():
    alike = {str(at): f"{text(200)} {at}" for at in range(limits.OPTIONS)}
    field = Field(id="x", label=text(3000), hint=text(3000))
    rules.check_view(with_block(multi_select(field, alike, ["1", "2"])), "modal")
    rules.check_view(with_block(text_input(field)), "modal")
    options = multi_select(field, alike)["element"]["options"]
    assert len({option["text"]["text"] for option in options}) == len(alike)
    pressed = button(text(100), "x", label=text(100))
    rules.check_message_blocks([actions("row", pressed)])
