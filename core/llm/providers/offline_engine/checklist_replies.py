"""Answers a model request from checklists: one function for each act.

A speech is a sentence and at most three points.

Where the checklists know the options of a question, each role weighs them by what it values.
Elsewhere nobody takes a side: the roles say what they would ask, voters abstain, and the verdict is
"Not decided". Texts of other people and agents are read for two things only: which option a
position of this engine stands for (its first line), and which questions it asks. So an order to
the reader has nothing to work on.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from core.errors import RequestRejected
from core.llm.providers.offline_engine.checklists import (
    ANY,
    Technology,
    checklists,
    mentions,
    normal,
)
from core.llm.providers.offline_engine.question_reading import READ_AT_MOST, read_question
from core.models import NOT_DECIDED, Act, NextStep, QuestionKind
from core.request import ModelRequest, PartKind
from core.rules.options import NONE_OF_THESE

#: Stands once in every post, so that nobody takes it for a model's answer.
FOOTER = "_Offline engine: from checklists. No model was asked._"
UNDECIDED = f"{NOT_DECIDED}."
#: Where models wrote positions and only their judge is this engine.
NOT_JUDGED = f"{NOT_DECIDED} for the verdict."
_NOT_WEIGHED = "No model was asked, and a checklist cannot weigh a note."
_NO_SECTION = "No model was asked, and a checklist cannot write this section."
_ADVICE = "Set up a model, or ask people who know the case, before you act on it."
_JUDGES_NOTHING = (
    "The positions stand as the agents wrote them; the judge was the offline engine, which judges "
    "nothing."
)
_NO_REVIEW = "No model was asked: a checklist finds nothing in a text."
#: Percent that a role gives the option its checklist weighs highest.
_FOR_ITS_CHOICE = 70
_MOST_POINTS = 3
#: Questions of all roles in a verdict, and characters of each.
_MOST_OPEN, _LONGEST_QUESTION = 9, 200
#: Characters of a summary, where the request allows more.
_SUMMARY, _CHARACTERS_PER_TOKEN = 2400, 3.5


def answer(request: ModelRequest) -> str:
    """The reply to a request: the same one for the same request. Structured acts get JSON.

    Raises:
        RequestRejected: The act takes a model.
    """
    reply = _REPLIES.get(request.act)
    if reply is None:
        raise RequestRejected("No model was asked: the offline engine has only checklists.")
    written = reply(_Reader(request))
    return written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)


class _Reader:
    """A role's view of a request."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        self.role = checklists().role(request.role)
        self.reading = read_question(self.joined(PartKind.QUESTION), self.joined(PartKind.CONTEXT))

    @cached_property
    def things(self) -> Sequence[Technology]:
        """What the question chooses between, best first for this role; empty where unknown."""
        known = [checklists().things[key] for key in self.reading.things]
        return sorted(known, key=self.weight, reverse=True)

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
        if not is_software:
            return [*(check.ask for check in checks[:1]), *self.role.anything][:_MOST_POINTS]
        named = {*self.reading.things}
        fitting = [*checks[: _MOST_POINTS - 1], *self.role.checks.get(ANY, ())]
        return [c.ask for c in fitting if not c.only or named & {*c.only}][:_MOST_POINTS]

    def weight(self, thing: Technology) -> int:
        """What a thing's notes are worth to this role."""
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
        """The texts of a kind by their labels, as far as they are read."""
        parts = (part for part in self.request.parts if part.kind is kind)
        return {part.label: part.text[:READ_AT_MOST].strip() for part in parts}

    def joined(self, kind: PartKind) -> str:
        return "\n".join(self.texts(kind).values())

    def post(self, sentence: str, points: Sequence[str] = (), why: str = "") -> str:
        """A sentence with its points, the line that says what wrote it, the short form.

        Args:
            sentence: The answer.
            points: What it rests on, or is asked.
            why: Follows the sentence in the long form.
        """
        listed = "\n".join(f"- {point}" for point in points[:_MOST_POINTS])
        text = f"{f'**{sentence}** {why}'.rstrip()}\n\n{listed}".rstrip()
        return f"{text}\n\n{FOOTER}\n\nIn short: {sentence}\n{listed}".rstrip()

    def _worth(self, thing: Technology) -> Mapping[str, int]:
        values = self.role.values
        return {says: values.get(key, 0) * amount for key, (amount, says) in thing.notes.items()}


def _position(reader: _Reader) -> str:
    """Where a role stands, and what it would ask; later, that nothing has changed."""
    choice, checklist = reader.choice, f"the checklist of {reader.role.title}"
    if reader.request.act is Act.STATEMENT and reader.texts(PartKind.OWN):
        return _as_before(reader, reader.questions)
    if choice:
        # One place is left for a question.
        whys = reader.points(choice, 1)[: _MOST_POINTS - 1]
        sentence = f"{choice.title}: it weighs more on {checklist}."
        return reader.post(sentence, [*whys, *reader.questions])
    titles = " and ".join(thing.title for thing in reader.things)
    why = f"{titles} weigh the same on {checklist}" if titles else "no model was asked"
    return reader.post(f"No side: {why}.", reader.questions, reader.reading.unknown)


