"""Clarifications, for all formats: agents ask, people answer, else assumptions hold (pure).

Questions are collected per agent, de-duplicated over agents and put to people as one list. People
have until a deadline. Follow-up rounds, if settings allow them, come only after somebody answered.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from core.models import (
    ENGINE,
    FACILITATOR,
    Act,
    Clarification,
    Clarifications,
    Debate,
    Question,
    Turn,
)
from core.rules.formats.presence import awaited
from core.rules.formats.same_question import is_same

#: Never more rounds of questions than this.
MOST_ROUNDS = 3


def ready(debate: Debate) -> Sequence[Turn] | None:
    """What is to be asked before round 1; empty while people are waited for, None when all is."""
    rules = debate.setup.clarifying
    if not rules.enabled:
        return None
    for number in range(1, min(rules.rounds, MOST_ROUNDS) + 1):
        opening = clarification_turn(number)
        if not debate.is_done(opening):
            # Agents that have not yet said what they want to know come first.
            turns = (_question_turn(number, agent.id) for agent in debate.setup.agents)
            left = tuple(turn for turn in turns if not debate.is_done(turn))
            present = awaited(debate, [agent.id for agent in debate.setup.agents])
            return left if any(turn.agent in present for turn in left) else (opening,)
        opened = debate.clarifications.get(opening.key)
        if opened and is_open(debate, opened):
            return ()
        if not opened or not any(item.number in debate.answers for item in opened.items):
            return None
    return None


def asked_by_facilitator(debate: Debate) -> Sequence[Turn]:
    """Questions of the facilitator that are still to be put to people."""
    wanted = (guidance for guidance in debate.guidance.values() if guidance.question)
    turns = (Turn(act=Act.CLARIFICATION, round=g.turn.round, agent=ENGINE) for g in wanted)
    return tuple(turn for turn in turns if not debate.is_done(turn))


def put(debate: Debate, turn: Turn) -> Clarifications:
    """The questions to put to people on this turn: each once, numbered on from earlier ones."""
    wait = timedelta(seconds=debate.setup.clarifying.wait_seconds)
    first = 1 + sum(len(asked.items) for asked in debate.clarifications.values())
    merged = _merged(list(_questions(debate, turn)))
    items = tuple(
        Clarification(
            number=number, question=question.text, assumption=question.assumption, asked_by=agents
        )
        for number, (question, agents) in enumerate(merged, start=first)
    )
    return Clarifications(turn=turn, items=items, until=debate.now + wait)


def due(debate: Debate) -> tuple[str, datetime] | None:
    """Which open clarifications end next, and when; None if none are open."""
    waiting = (c for c in debate.clarifications.values() if is_open(debate, c))
    ends = [(asked.turn.key, asked.until) for asked in waiting]
    return min(ends, key=lambda end: end[1], default=None)


def is_open(debate: Debate, opened: Clarifications) -> bool:
    """Whether people's answers are still waited for."""
    if opened.turn.key in debate.closed:
        return False
    return any(item.number not in debate.answers for item in opened.items)


def clarification_turn(number: int) -> Turn:
    """The turn on which the questions of that asking round are put to people."""
    return Turn(act=Act.CLARIFICATION, round=0, agent=ENGINE, target=str(number))


def _question_turn(number: int, agent: str) -> Turn:
    return Turn(act=Act.QUESTIONS, round=0, agent=agent, target=str(number))


def _questions(debate: Debate, turn: Turn) -> Iterator[tuple[Question, str]]:
    """Everything asked for this turn, with who asks, within the limit per agent."""
    if turn.round > 0:
        guidance = next(g for g in debate.guidance.values() if g.turn.round == turn.round)
        if guidance.question:
            yield guidance.question, FACILITATOR
        return
    most = debate.setup.clarifying.per_agent
    for agent in debate.setup.agents:
        asked = debate.questions.get(_question_turn(int(turn.target or 1), agent.id).key)
        for question in asked.questions[:most] if asked else ():
            yield question, agent.id


def _merged(
    asked: Sequence[tuple[Question, str]],
) -> Sequence[tuple[Question, tuple[str, ...]]]:
    """Each question once, with everybody who asks it; the first wording stays.

    What one agent asks twice it means twice.
    """
    merged: list[tuple[Question, tuple[str, ...]]] = []
    for question, agent in asked:
        for place, (known, agents) in enumerate(merged):
            if agent not in agents and is_same(known.text, question.text):
                merged[place] = (known, (*agents, agent))
                break
        else:
            merged.append((question, (agent,)))
    return merged
