"""Answers a model request from checklists: one match over the acts.

A speech is a sentence and at most three points.

Where the checklists know the options of a question, each role weighs them by what it values.
Elsewhere nobody takes a side: the roles say what they would ask, voters abstain, and the verdict is
"Not decided". Texts of other people and agents are read for two things only: which option a
position of this engine stands for (its first line), and which questions it asks. So an order to
the reader has nothing to work on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from core.errors import RequestRejected
from core.llm.providers.offline_engine.checklists import (
    ANY,
    Check,
    RoleChecklist,
    Thing,
    checklists,
    mentions,
)
from core.llm.providers.offline_engine.checklists import normal as words_of
from core.llm.providers.offline_engine.question_reading import (
    READ_AT_MOST,
    QuestionReading,
    read_question,
)
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
_SCORES_NOTHING = "No model was asked: the offline engine scores nothing."
_NO_REVIEW = "No model was asked: a checklist finds nothing in a text."
_COMPARES_NOTHING = "No model was asked: the offline engine compares no findings."
_ORDERLESS = "No model was asked: a checklist reads positions in no order."
#: Percent that a role gives the option its checklist weighs highest.
_FOR_ITS_CHOICE = 70
_MOST_QUESTIONS = 3
_MOST_POINTS = 3
#: Questions of all roles in a verdict.
_MOST_OPEN = 9
_LONGEST_QUESTION = 200
#: Characters of a summary, where the request allows more.
_SUMMARY = 2400
_CHARACTERS_PER_TOKEN = 3.5
#: How lines begin that go into a summary, the weightiest first; questions come before steps.
_WORTH = (("[", "**", FOOTER), (), ("- ",))
_QUESTION_RANK = 1


@dataclass(frozen=True)
class _Text:
    """A text of the request with its label."""

    label: str
    text: str


@dataclass(frozen=True)
class _Asked:
    """A request as the engine sees it."""

    request: ModelRequest

    @cached_property
    def role(self) -> RoleChecklist:
        return checklists().role(self.request.role)

    @cached_property
    def reading(self) -> QuestionReading:
        return read_question(self.joined(PartKind.QUESTION), self.joined(PartKind.CONTEXT))

    @cached_property
    def things(self) -> Sequence[Thing]:
        """What the question chooses between, best first for this role; empty where unknown."""
        known = [checklists().things[key] for key in self.reading.things]
        return sorted(known, key=self.weight, reverse=True)

    @property
    def choice(self) -> Thing | None:
        """The thing this role's checklist weighs highest; None where two weigh the same."""
        best = self.things[:2]
        clear = len(best) > 1 and self.weight(best[0]) > self.weight(best[1])
        return best[0] if clear else None

    @property
    def questions(self) -> Sequence[str]:
        """What this role would ask."""
        topics = [checklists().topics[key] for key in self.reading.topics]
        if any(topic.things for topic in topics):
            return [check.ask for check in self.checks][:_MOST_QUESTIONS]
        keys = (k for k, t in zip(self.reading.topics, topics, strict=True) if not t.software)
        own = [check.ask for key in keys for check in self.role.checks.get(key, ())]
        return [*own[:1], *self.role.anything][:_MOST_QUESTIONS]

    @property
    def checks(self) -> Sequence[Check]:
        """The role's points for the topics of the question, then those that fit any."""
        named = {*self.reading.things}
        found = [c for key in self.reading.topics for c in self.role.checks.get(key, ())]
        found = [*found[: _MOST_QUESTIONS - 1], *self.role.checks.get(ANY, ())]
        return [check for check in found if not check.only or named & set(check.only)]

    @property
    def is_voted(self) -> bool:
        """Whether a vote was counted."""
        return bool(self.joined(PartKind.TALLY))

    @property
    def sections(self) -> Sequence[str]:
        """Labels of the sections that a playbook wants in the verdict."""
        answer = self.request.answer
        return answer.labels("parts", "part") if answer else ()

    def weight(self, thing: Thing) -> int:
        """What a thing's notes are worth to this role."""
        return sum(
            self.role.values.get(key, 0) * amount for key, (amount, _) in thing.notes.items()
        )

    def notes(self, thing: Thing, sign: int) -> Sequence[str]:
        """What speaks for a thing (sign 1) or against it (-1) as this role weighs it."""
        worth = {
            says: self.role.values.get(key, 0) * amount * sign
            for key, (amount, says) in thing.notes.items()
        }
        return sorted((says for says in worth if worth[says] > 0), key=lambda says: -worth[says])

    def stands_for(self, text: str) -> Thing | None:
        """The thing a position of this engine stands for; None for any other text."""
        return next((t for t in self.things if text.startswith(f"**{t.title}: ")), None)

    def texts(self, *kinds: PartKind) -> Sequence[_Text]:
        """The texts of these kinds, as far as they are read."""
        parts = (part for part in self.request.parts if part.kind in kinds)
        return [_Text(part.label, part.text[:READ_AT_MOST].strip()) for part in parts]

    def joined(self, kind: PartKind) -> str:
        return "\n".join(found.text for found in self.texts(kind))

    def post(self, answer: str, points: Sequence[str] = (), why: str = "") -> str:
        """A sentence and at most three points, the line that says what wrote it, the short form.

        Args:
            answer: The sentence.
            points: What it rests on, or is asked.
            why: Follows the sentence in the long form.
        """
        listed = "\n".join(f"- {point}" for point in points[:_MOST_POINTS])
        said = f"**{answer}** {why}".rstrip()
        text = f"{said}\n\n{listed}".rstrip()
        return f"{text}\n\n{FOOTER}\n\nIn short: {answer}\n{listed}".rstrip()

    def points(self, thing: Thing, sign: int) -> Sequence[str]:
        """The notes on a thing as points: "For Kafka: it keeps every event"."""
        word = "For" if sign > 0 else "Against"
        return [f"{word} {thing.title}: {says}" for says in self.notes(thing, sign)]