def _critique(reader: _Reader) -> str:
    """What the checklist holds against the others' positions; once, not in every round."""
    if any(label.startswith("Your critique") for label in reader.texts(PartKind.OTHER)):
        return _as_before(reader, ())
    stands = map(reader.stands_for, reader.texts(PartKind.POSITION).values())
    things = {thing.title: thing for thing in stands if thing}
    against = [point for thing in things.values() for point in reader.points(thing, -1)]
    sentence, *points = against or ["No critique: no model was asked."]
    return reader.post(sentence, [*points, *reader.questions], reader.reading.unknown)


def _as_before(reader: _Reader, questions: Sequence[str]) -> str:
    """That nothing has changed."""
    sentence = "No side, as before: no model was asked."
    if reader.choice:
        sentence = f"{reader.choice.title}: as before on the checklist of {reader.role.title}."
    return reader.post(sentence, questions, "A checklist has nothing to add.")


def _summary(reader: _Reader) -> str:
    """Who said what, then the questions, as far as there is room."""
    request = reader.request
    room = min(_SUMMARY, int(request.max_output_tokens * _CHARACTERS_PER_TOKEN))
    room = min(room, request.most_chars or room) - len(FOOTER) - 2
    lines = [line.strip() for line in reader.joined(PartKind.OTHER).splitlines()]
    kept = set[int]()
    for begins in (("[", "**"), ("- ",)):
        for at, line in enumerate(lines):
            if line.startswith(begins) and len(line) < room:
                kept.add(at)
                room -= len(line) + 1
    return "\n".join([*(lines[at] for at in sorted(kept)), "", FOOTER])


def _options(reader: _Reader) -> Mapping[str, object]:
    """The things that positions stand for; none where a position stands for nothing known."""
    stands = [reader.stands_for(text) for text in reader.texts(PartKind.CANDIDATE).values()]
    titles = list(dict.fromkeys(thing.title for thing in stands if thing))
    numbers = [titles.index(thing.title) + 1 if thing else 0 for thing in stands]
    if not all(numbers):
        titles, numbers = [], [0 for _ in numbers]
    return {"options": titles, "stands_for": numbers, "kind": QuestionKind.CHOICE}


def _ballot(reader: _Reader) -> Mapping[str, object]:
    """Positions by what their option weighs for this role; no ballot where nothing is weighed."""
    shown = reader.texts(PartKind.CANDIDATE)
    stands = {label: reader.stands_for(text) for label, text in shown.items()}
    checklist = f"the checklist of {reader.role.title}"
    if reader.choice is None or not any(stands.values()):
        is_even = reader.things and reader.choice is None
        why = "No model was asked."
        if is_even:
            why = f"The checklist of {reader.role.title} weighs the options the same."
        return {"ranking": [], "reasons": [why], "probabilities": [], "moved_by": "none"}
    worst = min(map(reader.weight, reader.things)) - 1
    weights = {label: reader.weight(thing) if thing else worst for label, thing in stands.items()}
    # Percent for each option of the ballot, in its order: most for the checklist's choice. A
    # checklist weighs what the question names: of "none of these" it says nothing.
    names = [line.partition(": ")[2] for line in reader.joined(PartKind.OPTIONS).splitlines()]
    own = reader.choice.title
    others = max(1, len(names) - (own in names) - (NONE_OF_THESE in names))
    rest = (100 - (_FOR_ITS_CHOICE if own in names else 0)) // others
    shares = {own: _FOR_ITS_CHOICE, NONE_OF_THESE: 0}
    return {
        "reasons": [
            f"{thing.title}: {weights[label]:+d} on {checklist}."
            if thing
            else "A checklist cannot read this position."
            for label, thing in stands.items()
        ],
        # Positions for the same option stand in the same order in every round, on every ballot:
        # any other order would pass for a change of mind.
        "ranking": sorted(shown, key=lambda label: (-weights[label], shown[label])),
        "probabilities": [shares.get(name, rest) for name in names],
        "moved_by": "none",
    }


def _questions(reader: _Reader) -> Mapping[str, object]:
    """What the question leaves open and this role wants to know first."""
    known = normal("\n".join(map(reader.joined, (PartKind.QUESTION, PartKind.CONTEXT))))
    before = reader.joined(PartKind.CLARIFICATIONS)
    points = [checklists().open_points[key] for key in reader.role.asks]
    return {
        "questions": [
            {"question": point.question, "assumption": point.assumption}
            for point in points
            if (not point.topics or {*point.topics} & {*reader.reading.topics})
            and not any(mentions(known, word) for word in point.words)
            and point.question not in before
        ][:_MOST_POINTS]
    }


