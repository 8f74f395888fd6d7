"""What views build: messages and forms of blocks, what they fold away, safe names and words (pure).

Money, spans of time, counts and dates are said as everywhere: `core.transcript.words`.
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
from core.debate.state import Debate
from core.debate.turn import Turn
from core.debate.verdict import Verdict
from core.figures import when
from core.rules.options import short_names
from core.transcript.words import ResultLine, ResultSection, letters_words, table
from core.transcript.words import confidence as confidence_of
from core.transcript.words import name_of as transcript_name

#: Characters of text in one post. Screen readers read the top-level text, so it carries all of
#: it, and Slack advises at most 4,000 there.
PAGE_LIMIT = 3500
#: Posts that one text becomes at most: it takes a second to send each.
MOST_PAGES = 20
_CONTEXT_LIMIT, _USERNAME_LIMIT = 1500, 80


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """What is shown: blocks for the eye, text for notifications and screen readers."""

    text: str
    blocks: Sequence[Block]
    #: Shown instead of the app's name and picture.
    speaker: Agent | None = None

    @property
    def payload(self) -> dict[str, Any]:
        payload = {"text": self.text, "blocks": [dict(block) for block in self.blocks]}
        if self.speaker is None:
            return payload
        name = bare(title(self.speaker), _USERNAME_LIMIT)
        return {**payload, "username": name, "icon_emoji": icon(self.speaker)}


def header(words: str) -> Block:
    """A large line; words of ours only."""
    return {"text": {"text": words[:HEADER_TEXT], "type": "plain_text"}, "type": "header"}


def sections(text: str) -> list[Block]:
    """Safe mrkdwn as sections, shown in full: no "see more"."""
    return [
        {"expand": True, "text": verbatim(piece), "type": "section"}
        for piece in split(text, SECTION_TEXT)
    ]


def context(*lines: str) -> list[Block]:
    """Safe mrkdwn in small print; no block where nothing is said."""
    pieces = split("\n".join(filter(None, lines)), _CONTEXT_LIMIT)[:CONTEXT_ELEMENTS]
    if not pieces:
        return []
    return [{"elements": [verbatim(piece) for piece in pieces], "type": "context"}]


def notice(text: str, *more: Block) -> MessageView:
    """A message of one safe mrkdwn text, and what stands below it."""
    return MessageView(text=text, blocks=[*sections(text), *more])


def pages(text: str) -> list[str]:
    """A model's Markdown as safe mrkdwn, a post's worth in each piece."""
    return in_pages(mrkdwn(text))


def in_pages(text: str) -> list[str]:
    """Safe mrkdwn in pieces of one post; pieces above `MOST_PAGES` are only counted."""
    pieces = split(text, PAGE_LIMIT)
    if len(pieces) <= MOST_PAGES:
        return pieces
    rest = len(pieces) - MOST_PAGES + 1
    return [*pieces[: MOST_PAGES - 1], f"_… {rest} more posts are left out; the report has them._"]


def item_list(items: Iterable[str], limit: int, joint: str = "\n") -> str:
    """Return as many items as fit into the limit, and say how many do not."""
    fitting, size = list[str](), 0
    whole = list(items)
    for item in whole:
        size += len(item) + len(joint)
        if size > limit:
            return joint.join([*fitting, f"… and {len(whole) - len(fitting)} more"])
        fitting.append(item)
    return joint.join(fitting)


_NAME_LIMIT = 120
OFFLINE_NOTE = "Offline engine: built from checklists by rules. No AI model was asked."
EXAMPLE_NOTE = ":pencil2: Written example, played by the real engine. No AI model was asked."
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")
_PERSON = re.compile(r"[UW][A-Z0-9]{1,20}")


def turn_noun(debate: Debate, turn: Turn) -> str:
    """What the turn is, without its agent: "critique of Ben's proposal"."""
    is_about = turn.target in {agent.id for agent in debate.setup.agents}
    of = f" of {name_of(debate, turn.target or '')}'s proposal" if is_about else ""
    return turn.act.noun + of


def name_of(debate: Debate, agent_id: str) -> str:
    """An agent's name, safe; its id where the debate does not know it."""
    return literal(plain_name(debate, agent_id))


def plain_name(debate: Debate, agent_id: str) -> str:
    """An agent's name on one line, not escaped."""
    return bare(transcript_name(debate, agent_id), _NAME_LIMIT) or agent_id


def letters(debate: Debate, *texts: Contribution | Summary) -> str:
    """A key to the letters by which these texts name agents; empty where they name none."""
    words = letters_words(debate, texts)
    return f"Letters agents go by: {literal(words)}" if words else ""


def icon(agent: Agent) -> str:
    """The agent's emoji code, if it is one."""
    return agent.icon if _EMOJI.fullmatch(agent.icon) else ":speech_balloon:"


