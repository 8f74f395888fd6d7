"""Answers a model request from checklists: one function for each act.

Where the checklists do not know the options of a question, nobody takes a side. Texts of others are
read for two things only: the option a position of this engine stands for (its first line), and the
questions it asks. So an order to the reader has nothing to work on.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from core.debate.gate import NextStep
from core.debate.turn import Act
from core.debate.verdict import NOT_DECIDED
from core.debate.vote import QuestionKind
from core.errors import RequestRejected
from core.llm.providers.offline_engine.checklists import (
    ANY,
    GENERALIST,
    Technology,
    checklists,
    mentions,
    normal,
)
from core.llm.providers.offline_engine.question_reading import READ_AT_MOST, read_question
from core.request import ModelRequest, PartKind
from core.rules.options import NONE_OF_THESE

#: Stands once in every post, so that nobody takes it for a model's answer.
FOOTER = "_Offline engine: from checklists. No model was asked._"
UNDECIDED = f"{NOT_DECIDED}."
#: Where models wrote positions and only their judge is this engine.
NOT_JUDGED = f"{NOT_DECIDED} for the verdict."
_CANNOT = "No model was asked, and a checklist cannot do this."
_JUDGES_NOTHING = "The judge was the offline engine, which judges nothing."
_NO_REVIEW = "No model was asked: a checklist finds nothing in a text."
#: Percent that a role gives the option its checklist weighs highest.
_FOR_ITS_CHOICE = 70
_MOST_POINTS = 3
#: Questions of all roles in a verdict, and characters of each.
_MOST_OPEN, _LONGEST_QUESTION = 9, 200
#: Characters of a summary, where the request allows more.
_SUMMARY, _CHARACTERS_PER_TOKEN = 2400, 3.5


def answer(request: ModelRequest) -> str:
    """The reply to a request: the same one for the same request. Structured acts get JSON."""
    reply_to = _REPLIES.get(request.act)
    if reply_to is None:
        raise RequestRejected("No model was asked: the offline engine has only checklists.")
    reply = reply_to(_Reader(request))
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


class _Reader:
    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        roles = checklists().roles
        self.role = roles.get(request.role, roles[GENERALIST])
        self.reading = read_question(self.joined(PartKind.QUESTION), self.joined(PartKind.CONTEXT))

    @cached_property
    def things(self) -> Sequence[Technology]:
        """What the question chooses between, best first for this role; empty where unknown."""
        things = [checklists().things[key] for key in self.reading.things]
        return sorted(things, key=self.weight, reverse=True)

    @property
    def choice(self) -> Technology | None:
        """The thing this role's checklist weighs highest; None where two weigh the same."""
        clear = len(self.things) > 1 and self.weight(self.things[0]) > self.weight(self.things[1])
        return self.things[0] if clear else None

    @property
    def questions(self) -> Sequence[str]:
        """What this role would ask: of the question's topics, then of any such question."""
        topics = {key: checklists().topics[key] for key in self.reading.topics}
        is_software = any(topic.things for topic in topics.values())
        checks = [
            check
            for key, topic in topics.items()
            if is_software or not topic.software
            for check in self.role.checks.get(key, ())
        ]
        if is_software:
            return [*checks[: _MOST_POINTS - 1], *self.role.checks.get(ANY, ())][:_MOST_POINTS]
        return [*checks[:1], *self.role.anything][:_MOST_POINTS]

    def weight(self, thing: Technology) -> int:
        return sum(self._worth(thing).values())

    def notes(self, thing: Technology, sign: int) -> Sequence[str]:
        """What speaks for a thing (sign 1) or against it (-1), the weightiest first."""
        worth = {says: sign * amount for says, amount in self._worth(thing).items()}
        return sorted((says for says in worth if worth[says] > 0), key=lambda says: -worth[says])

    def points(self, thing: Technology, sign: int) -> Sequence[str]:
        """The notes on a thing as points: "For Kafka: it keeps every event"."""
        word = "For" if sign > 0 else "Against"
        return [f"{word} {thing.title}: {says}" for says in self.notes(thing, sign)]

    def stands_for(self, text: str) -> Technology | None:
        """The thing a position of this engine stands for; None for any other text."""
        return next((t for t in self.things if text.startswith(f"**{t.title}: ")), None)

    def texts(self, kind: PartKind) -> Mapping[str, str]:
        parts = (part for part in self.request.parts if part.kind is kind)
        return {part.label: part.text[:READ_AT_MOST].strip() for part in parts}

    def joined(self, kind: PartKind) -> str:
        return "\n".join(self.texts(kind).values())

    def post(self, sentence: str, points: Sequence[str] = ()) -> str:
        """A sentence with its points, the line that says what wrote it, the short form."""
        listed = "\n".join(f"- {point}" for point in points[:_MOST_POINTS])
        text = f"**{sentence}**\n\n{listed}".rstrip()
        return f"{text}\n\n{FOOTER}\n\nIn short: {sentence}\n{listed}".rstrip()

    def _worth(self, thing: Technology) -> Mapping[str, int]:
        values = self.role.values
        return {says: values.get(key, 0) * amount for key, (amount, says) in thing.notes.items()}


