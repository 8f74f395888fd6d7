"""The `offline` provider: answers from checklists, without a model, a key or a network.

If the checklists do not know the options of a question, no role takes a side. Of other agents'
texts only the option in the first line and the questions are read, so that instructions in them
have no effect.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import dropwhile
from pathlib import Path

import yaml
from pydantic import BaseModel

from core.debate.turn import Act
from core.debate.verdict import NOT_DECIDED
from core.debate.vote import NextStep, QuestionKind
from core.errors import RequestRejected
from core.request import ModelReply, ModelRequest, PartKind
from core.rules.options import NONE_OF_THESE
from core.usage import Usage

#: The only model of this provider.
MODEL = "offline-checklists"
#: Part of each post, so that nobody mistakes it for the answer of a model.
FOOTER = "_Offline engine: from checklists. No model was asked._"
UNDECIDED = f"{NOT_DECIDED}."
#: The decision if models wrote the positions and only the judge is this engine.
NOT_JUDGED = f"{NOT_DECIDED} for the verdict."
_CANNOT = "No model was asked, and a checklist cannot do this."
_NO_JUDGEMENT = (
    "**This is the result of checklists, and no judgement.** They know nothing of your case."
)
_NO_WINNER = "No option of the checklists won a vote."
_NO_VERDICT = "The judge was the offline engine, which judges no texts of models."
_NO_REVIEW = "No model was asked: a checklist finds nothing in a text."
#: Percent for the option with the highest weight.
_FOR_ITS_CHOICE = 70
_MOST_POINTS = 3
#: Key of the checks that fit every question about software.
ANY = "any"
#: Used for roles without a checklist.
GENERALIST = "generalist"
_DATA = Path(__file__).parent / "checklists"
_WORD = re.compile(r"[a-z0-9+#]+")
_SHORT = 3
#: Characters that are read of a text, and of a sentence that names options.
_READ_AT_MOST, _LONGEST_CHOICE = 12_000, 400
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_CHOOSES = re.compile(r" or | vs|\?$")
_BETWEEN_OPTIONS = re.compile(r",? (?:or|vs|versus) (?:else )?|, ")
#: From the first of these words only, so that matching takes linear time.
_MOVES = re.compile(
    r"\A(?:(?!\b(?:from|move|migrate) ).)*\b(?:from|move|migrate) (.*) to (.*)", re.IGNORECASE
)
#: Words before an option that are not part of it.
_LEADING = (
    "should shall could can would will does do did we i you they one it is are was better best to "
    "either whether use using choose choosing pick take adopt try prefer run between which what "
    "our the a an two move migrate switch from"
)
#: Words that introduce the purpose of an option.
_PURPOSE = re.compile(r" (?:for|as|in|on|to|when|with|if) ")


class OfflineProvider:
    name = "offline"

    async def load(self) -> None:
        """Read the checklists in a thread, so that the event loop is not blocked."""
        await asyncio.to_thread(checklists)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        text = answer(request)
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=MODEL)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def answer(request: ModelRequest) -> str:
    """The reply to a request, always the same; JSON for acts with a structured answer."""
    reply_to = _REPLIES.get(request.act)
    if reply_to is None:
        raise RequestRejected("No model was asked: the offline engine has only checklists.")
    reply = reply_to(_Reader(request))
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


class Technology(BaseModel):
    title: str
    #: Spellings in lower case and in the singular.
    names: tuple[str, ...]
    #: By criterion: from -2 (bad) to 2 (good), and a predicate whose subject is the title.
    notes: Mapping[str, tuple[int, str]]


class Topic(BaseModel):
    words: tuple[str, ...]
    #: Keys of the technologies to compare; empty: none.
    things: tuple[str, ...] = ()
    #: False for people, money and texts.
    software: bool = True


class OpenPoint(BaseModel):
    question: str
    assumption: str
    #: A text with one of these words answers the question.
    words: tuple[str, ...] = ()
    #: Topics to ask it about; empty: all.
    topics: tuple[str, ...] = ()


class RoleChecklist(BaseModel):
    #: Completes "the checklist of …".
    title: str
    #: Weight of each criterion.
    values: Mapping[str, int]
    #: Keys of open points, the most important first.
    asks: tuple[str, ...]
    #: Questions about anything but software.
    anything: tuple[str, ...]
    #: Questions about software, by topic.
    checks: Mapping[str, tuple[str, ...]]


class Checklists(BaseModel):
    things: Mapping[str, Technology]
    topics: Mapping[str, Topic]
    open_points: Mapping[str, OpenPoint]
    roles: Mapping[str, RoleChecklist]


@cache
def checklists() -> Checklists:
    lists, roles = (
        {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in files}
        for files in (sorted(_DATA.glob("*.yaml")), sorted((_DATA / "roles").glob("*.yaml")))
    )
    return Checklists.model_validate({**lists, "roles": roles})


@cache
def things_by_name() -> Mapping[str, str]:
    """The keys of the things by each of their names in the form of `singular`."""
    things = checklists().things.items()
    return {singular(name): key for key, thing in things for name in thing.names}


def normal(text: str) -> str:
    """The words of a text in lower case with one space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def singular(phrase: str) -> str:
    """A short phrase in lower case, without the plural s of its last word."""
    return normal(phrase).strip().removesuffix("s")


