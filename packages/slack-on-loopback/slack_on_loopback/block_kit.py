"""Block Kit as a table: every block, element and composition object with its limits (pure).

Source: https://docs.slack.dev/reference/block-kit and the validators of slack_sdk's models.
"""

from pydantic_core import SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from slack_on_loopback.schema import (
    FLAG,
    NUMBER,
    Rule,
    choice,
    kind,
    kind_of,
    many,
    matching,
    need,
    one_of,
    shape,
    string,
    whole,
)


def plain(most: int) -> CoreSchema:
    """A plain_text object of at most so many characters."""
    return kind("plain_text", text=need(string(most)), emoji=FLAG)


def _text(most: int) -> CoreSchema:
    mrkdwn = kind("mrkdwn", text=need(string(most)), verbatim=FLAG)
    return one_of("text object", plain(most), mrkdwn)


# A table with a row for each type. The formatter would give every field a line.
# fmt: off

# Composition objects
_ID, _IDS = string(255), many(string(255), 1000)
_CONFIRM = shape(
    title=need(plain(100)), text=need(_text(300)), confirm=need(plain(30)), deny=need(plain(30)))
_OPTION = shape(text=need(_text(75)), value=need(string(150)))

# Buttons and inputs
_ACTS = {"action_id": _ID}
_TAKES = {**_ACTS, "placeholder": plain(150)}
_OPTIONS = many(_OPTION, 100)
_BOXES = many(_OPTION, 10)
_FILTER = shape(
    include=many(choice("im", "mpim", "private", "public"), 4), exclude_bot_users=FLAG)
_DATE = matching(
    "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "must be in format YYYY-MM-DD")
_INPUT = one_of(
    "input element",
    kind("plain_text_input", **_TAKES, initial_value=string(3000, 0), multiline=FLAG,
         max_length=whole(1, 3000)),
    kind("static_select", **_TAKES, options=need(_OPTIONS), initial_option=_OPTION),
    kind("multi_static_select", **_TAKES, options=need(_OPTIONS), initial_options=_OPTIONS),
    kind("multi_users_select", **_TAKES, initial_users=_IDS),
    kind("conversations_select", **_TAKES, filter=_FILTER, initial_conversation=_ID),
    kind("checkboxes", **_ACTS, options=need(_BOXES), initial_options=_BOXES),
    kind("datepicker", **_TAKES, initial_date=_DATE),
)
_LABEL = {"accessibility_label": string(75), "text": need(plain(75))}
_BUTTON = one_of("button element", kind(
    "button", **_ACTS, **_LABEL, value=string(2000, 0), style=choice("primary", "danger"),
    confirm=_CONFIRM))
_FEEDBACK = need(shape(**_LABEL, value=need(string(2000))))
_CONTEXT_ACTION = one_of("context_actions element", kind(
    "feedback_buttons", **_ACTS, positive_button=_FEEDBACK, negative_button=_FEEDBACK))

# Parts of blocks
_HAS_ID = {"block_id": _ID}
_CELL = one_of("table cell", kind("raw_text", text=need(string(3000))))
_COLUMN = shape(align=choice("left", "center", "right"), is_wrapped=FLAG)
_TASK = kind(
    "task_card", **_HAS_ID, task_id=need(_ID), title=need(string(3000)),
    status=need(choice("pending", "in_progress", "complete", "error")))
_POINT = shape(label=need(string(20)), value=need(NUMBER))
_SERIES = shape(name=need(string(20)), data=need(many(_POINT, 20)))
_AXES = shape(categories=need(many(string(20), 20)), x_label=string(50), y_label=string(50))
_SAME_LABELS = Rule(
    "labels of each series must match axis_config.categories",
    lambda found: all(
        [point["label"] for point in series["data"]] == found["axis_config"]["categories"]
        for series in found["series"]))
_CHART = one_of("chart", kind(
    "bar", _SAME_LABELS, series=need(many(_SERIES, 6)), axis_config=need(_AXES)))
#: Blocks within a block, of any type.
_INNER = many(core_schema.definition_reference_schema("block"), 10)

_BLOCKS = (
    kind("section", **_HAS_ID, text=need(_text(3000)), accessory=_BUTTON, expand=FLAG),
    kind("divider", **_HAS_ID),
    kind("header", **_HAS_ID, text=need(plain(150))),
    kind("context", **_HAS_ID, elements=need(many(_text(2000), 10))),
    kind("actions", **_HAS_ID, elements=need(many(_BUTTON, 25))),
    kind("context_actions", **_HAS_ID, elements=need(many(_CONTEXT_ACTION, 5))),
    kind("input", **_HAS_ID, label=need(plain(2000)), element=need(_INPUT), hint=plain(2000),
         optional=FLAG, dispatch_action=FLAG),
    kind("table", **_HAS_ID, rows=need(many(many(_CELL, 20), 100)),
         column_settings=many(_COLUMN, 20, 0)),
    kind("plan", **_HAS_ID, title=need(string(3000)), tasks=many(_TASK, 50, 0)),
    kind("data_visualization", **_HAS_ID, title=need(string(50)), chart=need(_CHART)),
    kind("container", **_HAS_ID, title=need(plain(150)), child_blocks=need(_INNER),
         is_collapsible=FLAG, default_collapsed=FLAG),
)
# fmt: on
BLOCK_TYPES = frozenset(map(kind_of, _BLOCKS))


def block_list(most: int) -> SchemaValidator:
    """Return the schema of a list of at most so many blocks."""
    any_block = one_of("block", *_BLOCKS, ref="block")
    block_list_schema = many(core_schema.definition_reference_schema("block"), most, 0)
    return SchemaValidator(core_schema.definitions_schema(block_list_schema, [any_block]))
