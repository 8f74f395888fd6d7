"""The `offline` provider: answers from checklists, without a model, a key or a network.

Where the checklists do not know the options of a question, nobody takes a side. Texts of others are
read for two things only: the option a position of this engine stands for (its first line), and the
questions it asks. So an order to the reader has nothing to work on.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import accumulate, dropwhile
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from core.debate.turn import Act
from core.debate.verdict import NOT_DECIDED
from core.debate.vote import NextStep, QuestionKind
from core.errors import RequestRejected
from core.request import ModelReply, ModelRequest, PartKind
from core.rules.options import NONE_OF_THESE
from core.usage import Usage

#: The only model it serves.
MODEL = "offline-checklists"
#: Stands once in every post, so that nobody takes it for a model's answer.
FOOTER = "_Offline engine: from checklists. No model was asked._"
UNDECIDED = f"{NOT_DECIDED}."
#: Where models wrote positions and only their judge is this engine.
NOT_JUDGED = f"{NOT_DECIDED} for the verdict."
_CANNOT = "No model was asked, and a checklist cannot do this."
_JUDGES_NOTHING = "The judge was the offline engine, which judges nothing."
_NO_WINNER = "No option of the checklists won a vote."
_NO_JUDGEMENT = (
    "**This is the result of checklists, and no judgement.** They know nothing of your case."
)
_NO_REVIEW = "No model was asked: a checklist finds nothing in a text."
#: Percent that a role gives the option its checklist weighs highest.
_FOR_ITS_CHOICE = 70
_MOST_POINTS = 3
#: Questions of all roles in a verdict.
_MOST_OPEN = 9
#: Characters of a summary, where the request allows more.
_SUMMARY, _CHARACTERS_PER_TOKEN = 2400, 3.5
#: Key under which a role keeps the points that fit every question about software.
ANY = "any"
#: Answers for roles without a checklist of their own.
GENERALIST = "generalist"
_DATA = Path(__file__).parent / "checklists"
_WORD = re.compile(r"[a-z0-9+#]+")
#: Words up to this length are not taken for the beginning of longer ones.
_SHORT = 3
#: Characters of one text that are read, and of a sentence that is searched for options.
_READ_AT_MOST, _LONGEST_CHOICE = 12_000, 400
_MOST_TOPICS = 2
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_CHOOSES = re.compile(r" or | vs|\?$")
_BETWEEN_OPTIONS = re.compile(r",? (?:or|vs|versus) (?:else )?|, ")
#: From the first of the words: where nothing follows it, nothing follows a later one.
_MOVES = re.compile(
    r"\A(?:(?!\b(?:from|move|migrate) ).)*\b(?:from|move|migrate) (.*) to (.*)", re.IGNORECASE
)
#: Words that may lead to an option and change nothing about it.
_LEADING = (
    "should shall could can would will does do did we i you they one it is are was better best to "
    "either whether use using choose choosing pick take adopt try prefer run between which what "
    "our the a an two move migrate switch from"
)
#: What begins the words that say what an option is for.
_PURPOSE = re.compile(r" (?:for|as|in|on|to|when|with|if) ")


class OfflineProvider:
    name = "offline"

    async def load(self) -> None:
        """Read what it knows now, without blocking the event loop."""
        await asyncio.to_thread(checklists)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        text = answer(request)
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=MODEL)

    async def close(self) -> None:
        """Nothing is held open."""


def answer(request: ModelRequest) -> str:
    """The reply to a request: the same one for the same request. Structured acts get JSON."""
    reply_to = _REPLIES.get(request.act)
    if reply_to is None:
        raise RequestRejected("No model was asked: the offline engine has only checklists.")
    reply = reply_to(_Reader(request))
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Technology(_Entry):
    title: str
    #: All the ways an option may be written, in lower case and in the singular.
    names: tuple[str, ...]
    #: By criterion: -2 (clearly bad) to 2 (clearly good), and a predicate that follows the title.
    notes: Mapping[str, tuple[int, str]]


class Topic(_Entry):
    words: tuple[str, ...]
    #: Keys of the things that compete here. Only things of one topic can be compared.
    things: tuple[str, ...] = ()
    #: False: it is about people, money or words.
    software: bool = True


class OpenPoint(_Entry):
    question: str
    assumption: str
    #: Words in a text that settle it.
    words: tuple[str, ...] = ()
    #: Topics it matters for; empty: every question.
    topics: tuple[str, ...] = ()


class RoleChecklist(_Entry):
    """A point of view: what it values and what it asks."""

    #: Completes "the checklist of …".
    title: str
    #: Weight of each criterion.
    values: Mapping[str, int]
    #: Keys of open points, most important first.
    asks: tuple[str, ...]
    #: What it asks about a matter that is not about software.
    anything: tuple[str, ...]
    #: What it asks about software, by topic.
    checks: Mapping[str, tuple[str, ...]]


class Checklists(_Entry):
    things: Mapping[str, Technology]
    topics: Mapping[str, Topic]
    open_points: Mapping[str, OpenPoint]
    roles: Mapping[str, RoleChecklist]


@cache
def checklists() -> Checklists:
    # By libyaml where it is there, ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def read(file: Path) -> object:
        return yaml.load(file.read_text("utf-8"), Loader=loader)  # noqa: S506 - a safe loader

    parts = {name: read(_DATA / f"{name}.yaml") for name in ("things", "topics", "open_points")}
    roles = {file.stem: read(file) for file in sorted((_DATA / "roles").glob("*.yaml"))}
    return Checklists.model_validate({**parts, "roles": roles})


@cache
def things_by_name() -> Mapping[str, str]:
    """Every name of every thing, as `singular` writes it, with the thing's key."""
    things = checklists().things.items()
    return {singular(name): key for key, thing in things for name in thing.names}