def answer(request: ModelRequest) -> str:  # noqa: C901, PLR0911, PLR0912 - one match over all acts
    """The reply to a request: the same one for the same request. Structured acts get JSON.

    Raises:
        RequestRejected: The act asks for scores, which nobody can give without a model.
    """
    asked = _Asked(request)
    match request.act:
        case Act.PROPOSAL | Act.GATHER | Act.FORMULATE | Act.REFINEMENT | Act.ADJUST:
            return _position(asked)
        case Act.STATEMENT if asked.texts(PartKind.OWN):
            return _again(asked, asked.questions)
        case Act.STATEMENT:
            return _position(asked)
        case Act.CRITIQUE | Act.DEBATE | Act.REBUTTAL:
            # What a checklist says about others' positions is said once, not in every round.
            earlier = asked.texts(PartKind.OTHER)
            if any(text.label.startswith("Your critique") for text in earlier):
                return _again(asked, ())
            return _review(asked)
        case Act.PLAN:
            return asked.post("Nothing to plan.", asked.questions, "A checklist does not argue.")
        case Act.SUMMARY:
            return _summary(asked)
        case Act.OPTIONS:
            return json.dumps(_options(asked), ensure_ascii=False)
        case Act.BALLOT:
            return json.dumps(_ballot(asked), ensure_ascii=False)
        case Act.QUESTIONS:
            return _questions(asked)
        case Act.FACILITATION:
            # Another round only where positions differ: checklists do not change their minds.
            stands = (asked.stands_for(text.text) for text in asked.texts(PartKind.POSITION))
            differ = len({thing.title for thing in stands if thing}) > 1
            return json.dumps(
                {
                    "decision": NextStep.GO_ON if differ else NextStep.VOTE,
                    "focus": asked.questions[0] if differ else "",
                    "question": "",
                    "assumption": "",
                },
                ensure_ascii=False,
            )
        case Act.REVIEW | Act.SECOND_LOOK:
            # No finding and no verdict, only what the role would ask of any such text.
            questions = f" It would ask: {' '.join(asked.questions)}" if asked.questions else ""
            return json.dumps(
                {
                    "looks": [],
                    "findings": [],
                    "new": [],
                    "summary": _NO_REVIEW + questions,
                    "verdict": "none",
                },
                ensure_ascii=False,
            )
        case Act.FINDINGS:
            # Whether two say the same takes a model; their words have to do.
            raise RequestRejected(_COMPARES_NOTHING)
        case Act.CROSS_CHECK:
            raise RequestRejected(_ORDERLESS)
        case Act.SYNTHESIS:
            return json.dumps(_verdict(asked), ensure_ascii=False)
        case Act.EVALUATION | Act.COMPARISON | Act.RECALL:
            raise RequestRejected(_SCORES_NOTHING)
        case Act.SHADOW | Act.SHADOW_CHOICE | Act.FOLLOW_UP:
            raise RequestRejected("That takes a model; the offline engine has only checklists.")
        case Act.CLARIFICATION | Act.GATE | Act.TALLY | Act.CASTING | Act.READING:
            raise RequestRejected(f"No model is asked for {request.act}.")
        case _:
            assert_never(request.act)


