"""What agents raise on their own: risks, ideas and facts that a verdict may leave out (pure).

Agreement loses ideas: councils kept 22 to 25 % of those that one model had, and two thirds of the
lost ones were rated useful (Krishnan, 2026-06). So they are fields, and the judge says which of
them one agent alone raised; no words are compared.
"""

from collections.abc import Mapping

from core.debate.contributions import RaisedKind, RaisedPoint
from core.debate.state import Debate
from core.debate.turn import Turn, turn_of
from core.rules.formats.registry import format_of

#: Lines of a verdict on what one agent alone raised.
MOST_LONE = 5


def is_first_answer(debate: Debate, turn: Turn) -> bool:
    form = format_of(debate)
    return form.compares_drafts and turn.round == 1 and turn.act is form.phases[0]


def raised_points(debate: Debate) -> Mapping[str, RaisedPoint]:
    """What the agents raised by the labels under which the judge reads it (`r1`).

    Empty where only one agent raised anything.
    """
    drafts = format_of(debate).contributions(debate, format_of(debate).phases[0])
    points = list[RaisedPoint]()
    for agent in debate.setup.agents:
        points += drafts[agent.id].raised if agent.id in drafts else ()
        points += (
            RaisedPoint(agent=agent.id, kind=RaisedKind.FACT, text=fact)
            for questions in debate.questions.values()
            if questions.turn.agent == agent.id
            for fact in questions.facts
        )
    if len({point.agent for point in points}) <= 1:
        return {}
    return {f"r{number}": point for number, point in enumerate(points, start=1)}


def first_turn(debate: Debate, point: RaisedPoint) -> Turn:
    return turn_of(format_of(debate).phases[0], 1, point.agent)