def _position(reader: _Reader) -> str:
    choice, checklist = reader.choice, f"the checklist of {reader.role.title}"
    if choice:
        # One place is left for a question.
        reasons = reader.points(choice, 1)[: _MOST_POINTS - 1]
        sentence = f"{choice.title}: it weighs more on {checklist}."
        return reader.post(sentence, [*reasons, *reader.questions])
    titles = " and ".join(thing.title for thing in reader.things)
    reason = (
        f"{titles} weigh the same on {checklist}" if titles else "no checklist knows the matter"
    )
    return reader.post(f"No side: {reason}.", reader.questions)


def _critique(reader: _Reader) -> str:
    positions = map(reader.stands_for, reader.texts(PartKind.POSITION).values())
    things = {thing.title: thing for thing in positions if thing}
    against = [point for thing in things.values() for point in reader.points(thing, -1)]
    sentence, *points = against or ["No critique: no model was asked."]
    return reader.post(sentence, [*points, *reader.questions])


def _summary(reader: _Reader) -> str:
    """Who stands for what, as far as there is room."""
    request = reader.request
    room = min(_SUMMARY, int(request.max_output_tokens * _CHARACTERS_PER_TOKEN))
    room = min(room, request.most_chars or room) - len(FOOTER) - 2
    lines = list[str]()
    for line in map(str.strip, reader.joined(PartKind.OTHER).splitlines()):
        if line.startswith(("[", "**")) and len(line) < room:
            lines.append(line)
            room -= len(line) + 1
    return "\n".join([*lines, "", FOOTER])


def _options(reader: _Reader) -> Mapping[str, object]:
    """The things that positions stand for; none where a position stands for nothing known."""
    things = [reader.stands_for(text) for text in reader.texts(PartKind.CANDIDATE).values()]
    titles = list(dict.fromkeys(thing.title for thing in things if thing))
    numbers = [titles.index(thing.title) + 1 if thing else 0 for thing in things]
    if not all(numbers):
        titles, numbers = [], [0 for _ in numbers]
    return {"options": titles, "stands_for": numbers, "kind": QuestionKind.CHOICE}


def _ballot(reader: _Reader) -> Mapping[str, object]:
    """Positions by what their option weighs for this role; no ballot where nothing is weighed."""
    candidates = reader.texts(PartKind.CANDIDATE)
    things = {label: reader.stands_for(text) for label, text in candidates.items()}
    checklist, choice = f"the checklist of {reader.role.title}", reader.choice
    if choice is None or not any(things.values()):
        why = f"No model was asked, and {checklist} puts nothing first."
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
            f"{thing.title}: {weights[label]:+d} on {checklist}."
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
            if (not point.topics or {*point.topics} & {*reader.reading.topics})
            and not any(mentions(text, word) for word in point.words)
            and point.question not in before
        ][:_MOST_POINTS]
    }


def _next_step(reader: _Reader) -> Mapping[str, object]:
    """Another round only where positions differ: checklists do not change their minds."""
    things = map(reader.stands_for, reader.texts(PartKind.POSITION).values())
    differ = len({thing.title for thing in things if thing}) > 1
    decision = NextStep.GO_ON if differ else NextStep.VOTE
    focus = reader.questions[0] if differ else ""
    return {"decision": decision, "focus": focus, "question": "", "assumption": ""}


