"""Forms as views build them: fields with labels, and what a form remembers for us (pure).

Source of the limits: https://docs.slack.dev/reference/views (title and buttons 24 characters,
private_metadata 3,000, 100 blocks).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.models.blocks import (
    CheckboxesElement,
    InputBlock,
    InputInteractiveElement,
    MarkdownTextObject,
    Option,
    PlainTextInputElement,
    PlainTextObject,
    StaticMultiSelectElement,
    StaticSelectElement,
)

from bot.slack.ids import CallbackId
from bot.views.message import Block, as_json, sections

#: A view as JSON.
Form = Mapping[str, Any]
#: Characters in one option's text.
OPTION_LIMIT = 75
#: Characters in one field that is typed into.
TYPED_LIMIT = 3000
_LABEL_LIMIT = 2000
_METADATA_LIMIT = 3000
_TITLE_LIMIT = 24
#: Blocks in one form.
MOST_BLOCKS = 100


@dataclass(frozen=True, kw_only=True)
class Field:
    """A place in a form; its id is block id and action id at once."""

    id: str
    #: What filled it. Slack keeps what is in a block as long as that has the same id: where another
    #: choice fills a field anew, its block has a new one.
    filled_by: str = ""
    label: str
    #: A word below.
    hint: str = ""
    #: It may be left empty.
    optional: bool = False
    #: We hear of every choice at once.
    dispatch_on_change: bool = False


def form(
    callback_id: CallbackId,
    *,
    title: str,
    submit: str,
    blocks: Sequence[Block],
    metadata: Mapping[str, str],
) -> Form:
    """Return a form.

    Args:
        callback_id: Who handles it.
        title: At most 24 characters.
        submit: What the button says.
        blocks: Its contents.
        metadata: What comes back with it: ids and the like.

    Raises:
        ValueError: A limit is passed.
    """
    kept = json.dumps(metadata)
    if len(kept) > _METADATA_LIMIT:
        raise ValueError(f"a form remembers at most {_METADATA_LIMIT} characters, not {len(kept)}")
    return {
        **_frame(title, "Cancel", blocks),
        "callback_id": callback_id.value,
        "submit": _words(submit),
        "private_metadata": kept,
    }


def said(title: str, text: str) -> Form:
    """Return a form that only says something; safe mrkdwn."""
    return _frame(title, "Close", sections(text))


def shown(title: str, blocks: Sequence[Block]) -> Form:
    """Return a form that only shows something."""
    return _frame(title, "Close", blocks)


def _frame(title: str, close: str, blocks: Sequence[Block]) -> dict[str, Any]:
    if not 1 <= len(blocks) <= MOST_BLOCKS:
        raise ValueError(f"a form has 1 to {MOST_BLOCKS} blocks, not {len(blocks)}")
    return {
        "type": "modal",
        "title": _words(title),
        "close": _words(close),
        "blocks": [dict(block) for block in blocks],
    }


def _words(text: str) -> Mapping[str, str]:
    if len(text) > _TITLE_LIMIT:
        raise ValueError(f"a form's title and buttons have {_TITLE_LIMIT} characters at most")
    return {"type": "plain_text", "text": text}


def text_input(
    field: Field, *, value: str = "", multiline: bool = False, most: int = TYPED_LIMIT
) -> Block:
    """Return a field to type into."""
    element = PlainTextInputElement(
        action_id=field.id, multiline=multiline, initial_value=value or None, max_length=most
    )
    return labelled(field, element)


def checkbox(field: Field, choice: str, *, on: bool = False) -> Block:
    """Return one box to tick; nothing need be ticked."""
    option = Option(value="yes", text=MarkdownTextObject(text=choice))
    element = CheckboxesElement(
        action_id=field.id, options=[option], initial_options=[option] if on else None
    )
    return labelled(field, element)


def select(field: Field, options: Mapping[str, str], chosen: str = "") -> Block:
    """Return a menu of which one is chosen; options are value → words."""
    made = {value: _option(value, words) for value, words in options.items()}
    element = StaticSelectElement(
        action_id=field.id, options=list(made.values()), initial_option=made.get(chosen)
    )
    return labelled(field, element)


def multi_select(field: Field, options: Mapping[str, str], chosen: Sequence[str] = ()) -> Block:
    """Return a menu of which several are chosen; options are value → words."""
    made = {value: _option(value, words) for value, words in options.items()}
    first = [made[value] for value in chosen if value in made]
    element = StaticMultiSelectElement(
        action_id=field.id, options=list(made.values()), initial_options=first or None
    )
    return labelled(field, element)


def labelled(field: Field, element: InputInteractiveElement) -> Block:
    """Return a field of a form with its label."""
    return as_json(
        InputBlock(
            block_id="~".join(filter(None, (field.id, field.filled_by))),
            label=PlainTextObject(text=field.label[:_LABEL_LIMIT]),
            element=element,
            hint=PlainTextObject(text=field.hint[:_LABEL_LIMIT]) if field.hint else None,
            optional=field.optional,
            dispatch_action=field.dispatch_on_change or None,
        )
    )


def _option(value: str, words: str) -> Option:
    return Option(value=value, text=PlainTextObject(text=words[:OPTION_LIMIT]))