def normal(text: str) -> str:
    """The words of a text in lower case with one space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def singular(phrase: str) -> str:
    """A short phrase in lower case, without the plural s of its last word."""
    return normal(phrase).strip().removesuffix("s")


def mentions(normalised: str, word: str) -> bool:
    """Whether a text from `normal` has this word or, from four letters on, one beginning with it.

    A plural s is allowed to shorter ones.
    """
    if len(word) > _SHORT:
        return f" {word}" in normalised
    return f" {word} " in normalised or f" {word}s " in normalised


def read_question(question: str, context: str = "") -> tuple[Sequence[str], Sequence[str]]:
    """Keys of the things a question chooses between, none unless all are known; of its topics.

    Plain English only: "A or B", "A vs B", "from X to Y", "should we X"; in linear time.
    """
    question, context = question[:_READ_AT_MOST].replace(" vs. ", " vs "), context[:_READ_AT_MOST]
    sentences = [s.strip() for s in _SENTENCE_END.split(question) if s.strip()]
    choice = next((s for s in sentences if _CHOOSES.search(s)), "".join(sentences[:1]))
    options, has_purpose = _options_in(choice if len(choice) <= _LONGEST_CHOICE else "")
    things = [things_by_name().get(singular(option), "") for option in options]
    text, topics = normal(f"{question}\n{context}"), checklists().topics
    counts = {key: sum(mentions(text, word) for word in topics[key].words) for key in topics}
    shared = [
        key
        for key, topic in topics.items()
        if {*things} <= {*topic.things} and (counts[key] or not has_purpose)
    ]
    if len({*things}) == len(things) > 1 and shared:
        return things, shared
    named = sorted(filter(counts.get, counts), key=lambda key: -counts[key])
    return (), named[:_MOST_TOPICS]


def _options_in(choice: str) -> tuple[Sequence[str], bool]:
    """What a sentence chooses between; whether it says what for."""
    parts = choice.rstrip("?!. ").split(": ")
    text = next((part for part in parts if " or " in part or " vs" in part), parts[-1])
    pieces = [piece for piece in _BETWEEN_OPTIONS.split(f" {text} ") if piece.strip()]
    if len(pieces) == 1 and (move := _MOVES.search(text)):
        pieces = [*move.groups()]
    options = [_PURPOSE.split(f" {piece.strip()} ", maxsplit=1) for piece in pieces]
    bare = [dropwhile(_leads, option.split()) for option, *_ in options]
    return [" ".join(words) for words in bare], any(purpose for _, *purpose in options)


def _leads(word: str) -> bool:
    return word.lower().strip(",") in _LEADING.split()


class _Reader:
    """A request as the checklist of its role reads it."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        roles = checklists().roles
        self.role = roles.get(request.role, roles[GENERALIST])
        self.checklist = f"the checklist of {self.role.title}"
        things, topics = read_question(*map(self.joined, (PartKind.QUESTION, PartKind.CONTEXT)))
        self.topics = {key: checklists().topics[key] for key in topics}
        #: What the question chooses between, best first for this role; empty where unknown.
        self.things = sorted(
            map(checklists().things.__getitem__, things), key=self.weight, reverse=True
        )

    @property
    def choice(self) -> Technology | None:
        """The thing this role's checklist weighs highest; None where two weigh the same."""
        clear = len(self.things) > 1 and self.weight(self.things[0]) > self.weight(self.things[1])
        return self.things[0] if clear else None

    @property
    def questions(self) -> Sequence[str]:
        """What this role would ask: of the question's topics, then of any such question."""
        is_software = any(topic.things for topic in self.topics.values())
        checks = [
            check
            for key, topic in self.topics.items()
            if is_software or not topic.software
            for check in self.role.checks.get(key, ())
        ]
        general = self.role.checks.get(ANY, ()) if is_software else self.role.anything
        return [*checks[: _MOST_POINTS - 1 if is_software else 1], *general][:_MOST_POINTS]

    def weight(self, thing: Technology) -> int:
        values = self.role.values
        return sum(values.get(key, 0) * amount for key, (amount, _) in thing.notes.items())

    def notes(self, thing: Technology, sign: int) -> Sequence[str]:
        """What speaks for a thing (sign 1) or against it (-1), the weightiest first."""
        values, notes = self.role.values, thing.notes.items()
        worth = {says: sign * values.get(key, 0) * amount for key, (amount, says) in notes}
        return sorted((says for says in worth if worth[says] > 0), key=lambda says: -worth[says])

    def points(self, thing: Technology, sign: int) -> Sequence[str]:
        """The notes on a thing as points: "For Kafka: it keeps every event"."""
        word = "For" if sign > 0 else "Against"
        return [f"{word} {thing.title}: {says}" for says in self.notes(thing, sign)]

    def stands_for(self, kind: PartKind) -> Mapping[str, Technology | None]:
        """The thing each position of this engine stands for, by label; None for any other text."""
        return {
            label: next((t for t in self.things if text.startswith(f"**{t.title}: ")), None)
            for label, text in self.texts(kind).items()
        }

    def texts(self, kind: PartKind) -> Mapping[str, str]:
        parts = (part for part in self.request.parts if part.kind is kind)
        return {part.label: part.text[:_READ_AT_MOST].strip() for part in parts}

    def joined(self, kind: PartKind) -> str:
        return "\n".join(self.texts(kind).values())

    def post(self, sentence: str, points: Sequence[str] = ()) -> str:
        """A sentence with its points, the line that says what wrote it, the short form."""
        listed = "\n".join(f"- {point}" for point in points[:_MOST_POINTS])
        text = f"**{sentence}**\n\n{listed}".rstrip()
        return f"{text}\n\n{FOOTER}\n\nIn short: {sentence}\n{listed}".rstrip()


