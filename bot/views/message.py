"""Parts of all views: messages, forms, folds, and escaped names (pure).

Money, durations, counts and dates are formatted by `core.figures`. "Safe" text is mrkdwn in which
nothing that a person or a model wrote has an effect in Slack.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.slack.blocks import FOLD, Block, plain_text, read_all_button, verbatim
from bot.slack.ids import CallbackId, address_of, without_addresses
from bot.slack.limits import (
    CONTEXT_ELEMENTS,
    FIELD_LABEL,
    FIELD_TEXT,
    FOLD_BLOCKS,
    FOLD_TITLE,
    FORM_BLOCKS,
    FORM_METADATA,
    FORM_TITLE,
    HEADER_TEXT,
    MESSAGE_JSON,
    OPTION_TEXT,
    SECTION_TEXT,
)
from bot.slack.mrkdwn import bare, gist, literal, mrkdwn, split
from bot.views.progress import post_key
from core.debate.agents import EXAMPLE, OFFLINE, Agent
from core.debate.contributions import Contribution, Summary
from core.debate.people import Person
from core.debate.state import Debate, roster
from core.debate.turn import Turn
from core.debate.verdict import Verdict
from core.figures import when
from core.rules.options import short_names
from core.transcript.words import ResultLine, ResultSection, letters_words, table
from core.transcript.words import confidence as confidence_of
from core.transcript.words import name_of as transcript_name

#: Most characters of text in one post. Slack advises at most 4,000 in the top-level text, which
#: screen readers read, so it contains the whole post.
PAGE_LIMIT = 3500
#: Most posts for one text, as each takes a second to send.
MOST_PAGES = 20
_CONTEXT_LIMIT, _USERNAME_LIMIT = 1500, 80


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """A message: blocks to display, text for notifications and screen readers."""

    text: str
    blocks: Sequence[Block]
    #: The agent whose name and icon replace those of the app.
    speaker: Agent | None = None

    @property
    def payload(self) -> dict[str, Any]:
        payload = {"text": self.text, "blocks": [dict(block) for block in self.blocks]}
        if self.speaker is None:
            return payload
        name = bare(title(self.speaker), _USERNAME_LIMIT)
        return {**payload, "username": name, "icon_emoji": icon(self.speaker)}


def header(words: str) -> Block:
    """A header block; `words` must not come from people or models."""
    return {"text": {"text": words[:HEADER_TEXT], "type": "plain_text"}, "type": "header"}


def sections(text: str) -> list[Block]:
    """Safe mrkdwn as section blocks that Slack does not collapse behind "see more"."""
    return [
        {"expand": True, "text": verbatim(piece), "type": "section"}
        for piece in split(text, SECTION_TEXT)
    ]


def context(*lines: str) -> list[Block]:
    """Safe mrkdwn as a context block (small print); no block if all lines are empty."""
    pieces = split("\n".join(filter(None, lines)), _CONTEXT_LIMIT)[:CONTEXT_ELEMENTS]
    if not pieces:
        return []
    return [{"elements": [verbatim(piece) for piece in pieces], "type": "context"}]


def notice(text: str, *below: Block) -> MessageView:
    """A message of one safe mrkdwn text, with blocks below it."""
    return MessageView(text=text, blocks=[*sections(text), *below])


def pages(text: str) -> list[str]:
    """Convert a model's Markdown to safe mrkdwn, in pieces of one post each."""
    return mrkdwn_pages(mrkdwn(text))


def mrkdwn_pages(text: str) -> list[str]:
    """Split safe mrkdwn into pieces of one post each, at most `MOST_PAGES`."""
    pieces = split(text, PAGE_LIMIT)
    if len(pieces) <= MOST_PAGES:
        return pieces
    others = len(pieces) - MOST_PAGES + 1
    return [
        *pieces[: MOST_PAGES - 1],
        f"_… {others} more posts are left out; the report has them._",
    ]


def item_list(items: Iterable[str], limit: int, joint: str = "\n") -> str:
    """Return as many items as fit into the limit, and say how many do not."""
    fitting, size = list[str](), 0
    entries = list(items)
    for item in entries:
        size += len(item) + len(joint)
        if size > limit:
            return joint.join([*fitting, f"… and {len(entries) - len(fitting)} more"])
        fitting.append(item)
    return joint.join(fitting)


_NAME_LIMIT = 120
OFFLINE_NOTE = "Offline engine: built from checklists by rules. No AI model was asked."
EXAMPLE_NOTE = ":pencil2: Written example, played by the real engine. No AI model was asked."
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")
_PERSON = re.compile(r"[UW][A-Z0-9]{1,20}")