def _position(asked: _Asked) -> str:
    """Where a role stands, and what it would ask."""
    # One place is left for a question.
    whys = asked.points(asked.choice, 1)[: _MOST_POINTS - 1] if asked.choice else ()
    why = "" if asked.things else asked.reading.unknown
    return asked.post(_side(asked), (*whys, *asked.questions), why)


def _side(asked: _Asked) -> str:
    """Which option the checklist is for, in one sentence."""
    if asked.choice:
        return f"{asked.choice.title}: it weighs more on the checklist of {asked.role.title}."
    if asked.things:
        titles = " and ".join(thing.title for thing in asked.things)
        return f"No side: {titles} weigh the same on the checklist of {asked.role.title}."
    return "No side: no model was asked."


def _again(asked: _Asked, questions: Sequence[str]) -> str:
    """That nothing has changed."""
    title = asked.choice.title if asked.choice else ""
    short = f"{title}: as before on the checklist of {asked.role.title}."
    short = short if title else "No side, as before: no model was asked."
    return asked.post(short, questions, "A checklist has nothing to add.")


def _review(asked: _Asked) -> str:
    """What the checklist holds against the others' positions and for them."""
    positions = asked.texts(PartKind.POSITION)
    found = (asked.stands_for(text.text) for text in positions)
    stands = {thing.title: thing for thing in found if thing}
    against = [point for thing in stands.values() for point in asked.points(thing, -1)]
    short = against[0] if against else "No critique: no model was asked."
    points = (*against[1:], *asked.questions)
    return asked.post(short, points, "" if asked.things else asked.reading.unknown)


def _questions_in(text: str) -> Iterator[str]:
    """The items of a text's lists that are questions."""
    for line in text.splitlines():
        if line.startswith("- ") and line.endswith("?") and len(line) <= _LONGEST_QUESTION:
            yield line.removeprefix("- ")


def _summary(asked: _Asked) -> str:
    """The lines that count most, as far as there is room; nothing that is said twice."""
    request = asked.request
    room = min(_SUMMARY, int(request.max_output_tokens * _CHARACTERS_PER_TOKEN))
    room = min(room, request.most_chars or room) - len(FOOTER) - 2
    lines = [line.strip() for line in asked.joined(PartKind.OTHER).splitlines()]
    kept = set[int]()
    for at in sorted(range(len(lines)), key=lambda at: _rank(lines[at])):
        if _rank(lines[at]) < len(_WORTH) and len(lines[at]) < room:
            kept.add(at)
            room -= len(lines[at]) + 1
    return "\n".join([*(lines[at] for at in sorted(kept)), "", FOOTER])


def _rank(line: str) -> int:
    """How soon a line goes into a summary; beyond the last rank, not at all."""
    if line.startswith("- ") and line.endswith("?"):
        return _QUESTION_RANK
    return next((n for n, begins in enumerate(_WORTH) if line.startswith(begins)), len(_WORTH))