def _position(reader: _Reader) -> str:
    if choice := reader.choice:
        # One place is left for a question.
        reasons = reader.points(choice, 1)[: _MOST_POINTS - 1]
        sentence = f"{choice.title}: it weighs more on {reader.checklist}."
        return reader.post(sentence, [*reasons, *reader.questions])
    return reader.post(f"No side: {reader.checklist} puts nothing first.", reader.questions)


def _critique(reader: _Reader) -> str:
    positions = reader.stands_for(PartKind.POSITION).values()
    things = {thing.title: thing for thing in positions if thing}
    against = [point for thing in things.values() for point in reader.points(thing, -1)]
    sentence, *points = against or ["No critique: no model was asked."]
    return reader.post(sentence, [*points, *reader.questions])


def _summary(reader: _Reader) -> str:
    """Who stands for what, as far as there is room."""
    tokens, most_chars = reader.request.max_output_tokens, reader.request.most_chars or _SUMMARY
    room = min(_SUMMARY, int(tokens * _CHARACTERS_PER_TOKEN), most_chars) - len(FOOTER)
    lines = map(str.strip, reader.joined(PartKind.OTHER).splitlines())
    heads = [line for line in lines if line.startswith(("[", "**"))]
    lengths = accumulate(len(line) + 1 for line in heads)
    fitting = [line for line, length in zip(heads, lengths, strict=True) if length < room]
    return "\n".join([*fitting, "", FOOTER])