def turn_noun(debate: Debate, turn: Turn) -> str:
    """The noun of a turn, such as "critique of Ben's proposal"."""
    is_about = turn.target in roster(debate)
    subject = f" of {name_of(debate, turn.target or '')}'s proposal" if is_about else ""
    return turn.act.noun + subject


def name_of(debate: Debate, agent_id: str) -> str:
    """An agent's escaped name; its id if the debate does not know the agent."""
    return literal(plain_name(debate, agent_id))


def plain_name(debate: Debate, agent_id: str) -> str:
    """An agent's name on one line, not escaped."""
    return bare(transcript_name(debate, agent_id), _NAME_LIMIT) or agent_id


def letters(debate: Debate, *texts: Contribution | Summary) -> str:
    """A key to the letters that stand for agents in these texts; empty if there are none."""
    words = letters_words(debate, texts)
    return f"Letters agents go by: {literal(words)}" if words else ""


def icon(agent: Agent) -> str:
    """The agent's emoji code if it is valid, else a default."""
    return agent.icon if _EMOJI.fullmatch(agent.icon) else ":speech_balloon:"


def title(agent: Agent) -> str:
    """Name and role, not escaped: "Ann (architect)". Without a role that the name contains."""
    name, role = (bare(word, _NAME_LIMIT) for word in (agent.name or agent.id, agent.role))
    return name if role.casefold() in name.casefold() else f"{name} ({role})"


def person(someone: Person) -> str:
    """A mention of the person, or their escaped name if they have no id of Slack."""
    if _PERSON.fullmatch(someone.id):
        return f"<@{someone.id}>"
    return gist(someone.display_name, _NAME_LIMIT)


def is_offline(agent: Agent) -> bool:
    return agent.provider == OFFLINE


def all_offline(debate: Debate) -> bool:
    return all(map(is_offline, (*debate.setup.agents, debate.setup.judge)))


def is_example(debate: Debate) -> bool:
    """Whether a person wrote the debate as an example."""
    return all(agent.provider == EXAMPLE for agent in debate.setup.agents)


def confidence(verdict: Verdict) -> str:
    return literal(confidence_of(verdict))


def moment(time: datetime) -> str:
    """A date and time that Slack shows each reader in their own time zone."""
    fallback = when(time)
    return f"<!date^{int(time.timestamp())}^{{date_short_pretty}} {{time}}|{fallback}>"


_TITLE_LIMIT = 60
_LABEL_LIMIT = 300


def section_text(debate: Debate, section: ResultSection, limit: int = 0) -> str:
    """A section of a result as safe mrkdwn; `limit` is for all its lines, 0 means none."""
    if section.is_empty:
        return ""
    lines = [f"• {line_text(debate, line)}" for line in section.lines]
    rows = table(section.head, section.rows) if section.rows else ""
    parts = (
        mrkdwn(section.text),
        item_list(lines, limit or sum(map(len, lines)) + len(lines)),
        mrkdwn(rows),
        mrkdwn(section.note),
    )
    return f"*{gist(section.title, _TITLE_LIMIT)}*\n" + "\n".join(filter(None, parts))


def line_text(debate: Debate, line: ResultLine) -> str:
    """A line of a result as safe mrkdwn: mentions its person and links to the post of its turn."""
    label = f"*{gist(line.label, _LABEL_LIMIT)}*" if line.label else ""
    if line.by:
        label += f", {person(line.by)}" if label else person(line.by)
    text = mrkdwn(line.text).replace("\n", "\n    ")
    if line.turn:
        address = address_of(post_key(debate, line.turn))
        text += f" (<{address}|{name_of(debate, line.turn.agent)}'s post>)"
    mark = ":warning: " if line.is_warning else ""
    return mark + (f"{label}{':' if line.label else ''} {text}" if label else text)


#: In a fold's value, stands for the verdict instead of a turn's key.
VERDICT = "verdict"
#: Most characters of a message's blocks as JSON. Addresses that are filled in later take the rest.
_MESSAGE_LIMIT = MESSAGE_JSON - 1700
#: Most characters of a fold's value.
_VALUE_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class FoldedBlock:
    """Text that is collapsed at first."""

    title: str
    #: Safe mrkdwn, each part with a title. If not all parts fit, the first ones are shown.
    parts: Sequence[str]
    #: Names the text for the button: "debate/turn" or "debate/verdict". Never changes, because old
    #: messages keep their buttons.
    value: str