def _review(reader: _Reader) -> Mapping[str, object]:
    """No finding and no verdict, only what the role would ask of any such text."""
    questions = f" It would ask: {' '.join(reader.questions)}" if reader.questions else ""
    summary = _NO_REVIEW + questions
    return {"looks": [], "findings": [], "new": [], "summary": summary, "verdict": "none"}


def _verdict(reader: _Reader) -> Mapping[str, object]:
    """The option that won the vote, called a checklist's; else "Not decided" and what is asked."""
    positions = {
        label.removeprefix("Position of "): text
        for label, text in reader.texts(PartKind.POSITION).items()
    }
    things = {name: reader.stands_for(text) for name, text in positions.items()}
    winners = {thing.title if thing else "": thing for thing in _winners(reader, things)}
    # This engine marks its own texts; it does not judge texts of models.
    is_own = positions and all(FOOTER in t or _NO_REVIEW in t for t in positions.values())
    winner = next(iter(winners.values())) if is_own and len(winners) == 1 else None
    notes = re.findall(r"^(note\d+)(?: |$)", reader.joined(PartKind.NOTES), re.MULTILINE)
    sections = reader.request.answer.labels("parts", "part") if reader.request.answer else ()
    reply = {
        "reasons": [],
        "requirements": [],
        "decision": UNDECIDED if is_own else NOT_JUDGED,
        "solution": "No option of the checklists won a vote." if is_own else _JUDGES_NOTHING,
        "implementation": "",
        "tradeoffs": [],
        "recommendations": [
            "Set up a model, or ask people who know the case, before you act on it."
        ],
        "open_questions": _questions_in(positions),
        "dissent": "",
        "overturned_by": [],
        "notes": [{"note": note, "used": False, "explanation": _CANNOT} for note in notes],
        "parts": [{"part": section, "text": _CANNOT} for section in sections],
        "confidence": None,
    }
    return {**reply, **_decision_fields(reader, winner, things)} if winner else reply


def _questions_in(positions: Mapping[str, str]) -> Sequence[str]:
    questions = dict.fromkeys(
        f"{name} asks: {question}"
        for name, text in positions.items()
        for question in re.findall(r"^- ([^\n]*\?)$", text, re.MULTILINE)
        if len(question) < _LONGEST_QUESTION
    )
    return list(questions)[:_MOST_OPEN]


def _decision_fields(
    reader: _Reader, winner: Technology, things: Mapping[str, Technology | None]
) -> Mapping[str, object]:
    lines = (line.partition(": ") for line in reader.joined(PartKind.OPTIONS).splitlines())
    ids = {name.partition(" (")[0]: option for option, _, name in lines}
    against = reader.notes(winner, -1)
    points = "\n".join(f"- {point}" for point in reader.points(winner, 1)[:_MOST_POINTS])
    others = (f"- {name}: {t.title}" for name, t in things.items() if t and t is not winner)
    return {
        "option": ids.get(winner.title, "none"),
        "decision": f"By checklists alone, {winner.title}: no model was asked.",
        "solution": "**This is the result of checklists, and no judgement.** They know nothing of "
        f"your case.\n\n{points}".rstrip(),
        "tradeoffs": [f"{winner.title}: {says}" for says in against],
        "overturned_by": [
            f"It counts more in your case than on a checklist that {winner.title} {says}"
            for says in against
        ],
        "dissent": "\n".join(others),
    }


def _winners(
    reader: _Reader, things: Mapping[str, Technology | None]
) -> Sequence[Technology | None]:
    """What texts with most points in the vote stand for: "The text of Ann: 4 points, …"."""
    points = dict[str, float]()
    for line in reader.joined(PartKind.TALLY).splitlines():
        name, _, rest = line.removeprefix("The text of ").partition(": ")
        figure, _, unit = rest.partition(" ")
        is_figure = figure.replace(".", "", 1).isdecimal()
        if name in things and is_figure and unit.startswith("points, "):
            points[name] = float(figure)
    return [things[name] for name in points if points[name] == max(points.values())]


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