def title(agent: Agent) -> str:
    """Name and role, not escaped: "Ann (architect)"; the role once, where both are the same."""
    name, role = (bare(word, _NAME_LIMIT) for word in (agent.name or agent.id, agent.role))
    return name if role.casefold() in name.casefold() else f"{name} ({role})"


def person(someone: Person) -> str:
    """A person as Slack shows them."""
    if _PERSON.fullmatch(someone.id):
        return f"<@{someone.id}>"
    return gist(someone.display_name, _NAME_LIMIT)


def is_offline(agent: Agent) -> bool:
    return agent.provider == OFFLINE


def all_offline(debate: Debate) -> bool:
    return all(map(is_offline, (*debate.setup.agents, debate.setup.judge)))


def is_example(debate: Debate) -> bool:
    """Whether the debate was written by hand, as an example."""
    return all(agent.provider == EXAMPLE for agent in debate.setup.agents)


def confidence(reached: Verdict) -> str:
    return literal(confidence_of(reached))


def moment(at: datetime) -> str:
    """A date and time that Slack shows each reader in their own time zone."""
    fallback = when(at)
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{fallback}>"


_TITLE_LIMIT = 60
_LABEL_LIMIT = 300


def section_text(debate: Debate, section: ResultSection, limit: int = 0) -> str:
    """A section of a result, safe, under its title; its lines within a limit, if there is one."""
    if section.is_empty:
        return ""
    lines = [f"• {line_text(debate, line)}" for line in section.lines]
    table_of = table(section.head, section.rows) if section.rows else ""
    parts = (
        mrkdwn(section.text),
        item_list(lines, limit or sum(map(len, lines)) + len(lines)),
        mrkdwn(table_of),
        mrkdwn(section.note),
    )
    return f"*{gist(section.title, _TITLE_LIMIT)}*\n" + "\n".join(filter(None, parts))


def line_text(debate: Debate, line: ResultLine) -> str:
    """A line, safe: who said it is mentioned, and a link leads to the post that says more."""
    label = f"*{gist(line.label, _LABEL_LIMIT)}*" if line.label else ""
    if line.by:
        label += f", {person(line.by)}" if label else person(line.by)
    text = mrkdwn(line.text).replace("\n", "\n    ")
    if line.turn:
        where = address_of(post_key(debate, line.turn))
        text += f" (<{where}|{name_of(debate, line.turn.agent)}'s post>)"
    mark = ":warning: " if line.is_warning else ""
    return mark + (f"{label}{':' if line.label else ''} {text}" if label else text)


#: Stands in a fold's value for the verdict; else the key of a turn does.
VERDICT = "verdict"
#: Characters of a message's blocks as JSON: addresses are filled in later.
_MESSAGE_LIMIT = MESSAGE_JSON - 1700
#: Characters of a fold's value, at most.
_VALUE_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class FoldedBlock:
    """What is not shown at first."""

    #: What it is, in words of ours.
    title: str
    #: Safe mrkdwn, a title of its own in each; the first ones are kept where not all fit.
    parts: Sequence[str]
    #: Says to the button what to show: "debate/turn" or "debate/verdict", the same for ever.
    value: str


def folded(fold: FoldedBlock, above: Sequence[Block], below: Sequence[Block] = ()) -> list[Block]:
    """Return a message's blocks with a collapsed block between them.

    Where it does not fit, a button opens all of it.
    """
    button = read_all_button(fold.value)
    space = _MESSAGE_LIMIT - _size([*above, *below, button])
    inside, fits = list[Block](), True
    for part in _packed(fold.parts):
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
    """Whether a message can hold these blocks and a fold, or at least its button."""
    return _size([*above, *below, read_all_button("")]) + _VALUE_LIMIT <= _MESSAGE_LIMIT


def in_full(fold: FoldedBlock, most: int) -> list[Block]:
    """Return everything as sections, as many as there may be; says it where that is not all."""
    parts = _packed([without_addresses(part) for part in fold.parts])
    blocks = [block for part in parts for block in sections(part)]
    if len(blocks) <= most:
        return blocks
    return [*blocks[: most - 1], *sections("_… The rest is in the debate's report._")]


def pieces_of(title: str, text: str) -> list[str]:
    whole = f"*{title}*\n{text or '_Nothing was said._'}"
    return split(whole, SECTION_TEXT)


def _packed(parts: Sequence[str]) -> Sequence[str]:
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
    """A place in a form; its id is block id and action id at once."""

    id: str
    label: str
    #: A word below.
    hint: str = ""
    #: It may be left empty.
    optional: bool = field(default=False, kw_only=True)
    #: What filled it. Slack keeps what is in a block as long as that has the same id: where another
    #: choice fills a field anew, its block has a new one.
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