def with_fold(
    fold: FoldedBlock, above: Sequence[Block], below: Sequence[Block] = ()
) -> list[Block]:
    """Return a message's blocks with a collapsed block between them.

    If not all of the fold fits, a button opens the whole text in a dialog.
    """
    button = read_all_button(fold.value)
    space = _MESSAGE_LIMIT - _size([*above, *below, button])
    inside, fits = list[Block](), True
    for part in _pack(fold.parts):
        blocks = sections(part)
        room = len(inside) + len(blocks) <= FOLD_BLOCKS and _size([*inside, *blocks]) <= space
        if not room:
            fits = False
            break
        inside += blocks
    if not inside:
        return [*above, *([button] if fold.parts else []), *below]
    container: Block = {
        "block_id": f"{FOLD}{fold.value}",
        "child_blocks": inside,
        "default_collapsed": True,
        "is_collapsible": True,
        "title": plain_text(fold.title[:FOLD_TITLE]),
        "type": "container",
    }
    return [*above, container, *([] if fits else [button]), *below]


def has_room(above: Sequence[Block], below: Sequence[Block]) -> bool:
    """Whether these blocks and a fold, or at least its button, fit into one message."""
    return _size([*above, *below, read_all_button("")]) + _VALUE_LIMIT <= _MESSAGE_LIMIT


def full_blocks(fold: FoldedBlock, most: int) -> list[Block]:
    """Return all text of a fold as at most `most` blocks; says so if more is left out."""
    parts = _pack([without_addresses(part) for part in fold.parts])
    blocks = [block for part in parts for block in sections(part)]
    if len(blocks) <= most:
        return blocks
    return [*blocks[: most - 1], *sections("_… The rest is in the debate's report._")]


def titled_pieces(title: str, text: str) -> list[str]:
    full_text = f"*{title}*\n{text or '_Nothing was said._'}"
    return split(full_text, SECTION_TEXT)


def _pack(parts: Sequence[str]) -> Sequence[str]:
    """Join parts that fit into one section."""
    packed = list[str]()
    for part in parts:
        if packed and len(packed[-1]) + len(part) + 2 <= SECTION_TEXT:
            packed[-1] += f"\n\n{part}"
        else:
            packed.append(part)
    return packed


def _size(blocks: Sequence[Block]) -> int:
    return len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))


#: A view as JSON.
Form = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A field of a form. Its id is both block id and action id."""

    id: str
    label: str
    #: Shown below the field.
    hint: str = ""
    #: Whether people may leave it empty.
    optional: bool = field(default=False, kw_only=True)
    #: The choice that filled the field. It is part of the block id, because Slack keeps the entered
    #: value of a block while its id stays the same.
    filled_by: str = field(default="", kw_only=True)


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
        ValueError: A limit of Slack is exceeded.
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
    """Return a dialog that shows a text, which is safe mrkdwn."""
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
    """Return a text field for at most `most` characters."""
    initial = {"initial_value": value} if value else {}
    return field_block(field, "plain_text_input", **initial, max_length=most, multiline=multiline)


def checkbox(field: Field, choice: str, *, on: bool = False) -> Block:
    option = {"text": {"text": choice, "type": "mrkdwn"}, "value": "yes"}
    initial = {"initial_options": [option]} if on else {}
    return field_block(field, "checkboxes", **initial, options=[option])


def select(field: Field, options: Mapping[str, str], initial: str = "") -> Block:
    """Return a menu for one value. Options map values to labels."""
    entries = _options(options)
    fields = {"initial_option": entries[initial]} if initial in entries else {}
    return field_block(field, "static_select", **fields, options=list(entries.values()))


def multi_select(field: Field, options: Mapping[str, str], initial: Sequence[str] = ()) -> Block:
    entries = _options(options)
    first = [entries[value] for value in initial if value in entries]
    fields = {"initial_options": first} if first else {}
    return field_block(field, "multi_static_select", **fields, options=list(entries.values()))


def field_block(field: Field, kind: str, **properties: object) -> Block:
    """Return a field with its label. `kind` is Slack's type of the element."""
    return {
        "block_id": "~".join(filter(None, (field.id, field.filled_by))),
        "element": {"action_id": field.id, **properties, "type": kind},
        **({"hint": _label(field.hint)} if field.hint else {}),
        "label": _label(field.label),
        "optional": field.optional,
        "type": "input",
    }


def _options(options: Mapping[str, str]) -> Mapping[str, Block]:
    """The options by value. Long labels are shortened so that no two become the same."""
    words = list(options.values())
    if any(len(text) > OPTION_TEXT for text in words):
        words = short_names(words, OPTION_TEXT)
    return {
        value: {"text": _label(text), "value": value}
        for value, text in zip(options, words, strict=True)
    }


def _label(words: str) -> Block:
    return {"text": words[:FIELD_LABEL], "type": "plain_text"}