def mentions(normalised: str, word: str) -> bool:
    """Whether a text from `normal` has a word with this beginning.

    Words of up to three letters must match as a whole, or with a plural s.
    """
    if len(word) > _SHORT:
        return f" {word}" in normalised
    return f" {word} " in normalised or f" {word}s " in normalised


def read_question(question: str, context: str = "") -> tuple[Sequence[str], Sequence[str]]:
    """Keys of the options of a question, empty if one is unknown, and keys of its topics.

    Reads plain English only ("A or B", "A vs B", "from X to Y", "should we X"), in linear time.
    """
    question, context = question[:_READ_AT_MOST].replace(" vs. ", " vs "), context[:_READ_AT_MOST]
    sentences = [s.strip() for s in _SENTENCE_END.split(question) if s.strip()]
    choice = next((s for s in sentences if _CHOOSES.search(s)), "".join(sentences[:1]))
    options, has_purpose = _options_in(choice if len(choice) <= _LONGEST_CHOICE else "")
    things = [things_by_name().get(singular(option), "") for option in options]
    text, topics = normal(f"{question}\n{context}"), checklists().topics
    counts = {key: sum(mentions(text, word) for word in topics[key].words) for key in topics}
    shared_topics = [
        key
        for key, topic in topics.items()
        if {*things} <= {*topic.things} and (counts[key] or not has_purpose)
    ]
    if len({*things}) == len(things) > 1 and shared_topics:
        return things, shared_topics
    matches = sorted(filter(counts.get, counts), key=lambda key: -counts[key])
    return (), matches[:2]


def _options_in(choice: str) -> tuple[Sequence[str], bool]:
    """The options in a sentence, and whether it names a purpose of one."""
    parts = choice.rstrip("?!. ").split(": ")
    text = next((part for part in parts if " or " in part or " vs" in part), parts[-1])
    pieces = [piece for piece in _BETWEEN_OPTIONS.split(f" {text} ") if piece.strip()]
    if len(pieces) == 1 and (move := _MOVES.search(text)):
        pieces = [*move.groups()]
    options = [_PURPOSE.split(f" {piece.strip()} ", maxsplit=1) for piece in pieces]
    bare = [
        dropwhile(lambda word: word.lower().strip(",") in _LEADING.split(), option.split())
        for option, *_ in options
    ]
    return [" ".join(words) for words in bare], any(purpose for _, *purpose in options)