def _options(asked: _Asked) -> Mapping[str, object]:
    """The things that positions stand for; none where no checklist takes a side."""
    stands = [asked.stands_for(text.text) for text in asked.texts(PartKind.CANDIDATE)]
    titles = list(dict.fromkeys(thing.title for thing in stands if thing))
    known = [thing for thing in stands if thing]
    if len(known) < len(stands):
        titles = []
    return {
        "options": titles,
        "stands_for": [
            titles.index(thing.title) + 1 if titles and thing else 0 for thing in stands
        ],
        "kind": QuestionKind.CHOICE,
    }


def _ballot(asked: _Asked) -> Mapping[str, object]:
    """Positions by what their option weighs for this role; no ballot where nothing is weighed."""
    shown = asked.texts(PartKind.CANDIDATE)
    stands = {text.label: asked.stands_for(text.text) for text in shown}
    if asked.choice is None or not any(stands.values()):
        why = "No model was asked."
        if asked.things and asked.choice is None:
            why = f"The checklist of {asked.role.title} weighs the options the same."
        return {"ranking": [], "reasons": [why], "probabilities": [], "moved_by": "none"}
    worst = min(map(asked.weight, asked.things)) - 1
    weights = {label: asked.weight(thing) if thing else worst for label, thing in stands.items()}
    # Positions for the same option stand in the same order in every round, on every ballot: any
    # other order would pass for a change of mind.
    shown = sorted(shown, key=lambda text: (-weights[text.label], text.text))
    ranking = [text.label for text in shown]
    reasons = [
        f"{thing.title}: {weights[label]:+d} on the checklist of {asked.role.title}."
        if (thing := stands[label])
        else "A checklist cannot read this position."
        for label in stands
    ]
    # Percent for each option of the ballot, in its order: most for the checklist's choice.
    named = [line.partition(": ")[2] for line in asked.joined(PartKind.OPTIONS).splitlines()]
    own = asked.choice.title if asked.choice else ""
    # A checklist weighs what the question names: of "none of these" it says nothing.
    others = max(1, len(named) - (own in named) - (NONE_OF_THESE in named))
    rest = (100 - (_FOR_ITS_CHOICE if own in named else 0)) // others
    shares = {own: _FOR_ITS_CHOICE, NONE_OF_THESE: 0}
    return {
        "reasons": reasons,
        "ranking": ranking,
        "probabilities": [shares.get(name, rest) for name in named],
        "moved_by": "none",
    }


def _verdict(asked: _Asked) -> Mapping[str, object]:
    """The option that won the vote, called a checklist's; else "Not decided" and what is asked."""
    # Where the judge's summary stands for the positions, they are read from it.
    positions = asked.texts(PartKind.POSITION)
    if not positions:
        blocks = asked.joined(PartKind.SUMMARY).split("[Position of ")[1:]
        halves = (block.partition("]\n") for block in blocks)
        positions = [_Text(name, text.strip()) for name, _, text in halves]
    positions = [_Text(text.label.removeprefix("Position of "), text.text) for text in positions]
    own = (FOOTER, _NO_REVIEW)  # one of them stands in every text of this engine
    ours = bool(positions) and all(any(one in text.text for one in own) for text in positions)
    stands = {text.label: asked.stands_for(text.text) for text in positions}
    tops = [stands[name] for name in _winners(asked, stands)]
    chosen = tops[0] if ours and tops and all(thing is tops[0] for thing in tops) else None
    asks = dict.fromkeys(
        f"{text.label} asks: {one}" for text in positions for one in _questions_in(text.text)
    )
    notes = [line.partition(" ")[0] for line in asked.joined(PartKind.NOTES).splitlines()]
    common = {
        "reasons": [],
        "requirements": [
            {"requirement": demand, "words": "", "status": "unknown"}
            for demand in asked.reading.demands
        ],
        "decision": UNDECIDED if ours else NOT_JUDGED,
        "solution": _reasoning(asked, chosen, ours=ours),
        "implementation": "",
        "tradeoffs": [],
        "recommendations": [_ADVICE],
        "open_questions": [
            *(f"Is this met? {demand}" for demand in asked.reading.demands),
            *list(asks)[:_MOST_OPEN],
        ],
        "dissent": "",
        "overturned_by": [],
        "notes": [
            {"note": label, "used": False, "explanation": _NOT_WEIGHED}
            for label in notes
            if label.startswith("note") and label[4:].isdecimal()
        ],
        "parts": [{"part": section, "text": _NO_SECTION} for section in asked.sections],
        "confidence": None,
    }
    return {**common, **_of_choice(asked, chosen, positions)} if chosen else common


