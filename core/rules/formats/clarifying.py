"""Clarifications in all formats: agents' questions to people, or else assumptions (pure).

The questions of the playbook and of all agents are merged into one short list, the most important
first. People can answer until a deadline; then assumptions are used. Follow-up rounds, if settings
allow them, are held only if a person answered.
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

#: The most rounds of questions.
MOST_ROUNDS = 3
#: The most questions to people before round 1, with follow-ups: people do not read more.
MOST_PUT = 6
#: Marks around words that are ignored when questions are compared. Not # and %: C# is not C.
_MARKS = ".,:;!?…\"'()[]*_`“”„\u2018’«»¿¡。、"


@dataclass(frozen=True)
class MergedQuestion:
    """A question with all agents that ask it."""

    question: Question
    agents: tuple[str, ...]
    #: Its best position in these agents' lists, counted from 0.
    rank: int

    def merge(self, duplicate: "MergedQuestion") -> "MergedQuestion":
        agents = tuple(dict.fromkeys((*self.agents, *duplicate.agents)))
        return MergedQuestion(self.question, agents, min(self.rank, duplicate.rank))


def ready(debate: Debate) -> Sequence[Turn] | None:
    """The next turns for questions before round 1.

    Empty while people can answer; None if no more questions are asked.
    """
    rules = debate.setup.clarifying
    if rules.enabled:
        agents, rounds = debate.setup.agents, rules.rounds
    elif asks_people(debate):
        agents, rounds = (), 1
    else:
        return None
    for number in range(1, rounds + 1):
        turn = clarification_turn(number)
        if not debate.is_done(turn):
            asking = debate.open_turns(_question_turn(number, agent.id) for agent in agents)
            # Questions of agents whose models are away are not waited for.
            present = agents_present(debate, [agent.id for agent in agents])
            is_awaited = any(question_turn.agent in present for question_turn in asking)
            return asking if is_awaited else (turn,)
        card = debate.clarifications.get(turn.key)
        if card and card in debate.open_cards:
            return ()
        if not card or not any(item.number in debate.answers for item in card.items):
            return None
    return None


def facilitator_questions(debate: Debate) -> Sequence[Turn]:
    """The open turns that put a facilitator's question to people."""
    questions = (guidance for guidance in debate.guidance.values() if guidance.question)
    turns = (Turn(act=Act.CLARIFICATION, round=g.turn.round, agent=ENGINE) for g in questions)
    return debate.open_turns(turns)


def collected_questions(debate: Debate, turn: Turn) -> Sequence[MergedQuestion]:
    """All questions for this turn; questions in the same words are merged."""
    merged = dict[tuple[str, ...], MergedQuestion]()
    for question in _questions(debate, turn):
        # Case, marks and white space are ignored.
        text = unicodedata.normalize("NFKC", question.question.text).casefold()
        words = tuple(filter(None, (word.strip(_MARKS) for word in text.split())))
        first = merged.get(words)
        merged[words] = first.merge(question) if first else question
    return list(merged.values())


def questions_to_put(debate: Debate, turn: Turn, firsts: Sequence[int] = ()) -> Clarifications:
    """The questions to people on this turn, each once, numbered after earlier ones.

    First the playbook's, then those that most agents ask, then by their rank in the agents' lists,
    as agents begin with the most important question. Questions beyond `MOST_PUT` are left out, with
    a warning.

    `firsts` has for each of `collected_questions` the index of the first one with the same meaning;
    if it is empty, no question is merged.
    """
    if turn == review.ASKING and debate.findings:
        return review.author_questions(debate, turn)
    first_number = 1 + len(debate.all_clarifications)
    by_first: dict[int, MergedQuestion] = {}
    for index, item in enumerate(collected_questions(debate, turn)):
        # Questions of the playbook are never merged into others.
        first = firsts[index] if firsts and PLAYBOOK not in item.agents else index
        by_first[first] = by_first[first].merge(item) if first in by_first else item
    merged = list(by_first.values())
    left_out: Sequence[MergedQuestion] = ()
    if turn.round == 0:
        merged.sort(key=lambda item: (PLAYBOOK not in item.agents, -len(item.agents), item.rank))
        room = max(0, MOST_PUT - first_number + 1)
        merged, left_out = merged[:room], merged[room:]
    items = tuple(
        Clarification(
            number=number,
            question=question.question.text,
            assumption=question.question.assumption,
            asked_by=question.agents,
        )
        for number, question in enumerate(merged, start=first_number)
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
    """The key of the open clarifications that end next, and when; None if none are open."""
    ends = [(card.turn.key, end_of(debate, card)) for card in debate.open_cards]
    return min(ends, key=lambda end: end[1], default=None)


def end_of(debate: Debate, card: Clarifications) -> datetime:
    """When the agents continue: at the deadline, or after all answers and the time to edit them."""
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
        for rank, question in enumerate(standing_questions(debate)):
            yield MergedQuestion(question, (PLAYBOOK,), rank)
    most = debate.setup.clarifying.per_agent
    for agent in debate.setup.agents:
        questions = debate.questions.get(_question_turn(int(turn.target or 1), agent.id).key)
        for rank, question in enumerate(questions.questions[:most] if questions else ()):
            yield MergedQuestion(question, (agent.id,), rank)
