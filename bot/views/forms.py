"""Forms as views build them: fields with labels, and what a form remembers for us (pure)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.slack.ids import CallbackId
from bot.slack.limits import (
    FIELD_LABEL,
    FIELD_TEXT,
    FORM_BLOCKS,
    FORM_METADATA,
    FORM_TITLE,
    OPTION_TEXT,
)
from bot.views.message import Block, sections
from core.rules.options import short_names

#: A view as JSON.
Form = Mapping[str, Any]


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


def form(
    callback_id: CallbackId,
    *,
    title: str,
    submit: str,
    blocks: Sequence[Block],
    metadata: Mapping[str, object],
) -> Form:
    """Return a form.

    Raises:
        ValueError: A limit is passed.
    """
    metadata_json = json.dumps(metadata)
    if len(metadata_json) > FORM_METADATA:
        raise ValueError(
            f"a form remembers at most {FORM_METADATA} characters, not {len(metadata_json)}"
        )
    return {
        **text_form(title, blocks),
        "close": _words("Cancel"),
        "callback_id": callback_id.value,
        "submit": _words(submit),
        "private_metadata": metadata_json,
    }


def message_form(title: str, text: str) -> Form:
    """Return a form that only says something; safe mrkdwn."""
    return text_form(title, sections(text))


def text_form(title: str, blocks: Sequence[Block]) -> Form:
    if not 1 <= len(blocks) <= FORM_BLOCKS:
        raise ValueError(f"a form has 1 to {FORM_BLOCKS} blocks, not {len(blocks)}")
    return {
        "type": "modal",
        "title": _words(title),
        "close": _words("Close"),
        "blocks": [dict(block) for block in blocks],
    }


def _words(text: str) -> Mapping[str, str]:
    if len(text) > FORM_TITLE:
        raise ValueError(f"a form's title and buttons have {FORM_TITLE} characters at most")
    return {"type": "plain_text", "text": text}


def text_input(
    field: Field, *, value: str = "", multiline: bool = False, most: int = FIELD_TEXT
) -> Block:
    """Return a field to type into."""
    more = {"initial_value": value} if value else {}
    return field_block(field, "plain_text_input", **more, max_length=most, multiline=multiline)


def checkbox(field: Field, choice: str, *, on: bool = False) -> Block:
    option = {"text": {"text": choice, "type": "mrkdwn"}, "value": "yes"}
    more = {"initial_options": [option]} if on else {}
    return field_block(field, "checkboxes", **more, options=[option])


def select(field: Field, options: Mapping[str, str], initial: str = "") -> Block:
    """Return a menu for one value; options are value → words."""
    entries = _options(options)
    more = {"initial_option": entries[initial]} if initial in entries else {}
    return field_block(field, "static_select", **more, options=list(entries.values()))


def multi_select(field: Field, options: Mapping[str, str], initial: Sequence[str] = ()) -> Block:
    entries = _options(options)
    first = [entries[value] for value in initial if value in entries]
    more = {"initial_options": first} if first else {}
    return field_block(field, "multi_static_select", **more, options=list(entries.values()))


def field_block(field: Field, kind: str, **more: object) -> Block:
    """Return a field of a form with its label; `kind` is Slack's name of the element."""
    return {
        "block_id": "~".join(filter(None, (field.id, field.filled_by))),
        "element": {"action_id": field.id, **more, "type": kind},
        **({"hint": _label(field.hint)} if field.hint else {}),
        "label": _label(field.label),
        "optional": field.optional,
        "type": "input",
    }


def _options(options: Mapping[str, str]) -> Mapping[str, Block]:
    """The options by value; where a text is cut, no two read alike."""
    words = list(options.values())
    if any(len(text) > OPTION_TEXT for text in words):
        words = short_names(words, OPTION_TEXT)
    return {
        value: {"text": _label(text), "value": value}
        for value, text in zip(options, words, strict=True)
    }


def _label(words: str) -> Block:
    return {"text": words[:FIELD_LABEL], "type": "plain_text"}
