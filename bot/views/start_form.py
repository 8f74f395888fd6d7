"""The forms to start a debate and to edit the settings of a channel (pure).

Reason: both forms share their fields, each of which is written once, here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from bot.slack.blocks import Block
from bot.slack.ids import CallbackId, FieldId, further
from bot.slack.limits import FIELD_TEXT, OPTIONS
from bot.slack.mrkdwn import bare, gist
from bot.views.message import (
    Field,
    Form,
    checkbox,
    context,
    field_block,
    form,
    multi_select,
    sections,
    select,
    text_input,
)
from core.debate.agenda import Agenda
from core.debate.agents import Role
from core.debate.evidence import SourceReference
from core.debate.rules import MOST_ROUNDS
from core.figures import money, quantity
from core.rules.casting import cast_by_topics
from core.rules.formats.registry import formats_with
from core.use_cases.choices import NO_PLAYBOOK, WAITS, ChannelChoices, Choices, ModelSet
from core.values import Value

#: The value of "nothing chosen" in menus, as Slack takes no empty value.
AS_USUAL = "as-usual"
_ON, _OFF = "on", "off"
_SHADOW_WORDS = {True: "yes", False: "no", None: "where several models debate"}
_OTHERS_WORDS = {True: "everybody in the channel", False: "people of this workspace"}
#: The menu value of a setting that is on, off, or not set (None).
_STATES = {None: AS_USUAL, True: _ON, False: _OFF}
STATES: Mapping[str, bool] = {_ON: True, _OFF: False}
_ESTIMATE_BLOCK = "estimate"
#: Menus whose choice changes the estimate.
COSTLY = (FieldId.PLAYBOOK, FieldId.FORMAT, FieldId.AGENTS, FieldId.ROUNDS, FieldId.MODELS)
_NO_KIND = "None"
_NAME_LIMIT = 40
_TITLE_LIMIT = 120
#: Most characters of a question. A message that is not longer is the question itself.
_SHORT = 300
#: The gap between two sentences; does not match inside "2.5".
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")
#: Words of a question that asks for a decision, in English and in German.
_DECIDING = re.compile(
    r"\b(?:should|shall|which|whether|or|versus|vs|better|choose|decide|sollen|sollten|soll|"
    r"welche[rs]?|oder|besser)\b",
    re.IGNORECASE,
)


class FormDraft(Value):
    """The content of the form to start a debate."""

    question: str = ""
    context: str = ""
    #: The rest of a context that is too long for one field, for further fields.
    more: tuple[str, ...] = ()
    choices: Choices = Choices()

    @property
    def full_context(self) -> str:
        return "\n".join(filter(None, (self.context, *self.more)))


@dataclass(frozen=True, kw_only=True)
class FormOptions:
    """The choices that both forms offer."""

    agents: Mapping[str, str]
    models: Sequence[ModelSet]
    #: Playbooks: name → title. If empty, the form has no menu for them.
    playbooks: Mapping[str, str] = field(default_factory=dict[str, str])
    #: The models used if none are chosen, in short; may be empty.
    usual_models: str = ""
    #: Whether agents are cast for each question if nobody chooses them.
    casts: bool = False
    #: The highest cost cap that the operator allows; None: no limit.
    most_cost: Decimal | None = None
    #: From plugins: formats, and roles that are cast by topics.
    agendas: Sequence[Agenda] = ()
    roles: Sequence[Role] = ()


class FormTarget(Value):
    """The channel and the message that a form is for. The form keeps it in its metadata."""

    #: If empty, the person chooses it in the form.
    channel: str = ""
    #: Link to the message to debate.
    source: str = ""
    #: Timestamps of that message and of the root of its thread; empty if there is none.
    message: str = ""
    thread: str = ""
    #: The files of that message, or the verdict that the debate continues from.
    references: tuple[SourceReference, ...] = ()
    #: Id of the debate that it continues from, if any.
    continues: str = ""

    @property
    def metadata(self) -> Mapping[str, object]:
        fields = self.model_dump(mode="json", exclude_defaults=True)
        return {"channel": self.channel, "source": self.source, **fields}


def extract_question(text: str) -> str:
    """Return the question that a message asks.

    A short text is the question. From a long text, takes the last question that asks for a decision
    ("Any thoughts?" does not), else the last question, else the beginning.
    """
    full_text = text.strip()
    if len(full_text) <= _SHORT:
        return full_text
    sentences = [" ".join(sentence.split()) for sentence in _BETWEEN.split(full_text)]
    questions = [text for text in sentences if text.endswith("?") and any(map(str.isalnum, text))]
    deciding = [text for text in questions if _DECIDING.search(text)]
    last = [*questions, *deciding][-1:]
    question = last[0] if last else next(filter(None, sentences))
    if len(question) <= _SHORT:
        return question
    end = question.rfind(" ", 0, _SHORT)
    return question[: end if end > _SHORT // 2 else _SHORT - 1].rstrip() + "…"


def split_into_fields(text: str) -> tuple[str, ...]:
    """Split a text into pieces of `FIELD_TEXT` characters, at ends of lines or words if possible.

    White space between two pieces is dropped.
    """
    pieces, remaining = list[str](), text.strip()
    while len(remaining) > FIELD_TEXT:
        ends = (remaining.rfind(gap, FIELD_TEXT // 2, FIELD_TEXT) for gap in ("\n", " "))
        end = next((end for end in ends if end > 0), FIELD_TEXT)
        pieces.append(remaining[:end].rstrip())
        remaining = remaining[end:].lstrip()
    return (*pieces, remaining)


def start_form(draft: FormDraft, options: FormOptions, target: FormTarget, estimate: str) -> Form:
    choices = draft.choices
    kind = "" if choices.playbook in {None, NO_PLAYBOOK} else str(choices.playbook)
    context_field = _field(
        FieldId.CONTEXT, "What is new" if target.continues else "Context", _CONTEXT_HINT
    )
    asking = _field(
        FieldId.CLARIFY,
        "Questions first",
        "What the playbook asks, people are asked in any case." if kind else "",
    )
    thread = _field(FieldId.THREAD, "The message's thread")
    block = context(f":stopwatch: {gist(estimate, 300)}")[0]
    blocks = [
        *([] if target.channel else [_CHANNEL]),
        text_input(_QUESTION, value=draft.question[:FIELD_TEXT], multiline=True),
        *context(*_from(target)),
        text_input(context_field, value=draft.context[:FIELD_TEXT], multiline=True),
        *(
            text_input(
                _field(further(FieldId.CONTEXT, number), f"Context, part {number}"),
                value=text[:FIELD_TEXT],
                multiline=True,
            )
            for number, text in enumerate(draft.more, start=2)
        ),
        text_input(_SOURCES, multiline=True),
        *([checkbox(thread, "Give the agents what was said in it")] if target.thread else []),
        {**block, "block_id": _ESTIMATE_BLOCK},
        *_menus(choices, options, empty=_cast_line(draft, options), filled_by=kind),
        *_money(choices, options),
        checkbox(
            asking,
            "Agents may ask people before round 1 what they need to know",
            on=bool(choices.clarify),
        ),
        checkbox(_SEALED, _SEALED_WORDS, on=bool(choices.sealed)),
    ]
    return form(
        CallbackId.START_FORM,
        title="Start a debate",
        submit="Start",
        blocks=[_with_dispatch(block) for block in blocks],
        metadata=target.metadata,
    )


def _field(name: str, label: str, hint: str = "") -> Field:
    """A field that may be left empty."""
    return Field(name, label, hint, optional=True)


def settings_form(
    channel: str,
    current: ChannelChoices,
    usual: Choices,
    options: FormOptions,
    *,
    is_open: bool = False,
) -> Form:
    """Return the form for a channel's settings.

    Args:
        channel: Slack's id of the channel.
        current: Its present settings.
        usual: The defaults.
        options: The choices.
        is_open: Whether people of other organisations take part by default.
    """
    choices = current.choices
    initial_users = {"initial_users": list(current.stewards)} if current.stewards else {}
    usual_agents = "three to five chosen for each question"
    if usual.agents is not None:
        usual_agents = f"as Moot is set up ({_agent_names(usual.agents, options)})"
    waits = {str(minutes): _wait(minutes) for minutes in WAITS}
    usual_wait = _wait(usual.wait_minutes or 0)
    blocks = [
        *sections(f"What holds for debates in <#{channel}> when nobody chooses otherwise."),
        *_menus(choices, options, usual=usual, empty=usual_agents),
        _menu(_ASKING, _ASKING_WORDS, _STATES[choices.clarify], "yes" if usual.clarify else "no"),
        _menu(_WAITING, waits, str(choices.wait_minutes or AS_USUAL), usual_wait),
        *_money(choices, options),
        _menu(_ALONE, _ALONE_WORDS, _STATES[choices.shadow], _SHADOW_WORDS[usual.shadow]),
        field_block(_STEWARDS, "multi_users_select", **initial_users),
        checkbox(
            _SEALED,
            _SEALED_WORDS,
            on=bool(usual.sealed if choices.sealed is None else choices.sealed),
        ),
        *(checkbox(box, words, on=getattr(current, box.id)) for box, words in CHANNEL_BOXES),
        _menu(_OPEN, _OPEN_WORDS, _STATES[current.open_to_others], _OTHERS_WORDS[is_open]),
        *context("A line in the channel says that you changed this."),
    ]
    return form(
        CallbackId.SETTINGS_FORM,
        title="Debates in this channel",
        submit="Save",
        blocks=blocks,
        metadata={"channel": channel},
    )


def _with_dispatch(block: Block) -> Block:
    """The block; in a menu that changes the estimate, Slack reports each choice at once."""
    name = str(block.get("block_id", "")).partition("~")[0]
    return {**block, "dispatch_action": True} if name in set(COSTLY) else block


# --- fields, each declared once for one or both forms ---

_QUESTION = Field(
    FieldId.QUESTION,
    "Question",
    "What is to be decided? Agents check every proposal against what “must” or “shall” hold.",
)
_CONTEXT_HINT = "What everybody should know: numbers, limits, what was tried."
_SOURCES = _field(
    FieldId.SOURCES,
    "Sources",
    "Links to messages, threads and files of the channel (their menus: Copy link), and to "
    "pages that Moot may read. Agents quote them, and every quote is checked. For a review: what "
    "is to be reviewed.",
)
_CHANNEL = field_block(
    Field(FieldId.CHANNEL, "Channel", "Moot and you must both be in it."),
    "conversations_select",
    filter={"exclude_bot_users": True, "include": ["public", "private"]},
)
_PLAYBOOK = Field(
    FieldId.PLAYBOOK,
    "Playbook",
    "A kind of debate: who debates and how, what people are asked, what is compared, and "
    "what the verdict holds.",
)
_SEALED = _field(
    FieldId.SEALED,
    "Sealed ballot",
    "What the agents hold and decide is shown when somebody who may steer reveals it.",
)
_SEALED_WORDS = "People vote before they see what the agents say"
_ASKING = Field(FieldId.CLARIFY, "Agents ask people before round 1")
_ASKING_WORDS = {_ON: "Yes, they may ask", _OFF: "No, they begin at once"}
_WAITING = Field(FieldId.WAIT, "How long people have to answer")
_ALONE = Field(
    FieldId.SHADOW,
    "A single answer beside each debate",
    "One model answers alone, unseen until the verdict; then you read whether the "
    "debate said anything else, and what it added.",
)
_ALONE_WORDS = {_ON: "Yes, in every debate", _OFF: "No"}
_STEWARDS = _field(
    FieldId.STEWARDS,
    "Who may steer debates",
    "They can stop, pause and call the vote, like the person who started a debate.",
)
_OPEN = Field(
    FieldId.OPEN_TO_OTHERS,
    "Who may start debates and answer",
    "Your workspace pays for what anybody starts here.",
)
_OPEN_WORDS = {
    _OFF: f"Only {_OTHERS_WORDS[False]}",
    _ON: f"{_OTHERS_WORDS[True].capitalize()}, other organisations (Slack Connect) too",
}
#: Checkboxes of the settings with their labels. The ids are names of fields in `ChannelChoices`.
CHANNEL_BOXES: Sequence[tuple[Field, str]] = (
    (_field(FieldId.KEEP_PINNED, "When a debate ends"), "Keep its board pinned"),
    (
        _field(
            FieldId.EVERY_TURN,
            "In the thread",
            "Else each agent posts once a round, with everything it wrote folded beneath. "
            "Holds for debates that start from now on.",
        ),
        "Post every turn",
    ),
    (
        _field(
            FieldId.NO_PAGES,
            "Pages for people without Slack",
            "Where whoever runs Moot allows them, people of this channel can share a link "
            "to a debate. Links that are out lead nowhere while this is set.",
        ),
        "None of this channel's debates",
    ),
)


def _from(target: FormTarget) -> Iterator[str]:
    """The message that the question is from, and the other sources that the agents read."""
    if target.source:
        yield f"From <{target.source}|this message>."
    if target.references:
        titles = ", ".join(gist(reference.title, _TITLE_LIMIT) for reference in target.references)
        yield f":page_facing_up: The agents will read: {titles}"


def _menus(
    choices: Choices,
    options: FormOptions,
    *,
    usual: Choices | None = None,
    empty: str,
    filled_by: str = "",
) -> Iterator[Block]:
    """The menus for playbook, format, agents and rounds.

    Args:
        choices: The present choices.
        options: The choices that the menus offer.
        usual: The defaults; None: a choice is required.
        empty: In words, the agents of an empty choice.
        filled_by: The playbook that filled the fields.
    """
    if options.playbooks:
        none = {AS_USUAL: _as_usual("none")} if usual else {NO_PLAYBOOK: _NO_KIND}
        menu = {**none, **dict(list(options.playbooks.items())[: OPTIONS - 1])}
        initial = choices.playbook if choices.playbook in menu else next(iter(none))
        yield select(_PLAYBOOK, menu, initial)
    formats = {form.name: form.words for form in formats_with(options.agendas).values()}
    field = Field(FieldId.FORMAT, "Format", filled_by=filled_by)
    yield _menu(field, formats, choices.format or "", usual and usual.format)
    hint = "At least two; each argues from its own point of view."
    field = Field(
        FieldId.AGENTS,
        "Agents",
        f"{hint} Empty: {empty}." if empty else hint,
        optional=bool(empty),
        filled_by=filled_by,
    )
    yield multi_select(field, options.agents, choices.agents or ())
    rounds = {str(n): quantity(n, "round") for n in range(1, MOST_ROUNDS + 1)}
    field = Field(FieldId.ROUNDS, "Rounds", filled_by=filled_by)
    usual_rounds = str(usual.rounds) if usual and usual.rounds else None
    yield _menu(field, rounds, str(choices.rounds or ""), usual_rounds)


def _menu(field: Field, words: Mapping[str, str], initial: str, usual: str | None) -> Block:
    """A menu. With a default (`usual`, in words), people need not choose."""
    menu = {AS_USUAL: _as_usual(usual), **words} if usual is not None else words
    return select(field, menu, initial if initial in menu else AS_USUAL)


def _cast_line(draft: FormDraft, options: FormOptions) -> str:
    """The agents that would be cast by the question's words; empty if agents are not cast."""
    if not options.casts:
        return ""
    if not draft.question.strip():
        return "the channel's, else three to five chosen for the question"
    cast = cast_by_topics(f"{draft.question}\n{draft.full_context}", options.roles)
    names = _agent_names([role.role for role in cast], options)
    return f"the channel's, else chosen for the question; by its words {names}"


def _agent_names(ids: Sequence[str], options: FormOptions) -> str:
    return ", ".join(bare(options.agents.get(agent, agent), _NAME_LIMIT) for agent in ids)


def _money(choices: Choices, options: FormOptions) -> Sequence[Block]:
    models = {model.id: model.words for model in options.models}
    cap = Field(
        FieldId.COST_CAP,
        "Cost cap in US dollars",
        "A debate stops before it costs more, as far as prices are known. "
        "Empty: the cap of the channel or of Moot. "
        + (f"{money(options.most_cost)} at most." if options.most_cost else "“none”: no cap."),
        optional=True,
    )
    field = Field(FieldId.MODELS, "Models")
    return [
        _menu(field, models, choices.models or "", options.usual_models),
        text_input(cap, value=str(choices.debate_cost or ""), most=12),
    ]


def _wait(minutes: int) -> str:
    hours, remainder = divmod(minutes, 60)
    return quantity(hours, "hour") if hours and not remainder else quantity(minutes, "minute")


def _as_usual(words: str) -> str:
    return "As Moot is set up" + (f" ({words})" if words else "")