def _next_step(reader: _Reader) -> Mapping[str, object]:
    """Another round only where positions differ: checklists do not change their minds."""
    stands = map(reader.stands_for, reader.texts(PartKind.POSITION).values())
    differ = len({thing.title for thing in stands if thing}) > 1
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
    positions = _positions(reader)
    # One of them stands in every text of this engine.
    ours = positions and all(FOOTER in t or _NO_REVIEW in t for t in positions.values())
    stands = {name: reader.stands_for(text) for name, text in positions.items()}
    winners = {thing.title if thing else "": thing for thing in _winners(reader, stands)}
    chosen = next(iter(winners.values())) if ours and len(winners) == 1 else None
    notes = re.findall(r"^(note\d+)(?: |$)", reader.joined(PartKind.NOTES), re.MULTILINE)
    sections = reader.request.answer.labels("parts", "part") if reader.request.answer else ()
    demands = reader.reading.demands
    undecided = {
        "reasons": [],
        "requirements": [{"requirement": d, "words": "", "status": "unknown"} for d in demands],
        "decision": UNDECIDED if ours else NOT_JUDGED,
        "solution": _why_undecided(reader) if ours else _JUDGES_NOTHING,
        "implementation": "",
        "tradeoffs": [],
        "recommendations": [_ADVICE],
        "open_questions": [*(f"Is this met? {d}" for d in demands), *_questions_in(positions)],
        "dissent": "",
        "overturned_by": [],
        "notes": [{"note": n, "used": False, "explanation": _NOT_WEIGHED} for n in notes],
        "parts": [{"part": section, "text": _NO_SECTION} for section in sections],
        "confidence": None,
    }
    return {**undecided, **_decided(reader, chosen, positions)} if chosen else undecided


def _questions_in(positions: Mapping[str, str]) -> Sequence[str]:
    """What the positions' lists ask, each question of an agent once."""
    questions = dict.fromkeys(
        f"{name} asks: {question}"
        for name, text in positions.items()
        for question in re.findall(r"^- ([^\n]*\?)$", text, re.MULTILINE)
        if len(question) < _LONGEST_QUESTION
    )
    return list(questions)[:_MOST_OPEN]


def _positions(reader: _Reader) -> Mapping[str, str]:
    """The positions by their agents' names, from the judge's summary where it stands for them."""
    shown = reader.texts(PartKind.POSITION)
    if not shown:
        blocks = reader.joined(PartKind.SUMMARY).split("[Position of ")[1:]
        shown = {name: text.strip() for name, _, text in (b.partition("]\n") for b in blocks)}
    return {label.removeprefix("Position of "): text for label, text in shown.items()}


def _why_undecided(reader: _Reader) -> str:
    if not reader.things:
        return f"{reader.reading.unknown} So nobody took a side."
    if not reader.joined(PartKind.TALLY):
        return "There was no vote, so none of the options that the checklists know was chosen."
    return "The vote is tied, or nobody's ballot could be counted."


def _decided(
    reader: _Reader, chosen: Technology, positions: Mapping[str, str]
) -> Mapping[str, object]:
    """What a verdict says only where the checklists came to an option."""
    dissent = list[str]()
    for name, text in positions.items():
        thing = reader.stands_for(text)
        if thing and thing is not chosen:
            # Its weightiest reason comes first.
            begin = f"- For {thing.title}: "
            whys = (line for line in text.splitlines() if line.startswith(begin))
            why = next(whys, "").removeprefix(begin)
            dissent.append(f"- {name}: {thing.title} {why}".rstrip())
    lines = (line.partition(": ") for line in reader.joined(PartKind.OPTIONS).splitlines())
    ids = {name.partition(" (")[0]: option for option, _, name in lines}
    against = reader.notes(chosen, -1)
    points = "\n".join(f"- {point}" for point in reader.points(chosen, 1)[:_MOST_POINTS])
    return {
        "option": ids.get(chosen.title, "none"),
        "decision": f"By checklists alone, {chosen.title}: no model was asked.",
        "solution": "**This is the result of checklists, and no judgement.** They know nothing of "
        f"your case.\n\n{points}".rstrip(),
        "tradeoffs": [f"{chosen.title}: {says}" for says in against],
        "overturned_by": [
            f"It counts more in your case than on a checklist that {chosen.title} {says}"
            for says in against
        ],
        "dissent": "\n".join(dissent),
    }


def _winners(
    reader: _Reader, stands: Mapping[str, Technology | None]
) -> Sequence[Technology | None]:
    """What texts with most points in the vote stand for: "The text of Ann: 4 points, …"."""
    points = dict[str, float]()
    for line in reader.joined(PartKind.TALLY).splitlines():
        name, _, rest = line.removeprefix("The text of ").partition(": ")
        figure, _, what = rest.partition(" ")
        is_figure = figure.replace(".", "", 1).isdecimal()
        if name in stands and is_figure and what.startswith("points, "):
            points[name] = float(figure)
    return [stands[name] for name in points if points[name] == max(points.values())]


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