def _options(reader: _Reader) -> Mapping[str, object]:
    """The things that positions stand for; none where a position stands for nothing known."""
    titles = [
        thing.title if thing else "" for thing in reader.stands_for(PartKind.CANDIDATE).values()
    ]
    options = list(dict.fromkeys(titles)) if all(titles) else []
    numbers = [options.index(title) + 1 if options else 0 for title in titles]
    return {"options": options, "stands_for": numbers, "kind": QuestionKind.CHOICE}


def _ballot(reader: _Reader) -> Mapping[str, object]:
    """Positions by what their option weighs for this role; no ballot where nothing is weighed."""
    candidates, things = reader.texts(PartKind.CANDIDATE), reader.stands_for(PartKind.CANDIDATE)
    choice = reader.choice
    if choice is None or not any(things.values()):
        why = f"No model was asked, and {reader.checklist} puts nothing first."
        return {"ranking": [], "reasons": [why], "probabilities": [], "moved_by": "none"}
    worst = min(map(reader.weight, reader.things)) - 1
    weights = {label: reader.weight(thing) if thing else worst for label, thing in things.items()}
    # Percent for each option of the ballot, in its order: most for the checklist's choice. A
    # checklist weighs what the question names: of "none of these" it says nothing.
    names = [line.partition(": ")[2] for line in reader.joined(PartKind.OPTIONS).splitlines()]
    shares = {choice.title: _FOR_ITS_CHOICE, NONE_OF_THESE: 0}
    others = max(1, sum(name not in shares for name in names))
    rest = (100 - (_FOR_ITS_CHOICE if choice.title in names else 0)) // others
    return {
        "reasons": [
            f"{thing.title}: {weights[label]:+d} on {reader.checklist}."
            if thing
            else "A checklist cannot read this position."
            for label, thing in things.items()
        ],
        # Positions for the same option stand in the same order in every round, on every ballot:
        # any other order would pass for a change of mind.
        "ranking": sorted(candidates, key=lambda label: (-weights[label], candidates[label])),
        "probabilities": [shares.get(name, rest) for name in names],
        "moved_by": "none",
    }


def _questions(reader: _Reader) -> Mapping[str, object]:
    """What the question leaves open and this role wants to know first."""
    text = normal("\n".join(map(reader.joined, (PartKind.QUESTION, PartKind.CONTEXT))))
    before = reader.joined(PartKind.CLARIFICATIONS)
    points = [checklists().open_points[key] for key in reader.role.asks]
    return {
        "questions": [
            {"question": point.question, "assumption": point.assumption}
            for point in points
            if (not point.topics or {*point.topics} & {*reader.topics})
            and not any(mentions(text, word) for word in point.words)
            and point.question not in before
        ][:_MOST_POINTS]
    }


def _next_step(reader: _Reader) -> Mapping[str, object]:
    """Another round only where positions differ: checklists do not change their minds."""
    things = reader.stands_for(PartKind.POSITION).values()
    differ = len({thing.title for thing in things if thing}) > 1
    decision = NextStep.GO_ON if differ else NextStep.VOTE
    focus = reader.questions[0] if differ else ""
    return {"decision": decision, "focus": focus, "question": "", "assumption": ""}


def _review(reader: _Reader) -> Mapping[str, object]:
    """No finding and no verdict, only what the role would ask of any such text."""
    summary = f"{_NO_REVIEW} It would ask: {' '.join(reader.questions)}"
    return {"looks": [], "findings": [], "new": [], "summary": summary, "verdict": "none"}


