"""Clarifications, for all formats: agents ask, people answer, else assumptions hold (pure).

Questions are collected, those of the debate's playbook first, de-duplicated over agents and put to
people as one short list, the most decisive first. People have until a deadline. Follow-up rounds,
if settings allow them, come only after somebody answered.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.debate.contributions import Clarification, Clarifications, Question
from core.debate.state import Debate
from core.debate.turn import ENGINE, FACILITATOR, PLAYBOOK, Act, Turn
from core.rules.formats import review
from core.rules.playbook import asks_people, standing_questions
from core.rules.steps import agents_present

#: Never more rounds of questions than this.
MOST_ROUNDS = 3
#: Questions that people are asked before round 1, follow-ups included: more are not read.
MOST_PUT = 6
#: Marks around a word that change no question. Not # and %: C# is not C.
_MARKS = ".,:;!?…\"'()[]*_`“”„\u2018’«»¿¡。、"


@dataclass(frozen=True)
class MergedQuestion:
    question: Question
    agents: tuple[str, ...]
    #: How far up it stands in the list of an agent that asks it; 0 is first.
    place: int

    def merge(self, other: "MergedQuestion") -> "MergedQuestion":
        agents = tuple(dict.fromkeys((*self.agents, *other.agents)))
        return MergedQuestion(self.question, agents, min(self.place, other.place))


def ready(debate: Debate) -> Sequence[Turn] | None:
    """Turns of questions before round 1; empty: waiting for people; None: all is asked."""
    rules = debate.setup.clarifying
    if not rules.enabled and not asks_people(debate):
        return None
    agents = debate.setup.agents if rules.enabled else ()
    rounds = rules.rounds if rules.enabled else 1
    for number in range(1, rounds + 1):
        opening = clarification_turn(number)
        if not debate.is_done(opening):
            return _asking(debate, number, [agent.id for agent in agents]) or (opening,)
        opened = debate.clarifications.get(opening.key)
        if opened and opened in debate.open_cards:
            return ()
        if not opened or not any(item.number in debate.answers for item in opened.items):
            return None
    return None


def _asking(debate: Debate, number: int, agents: Sequence[str]) -> Sequence[Turn]:
    """Turns of agents that have not asked yet; none once nobody is waited for."""
    turns = (_question_turn(number, agent) for agent in agents)
    pending = debate.open_turns(turns)
    present = agents_present(debate, agents)
    return pending if any(turn.agent in present for turn in pending) else ()


def facilitator_questions(debate: Debate) -> Sequence[Turn]:
    questions = (guidance for guidance in debate.guidance.values() if guidance.question)
    turns = (Turn(act=Act.CLARIFICATION, round=g.turn.round, agent=ENGINE) for g in questions)
    return debate.open_turns(turns)


def collected_questions(debate: Debate, turn: Turn) -> Sequence[MergedQuestion]:
    """The questions of all agents for this turn, those in the same words once, as first worded."""
    merged = dict[tuple[str, ...], MergedQuestion]()
    for question in _questions(debate, turn):
        # Without case, marks and white space.
        text = unicodedata.normalize("NFKC", question.question.text).casefold()
        words = tuple(filter(None, (word.strip(_MARKS) for word in text.split())))
        other = merged.get(words)
        merged[words] = other.merge(question) if other else question
    return list(merged.values())


def questions_to_put(debate: Debate, turn: Turn, firsts: Sequence[int] = ()) -> Clarifications:
    """The questions to put to people on this turn: each once, numbered on from earlier ones.

    The most decisive come first: what the playbook asks, what most agents ask, then what each agent
    names first, as agents are told to begin with what matters most. What is beyond `MOST_PUT` is
    left out, with a warning.

    `firsts` has for each of `asked_for` the place of the first that asks the same in other words;
    empty: unknown, and all are put.
    """
    if turn == review.ASKING and debate.findings:
        return review.author_questions(debate, turn)
    first = 1 + sum(len(card.items) for card in debate.clarifications.values())
    by_first: dict[int, MergedQuestion] = {}
    for place, item in enumerate(collected_questions(debate, turn)):
        # Questions of the playbook are never merged away.
        first_place = firsts[place] if firsts and PLAYBOOK not in item.agents else place
        earlier = by_first.get(first_place)
        by_first[first_place] = earlier.merge(item) if earlier else item
    merged = list(by_first.values())
    left_out: Sequence[MergedQuestion] = ()
    if turn.round == 0:
        merged.sort(key=lambda it: (PLAYBOOK not in it.agents, -len(it.agents), it.place))
        room = max(0, MOST_PUT - first + 1)
        merged, left_out = merged[:room], merged[room:]
    items = tuple(
        Clarification(
            number=number,
            question=question.question.text,
            assumption=question.question.assumption,
            asked_by=question.agents,
        )
        for number, question in enumerate(merged, start=first)
    )
    warnings = tuple(
        f"Not put to people, who are asked {MOST_PUT} questions at most: "
        f"“{' '.join(question.question.text.split())}” "
        f"({', '.join(question.agents)}). Nothing is assumed in its place."
        for question in left_out
    )
    until = debate.now + timedelta(seconds=debate.setup.clarifying.wait_seconds)
    return Clarifications(
        turn=turn, items=items, until=until, warnings=warnings, closed_by_event=True
    )


def due(debate: Debate) -> tuple[str, datetime] | None:
    """Which open clarifications end next, and when; None if none are open."""
    ends = [(card.turn.key, end_of(debate, card)) for card in debate.open_cards]
    return min(ends, key=lambda end: end[1], default=None)


def end_of(debate: Debate, card: Clarifications) -> datetime:
    """When agents go on: once all is answered, and time to correct a message is over."""
    numbers = [item.number for item in card.items]
    if not all(number in debate.answers for number in numbers):
        return card.until
    correcting = timedelta(seconds=debate.setup.clarifying.correct_seconds)
    last = max(
        debate.times[answer.key] + (correcting if answer.is_editable else timedelta())
        for answer in map(debate.answers.__getitem__, numbers)
    )
    return min(last, card.until + correcting)


def clarification_turn(number: int) -> Turn:
    return Turn(act=Act.CLARIFICATION, round=0, agent=ENGINE, target=str(number))


def _question_turn(number: int, agent: str) -> Turn:
    return Turn(act=Act.QUESTIONS, round=0, agent=agent, target=str(number))


def _questions(debate: Debate, turn: Turn) -> Iterator[MergedQuestion]:
    if turn.round > 0:
        for guidance in debate.guidance.values():
            if guidance.question and guidance.turn.round == turn.round:
                yield MergedQuestion(guidance.question, (FACILITATOR,), 0)
        return
    if turn.target == clarification_turn(1).target:
        for place, question in enumerate(standing_questions(debate)):
            yield MergedQuestion(question, (PLAYBOOK,), place)
    most = debate.setup.clarifying.per_agent
    for agent in debate.setup.agents:
        questions = debate.questions.get(_question_turn(int(turn.target or 1), agent.id).key)
        for place, question in enumerate(questions.questions[:most] if questions else ()):
            yield MergedQuestion(question, (agent.id,), place)