class _Reader:
    """A request with the checklist of its role."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        roles = checklists().roles
        self.role = roles.get(request.role, roles[GENERALIST])
        self.checklist = f"the checklist of {self.role.title}"
        things, topics = read_question(*map(self.joined, (PartKind.QUESTION, PartKind.CONTEXT)))
        self.topics = {key: checklists().topics[key] for key in topics}
        #: The options of the question, the best for this role first; empty if unknown.
        self.things = sorted(
            map(checklists().things.__getitem__, things), key=self.weight, reverse=True
        )

    @property
    def choice(self) -> Technology | None:
        """The thing with the highest weight for this role; None for a tie."""
        weights = [self.weight(thing) for thing in self.things[:2]]
        return self.things[0] if len({*weights}) > 1 else None

    @property
    def questions(self) -> Sequence[str]:
        """The questions of this role: on the topics of the question, then general ones."""
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
        """The reasons for a thing (sign 1) or against it (-1), the strongest first."""
        values, notes = self.role.values, thing.notes.items()
        weights = {text: sign * values.get(key, 0) * amount for key, (amount, text) in notes}
        return sorted((text for text in weights if weights[text] > 0), key=lambda t: -weights[t])

    def points(self, thing: Technology, sign: int) -> Sequence[str]:
        """The notes on a thing as points: "For Kafka: it keeps every event"."""
        word = "For" if sign > 0 else "Against"
        return [f"{word} {thing.title}: {note}" for note in self.notes(thing, sign)]

    def stands_for(self, kind: PartKind) -> Mapping[str, Technology | None]:
        """The thing in the first line of each position, by label; None for other texts."""
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
        """A post: a sentence, its points, the footer and the short form."""
        items = "\n".join(f"- {point}" for point in points[:_MOST_POINTS])
        text = f"**{sentence}**\n\n{items}".rstrip()
        return f"{text}\n\n{FOOTER}\n\nIn short: {sentence}\n{items}".rstrip()


def _position(reader: _Reader) -> str:
    if choice := reader.choice:
        # Leaves room for a question.
        reasons = reader.points(choice, 1)[: _MOST_POINTS - 1]
        sentence = f"{choice.title}: it weighs more on {reader.checklist}."
        return reader.post(sentence, [*reasons, *reader.questions])
    return reader.post(f"No side: {reader.checklist} puts nothing first.", reader.questions)


def _critique(reader: _Reader) -> str:
    things = filter(None, reader.stands_for(PartKind.POSITION).values())
    against = dict.fromkeys(point for thing in things for point in reader.points(thing, -1))
    sentence, *points = against or ["No critique: no model was asked."]
    return reader.post(sentence, [*points, *reader.questions])


def _summary(reader: _Reader) -> str:
    """The headings and first sentences of the texts; the caller cuts what is too long."""
    lines = map(str.strip, reader.joined(PartKind.OTHER).splitlines())
    return "\n".join([FOOTER, "", *(line for line in lines if line.startswith(("[", "**")))])


def _options(reader: _Reader) -> Mapping[str, object]:
    """The options of the positions; none if one position has no known option."""
    titles = [thing and thing.title for thing in reader.stands_for(PartKind.CANDIDATE).values()]
    options = list(dict.fromkeys(titles)) if all(titles) else []
    numbers = [options.index(title) + 1 if options else 0 for title in titles]
    return {"options": options, "stands_for": numbers, "kind": QuestionKind.CHOICE}


def _ballot(reader: _Reader) -> Mapping[str, object]:
    """Ranks positions by the weight of their option for this role; abstains on a tie."""
    candidates, things = reader.texts(PartKind.CANDIDATE), reader.stands_for(PartKind.CANDIDATE)
    choice = reader.choice
    if choice is None or not any(things.values()):
        reason = f"No model was asked, and {reader.checklist} puts nothing first."
        return {"ranking": [], "reasons": [reason], "probabilities": [], "moved_by": "none"}
    worst = min(map(reader.weight, reader.things)) - 1
    weights = {label: reader.weight(thing) if thing else worst for label, thing in things.items()}
    # In the order of the options on the ballot. A checklist has no weight for "none of these".
    names = [line.partition(": ")[2] for line in reader.joined(PartKind.OPTIONS).splitlines()]
    shares = {choice.title: _FOR_ITS_CHOICE, NONE_OF_THESE: 0}
    count = max(1, sum(name not in shares for name in names))
    other_share = (100 - (_FOR_ITS_CHOICE if choice.title in names else 0)) // count
    return {
        "reasons": [
            f"{thing.title}: {weights[label]:+d} on {reader.checklist}."
            if thing
            else "A checklist cannot read this position."
            for label, thing in things.items()
        ],
        # Equal weights are ordered by text, so that no ballot seems to be a change of mind.
        "ranking": sorted(candidates, key=lambda label: (-weights[label], candidates[label])),
        "probabilities": [shares.get(name, other_share) for name in names],
        "moved_by": "none",
    }


def _questions(reader: _Reader) -> Mapping[str, object]:
    """The first open points of this role that the question does not settle."""
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


def _next_step(_reader: _Reader) -> Mapping[str, object]:
    """Always the vote: a checklist does not change its mind in another round."""
    return {"decision": NextStep.VOTE, "focus": "", "question": "", "assumption": ""}


def _review(reader: _Reader) -> Mapping[str, object]:
    """No finding and no verdict, only the general questions of the role."""
    summary = f"{_NO_REVIEW} It would ask: {' '.join(reader.questions)}"
    return {"looks": [], "findings": [], "new": [], "summary": summary, "verdict": "none"}


def _verdict(reader: _Reader) -> Mapping[str, object]:
    """The option that won the vote, else "Not decided"; both with the roles' questions."""
    texts = reader.texts(PartKind.POSITION)
    names = {label: label.removeprefix("Position of ") for label in texts}
    things = {names[label]: thing for label, thing in reader.stands_for(PartKind.POSITION).items()}
    # This engine judges no texts of models. Its own texts have a mark.
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
        "solution": _NO_WINNER if is_own else _NO_VERDICT,
        "implementation": "",
        "tradeoffs": [],
        "recommendations": [
            "Set up a model, or ask people who know the case, before you act on it."
        ],
        "open_questions": list(questions)[: 3 * _MOST_POINTS],
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
    dissenters = (f"- {name}: {t.title}" for name, t in things.items() if t and t is not winner)
    return {
        "option": ids.get(winner.title, "none"),
        "decision": f"By checklists alone, {winner.title}: no model was asked.",
        "solution": f"{_NO_JUDGEMENT}\n\n{points}".rstrip(),
        "tradeoffs": [f"{winner.title}: {note}" for note in against],
        "overturned_by": [
            f"It counts more in your case than on a checklist that {winner.title} {note}"
            for note in against
        ],
        "dissent": "\n".join(dissenters),
    }


def _winner(reader: _Reader, things: Mapping[str, Technology | None]) -> Technology | None:
    """The option of the text with most points ("The text of Ann: 4 points, …"); None: a tie."""
    lines = re.findall(
        r"^(?:The text of )?([^\n]*?): (\d+(?:\.\d+)?) points, ",
        reader.joined(PartKind.TALLY),
        re.MULTILINE,
    )
    points = {name: float(figure) for name, figure in lines if name in things}
    firsts = [things[name] for name in points if points[name] == max(points.values())]
    return firsts[0] if firsts and all(thing is firsts[0] for thing in firsts) else None


#: By act; other acts need a model.
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