def _reasoning(asked: _Asked, chosen: Thing | None, *, ours: bool) -> str:
    """What a verdict of checklists rests on, or why there is none."""
    if chosen:
        points = [f"- {point}" for point in asked.points(chosen, 1)[:_MOST_POINTS]]
        said = "**This is the result of checklists, and no judgement.**"
        return "\n".join((f"{said} They know nothing of your case.", "", *points))
    if not ours:
        return (
            "The positions stand as the agents wrote them; the judge was the offline engine, which "
            "judges nothing."
        )
    if asked.things and not asked.is_voted:
        return "There was no vote, so none of the options that the checklists know was chosen."
    if asked.things:
        return "The vote is tied, or nobody's ballot could be counted."
    return f"{asked.reading.unknown} So nobody took a side."


def _of_choice(asked: _Asked, chosen: Thing, positions: Sequence[_Text]) -> Mapping[str, object]:
    """What a verdict says only where the checklists came to an option."""
    dissent = list[str]()
    for text in positions:
        thing = asked.stands_for(text.text)
        if thing and thing is not chosen:
            # Its weightiest reason comes first.
            begin = f"- For {thing.title}: "
            whys = (
                line.removeprefix(begin)
                for line in text.text.splitlines()
                if line.startswith(begin)
            )
            dissent.append(" ".join((f"- {text.label}: {thing.title}", next(whys, ""))).rstrip())
    lines = (line.partition(": ") for line in asked.joined(PartKind.OPTIONS).splitlines())
    ids = {name.partition(" (")[0]: option for option, _, name in lines}
    return {
        "option": ids.get(chosen.title, "none"),
        "decision": f"By checklists alone, {chosen.title}: no model was asked.",
        "tradeoffs": [f"{chosen.title}: {says}" for says in asked.notes(chosen, -1)],
        "overturned_by": [
            f"It counts more in your case than on a checklist that {chosen.title} {says}"
            for says in asked.notes(chosen, -1)
        ],
        "dissent": "\n".join(dissent),
    }


def _winners(asked: _Asked, names: Mapping[str, object]) -> Sequence[str]:
    """Whose texts have most points in the counted vote: "The text of Ann: 4 points, …"."""
    points = dict[str, float]()
    for line in asked.joined(PartKind.TALLY).splitlines():
        name, _, rest = line.removeprefix("The text of ").partition(": ")
        figure, _, what = rest.partition(" ")
        is_figure = figure.replace(".", "", 1).isdecimal()
        if name in names and is_figure and what.startswith("points, "):
            points[name] = float(figure)
    return [name for name in points if points[name] == max(points.values())]


def _questions(asked: _Asked) -> str:
    """What the question leaves open and this role wants to know first, as JSON."""
    said = words_of("\n".join(asked.joined(k) for k in (PartKind.QUESTION, PartKind.CONTEXT)))
    before = asked.joined(PartKind.CLARIFICATIONS)
    points = [checklists().open_points[key] for key in asked.role.asks]
    return json.dumps(
        {
            "questions": [
                {"question": point.question, "assumption": point.assumption}
                for point in points
                if (not point.topics or set(point.topics) & set(asked.reading.topics))
                and not any(mentions(said, word) for word in point.words)
                and point.question not in before
            ][:_MOST_QUESTIONS]
        },
        ensure_ascii=False,
    )
