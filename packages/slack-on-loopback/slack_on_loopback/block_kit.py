"""Block Kit as a table: every block, element and composition object with its limits (pure).

Source: https://docs.slack.dev/reference/block-kit and the validators of slack_sdk's models.
"""

from pydantic_core import SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from slack_on_loopback.schema import (
    ANYTHING,
    FLAG,
    NUMBER,
    Rule,
    at_least_one,
    choice,
    exactly_one,
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

MOST_MARKDOWN_CHARACTERS = 12_000


def plain(most: int) -> CoreSchema:
    """A plain_text object of at most so many characters."""
    return kind("plain_text", text=need(string(most)), emoji=FLAG)


def _mrkdwn(most: int) -> CoreSchema:
    return kind("mrkdwn", text=need(string(most)), verbatim=FLAG)


def _text(most: int) -> CoreSchema:
    return one_of("text object", plain(most), _mrkdwn(most))


# The rest is a table, a row for each type. The formatter would give every field a line.
# fmt: off

# Composition objects
_URL, _ID, _IDS = string(3000), string(255), many(string(255), 1000)
_STYLE = choice("primary", "danger")
_CONFIRM = shape(
    title=need(plain(100)), text=need(_text(300)), confirm=need(plain(30)), deny=need(plain(30)),
    style=_STYLE)
_OPTION = shape(text=need(_text(75)), value=need(string(150)), description=_text(75), url=_URL)
_GROUP = shape(label=need(plain(75)), options=need(many(_OPTION, 100)))
_PICTURE = {"alt_text": need(string(2000)), "image_url": need(_URL)}
_IMAGE = kind("image", **_PICTURE)

# Elements: what has an action_id, and what takes input
_ACTS = {"action_id": _ID}
_TAKES = {**_ACTS, "placeholder": plain(150), "confirm": _CONFIRM, "focus_on_load": FLAG}
_ONE_SOURCE = exactly_one("options", "option_groups")
_OPTIONS = {"options": many(_OPTION, 100), "option_groups": many(_GROUP, 100)}
_ONE = {"initial_option": _OPTION}
_MANY = {"max_selected_items": whole(1, 1000)}
_MANY_OPTIONS = {**_MANY, "initial_options": many(_OPTION, 100)}
_RESPONSE = {"response_url_enabled": FLAG}
_CURRENT = {"default_to_current_conversation": FLAG, "filter": shape(
    include=many(choice("im", "mpim", "private", "public"), 4),
    exclude_external_shared_channels=FLAG, exclude_bot_users=FLAG)}
_YYYY_MM_DD = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_DATE = matching(_YYYY_MM_DD, "must be in format YYYY-MM-DD")
_CHOICES = many(_OPTION, 10)
_MENUS = (
    kind("static_select", _ONE_SOURCE, **_TAKES, **_OPTIONS, **_ONE),
    kind("multi_static_select", _ONE_SOURCE, **_TAKES, **_OPTIONS, **_MANY_OPTIONS),
    kind("multi_users_select", **_TAKES, **_MANY, initial_users=_IDS),
    kind("conversations_select", **_TAKES, **_CURRENT, **_RESPONSE, initial_conversation=_ID),
    kind("datepicker", **_TAKES, initial_date=_DATE),
    kind("checkboxes", **_TAKES, options=need(_CHOICES), initial_options=_CHOICES),
)
_TRIGGERS = many(choice("on_enter_pressed", "on_character_entered"), 2)
_LENGTHS = Rule(
    "min_length must not be greater than max_length",
    lambda found: (found.get("min_length") or 0) <= (found.get("max_length") or 3000))
_INPUT = one_of(
    "input element",
    *_MENUS,
    kind("plain_text_input", _LENGTHS, **_TAKES, initial_value=string(3000, 0), multiline=FLAG,
         min_length=whole(0, 3000), max_length=whole(1, 3000),
         dispatch_action_config=shape(trigger_actions_on=need(_TRIGGERS))),
)
_LABEL = {"accessibility_label": string(75), "text": need(plain(75))}
_BUTTON = kind(
    "button", **_ACTS, **_LABEL, value=string(2000, 0), url=_URL, style=_STYLE, confirm=_CONFIRM,
    agent_prompt=string(4000), agent_prompt_display=ANYTHING, visible_to_user_ids=_IDS)
_FEEDBACK = need(shape(**_LABEL, value=need(string(2000))))
_CONTEXT_ACTION = one_of(
    "context_actions element",
    kind("feedback_buttons", **_ACTS, positive_button=_FEEDBACK, negative_button=_FEEDBACK),
)

# Rich text
_LOOKS = (
    "bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink")
_LOOK = {"style": shape(**dict.fromkeys(_LOOKS, FLAG))}
_EMOJI = {**_LOOK, "skin_tone": ANYTHING}
_LEAF = {**_EMOJI, "unsafe": FLAG}
_NAMED = {**_LEAF, "text": string(40_000, 0)}
_LEAVES = one_of(
    "rich text element",
    kind("text", **_LEAF, text=need(string(40_000))),
    kind("link", **_NAMED, url=need(_URL)),
    *(kind(name, **_NAMED, **{f"{name}_id": need(_ID)})
      for name in ("user", "team", "channel", "usergroup")),
    kind("broadcast", **_NAMED, range=need(choice("here", "channel", "everyone"))),
    kind("color", **_NAMED, value=need(string(20))),
    kind("emoji", **_EMOJI, name=need(string(100)), unicode=string(100), url=_URL),
    kind("date", **_LOOK, timestamp=need(ANYTHING), format=_ID, url=_URL, fallback=_ID),
)
_INLINE = need(many(_LEAVES, 1000, 0))
_SECTION = kind("rich_text_section", elements=_INLINE)
_LINES = need(many(one_of("rich_text_list element", _SECTION), 1000))
_BORDER = {"border": whole(0, 1)}
_PARTS = one_of(
    "rich_text element",
    _SECTION,
    kind("rich_text_quote", **_BORDER, elements=_INLINE),
    kind("rich_text_preformatted", **_BORDER, elements=_INLINE, language=string(50)),
    kind("rich_text_list", **_BORDER, elements=_LINES, style=need(choice("bullet", "ordered")),
         indent=whole(0, 8), offset=whole(0, 100_000)),
)

# Blocks
_HAS_ID = {"block_id": _ID}
_RICH_TEXT = kind("rich_text", **_HAS_ID, elements=need(many(_PARTS, 1000, 0)))
_ACCESSORY = one_of("section accessory", _BUTTON, *_MENUS, _IMAGE)
_ACTION = one_of("action element", _BUTTON, *_MENUS)
_CONTEXT = one_of("context element", _IMAGE, plain(2000), _mrkdwn(2000))
_CELL = one_of(
    "table cell", _RICH_TEXT, kind("raw_text", text=need(string(3000))),
    kind("raw_number", value=need(ANYTHING), text=string(3000)))
_COLUMN = shape(align=choice("left", "center", "right"), is_wrapped=FLAG)
_SOURCE = kind("url", url=need(_URL), text=need(string(3000)))
_TASK = kind(
    "task_card", **_HAS_ID, task_id=need(_ID), title=need(string(3000)),
    status=need(choice("pending", "in_progress", "complete", "error")), details=_RICH_TEXT,
    output=_RICH_TEXT, sources=many(_SOURCE, 100))
_SLICE = shape(label=need(string(20)), value=need(NUMBER))
_SERIES = shape(name=need(string(20)), data=need(many(_SLICE, 20)))
_AXES = shape(categories=need(many(string(20), 20)), x_label=string(50), y_label=string(50))
_SAME_LABELS = Rule(
    "labels of each series must match axis_config.categories",
    lambda found: all(
        [point["label"] for point in series["data"]] == found["axis_config"]["categories"]
        for series in found["series"]))
_OWN_NAMES = Rule(
    "names of series must be unique",
    lambda found: len({line["name"] for line in found["series"]}) == len(found["series"]))
_DRAWN = {"series": need(many(_SERIES, 6)), "axis_config": need(_AXES)}
_CHART = one_of("chart", kind("bar", _SAME_LABELS, _OWN_NAMES, **_DRAWN))
#: Blocks within a block, of any type.
_INNER = many(core_schema.definition_reference_schema("block"), 10)
_COLLAPSE = Rule(
    "has_header_divider cannot be set when is_collapsible is true",
    lambda found: not (found.get("is_collapsible") and found.get("has_header_divider")))
_BLOCKS = (
    kind("section", at_least_one("text", "fields"), **_HAS_ID, text=_text(3000),
         fields=many(_text(2000), 10), accessory=_ACCESSORY, expand=FLAG),
    kind("divider", **_HAS_ID),
    kind("image", **_HAS_ID, **_PICTURE, title=plain(2000)),
    kind("actions", **_HAS_ID, elements=need(many(_ACTION, 25))),
    kind("context", **_HAS_ID, elements=need(many(_CONTEXT, 10))),
    kind("context_actions", **_HAS_ID, elements=need(many(_CONTEXT_ACTION, 5))),
    kind("input", **_HAS_ID, label=need(plain(2000)), element=need(_INPUT), hint=plain(2000),
         optional=FLAG, dispatch_action=FLAG),
    kind("header", **_HAS_ID, text=need(plain(150))),
    kind("markdown", **_HAS_ID, text=need(string(MOST_MARKDOWN_CHARACTERS))),
    _RICH_TEXT,
    kind("table", **_HAS_ID, rows=need(many(many(_CELL, 20), 100)),
         column_settings=many(_COLUMN, 20, 0)),
    _TASK,
    kind("plan", **_HAS_ID, title=need(string(3000)), tasks=many(_TASK, 50, 0)),
    kind("data_visualization", **_HAS_ID, title=need(string(50)), chart=need(_CHART)),
    kind("container", at_least_one("title", "rich_text_title"), _COLLAPSE, **_HAS_ID,
         child_blocks=need(_INNER), title=plain(150), rich_text_title=_RICH_TEXT,
         subtitle=_text(150), width=choice("narrow", "standard", "wide", "full"), icon=_IMAGE,
         is_collapsible=FLAG, default_collapsed=FLAG, has_header_divider=FLAG),
)
# fmt: on
BLOCK_TYPES = frozenset(map(kind_of, _BLOCKS))


def block_list(most: int) -> SchemaValidator:
    """Return the schema of a list of at most so many blocks."""
    any_block = one_of("block", *_BLOCKS, ref="block")
    listed = many(core_schema.definition_reference_schema("block"), most, 0)
    return SchemaValidator(core_schema.definitions_schema(listed, [any_block]))