def _verdict(reader: _Reader) -> Mapping[str, object]:
    """The option that won the vote, called a checklist's; else "Not decided" and what is asked."""
    texts = reader.texts(PartKind.POSITION)
    names = {label: label.removeprefix("Position of ") for label in texts}
    things = {names[label]: thing for label, thing in reader.stands_for(PartKind.POSITION).items()}
    # This engine marks its own texts; it does not judge texts of models.
    is_own = texts and all(FOOTER in text or _NO_REVIEW in text for text in texts.values())
    questions = dict.fromkeys(
        f"{names[label]} asks: {question}"
        for label, text in texts.items()
        for question in re.findall(r"^- ([^\n]{0,200}\?)$", text, re.MULTILINE)
    )
    notes = re.findall(r"^(note\d+)(?: |$)", reader.joined(PartKind.NOTES), re.MULTILINE)
    sections = reader.request.answer.labels("parts", "part") if reader.request.answer else ()
    reply: dict[str, object] = {
        "decision": UNDECIDED if is_own else NOT_JUDGED,
        "solution": _NO_WINNER if is_own else _JUDGES_NOTHING,
        "implementation": "",
        "tradeoffs": [],
        "recommendations": [
            "Set up a model, or ask people who know the case, before you act on it."
        ],
        "open_questions": list(questions)[:_MOST_OPEN],
        "dissent": "",
        "overturned_by": [],
        "notes": [{"note": note, "used": False, "explanation": _CANNOT} for note in notes],
        "parts": [{"part": section, "text": _CANNOT} for section in sections],
        "confidence": None,
    }
    winner = _winner(reader, things) if is_own else None
    return reply | _decision(reader, winner, things) if winner else reply


def _decision(
    reader: _Reader, winner: Technology, things: Mapping[str, Technology | None]
) -> dict[str, object]:
    lines = (line.partition(": ") for line in reader.joined(PartKind.OPTIONS).splitlines())
    ids = {name.partition(" (")[0]: option for option, _, name in lines}
    against = reader.notes(winner, -1)
    points = "\n".join(f"- {point}" for point in reader.points(winner, 1)[:_MOST_POINTS])
    others = (f"- {name}: {t.title}" for name, t in things.items() if t and t is not winner)
    return {
        "option": ids.get(winner.title, "none"),
        "decision": f"By checklists alone, {winner.title}: no model was asked.",
        "solution": f"{_NO_JUDGEMENT}\n\n{points}".rstrip(),
        "tradeoffs": [f"{winner.title}: {says}" for says in against],
        "overturned_by": [
            f"It counts more in your case than on a checklist that {winner.title} {says}"
            for says in against
        ],
        "dissent": "\n".join(others),
    }


def _winner(reader: _Reader, things: Mapping[str, Technology | None]) -> Technology | None:
    """What the text with most points ("The text of Ann: 4 points, …") stands for; None: a tie."""
    lines = re.findall(
        r"^(?:The text of )?([^\n]*?): (\d+(?:\.\d+)?) points, ",
        reader.joined(PartKind.TALLY),
        re.MULTILINE,
    )
    points = {name: float(figure) for name, figure in lines if name in things}
    firsts = [things[name] for name in points if points[name] == max(points.values())]
    return firsts[0] if firsts and all(thing is firsts[0] for thing in firsts) else None


#: What is answered, by act; anything else takes a model.
_REPLIES: Mapping[Act, Callable[[_Reader], str | Mapping[str, object]]] = {
    **dict.fromkeys((Act.PROPOSAL, Act.GATHER, Act.FORMULATE, Act.REFINEMENT), _position),
    **dict.fromkeys((Act.ADJUST, Act.STATEMENT), _position),
    **dict.fromkeys((Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL), _critique),
    Act.PLAN: lambda reader: reader.post("Nothing to plan.", reader.questions),
    Act.SUMMARY: _summary,
    Act.OPTIONS: _options,
    Act.BALLOT: _ballot,
    Act.QUESTIONS: _questions,
    Act.FACILITATION: _next_step,
    **dict.fromkeys((Act.REVIEW, Act.SECOND_LOOK), _review),
    Act.SYNTHESIS: _verdict,
}
