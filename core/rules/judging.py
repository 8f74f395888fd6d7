"""Who judges a debate (pure)."""

from collections.abc import Mapping, Sequence

from core.debate.agents import EXAMPLE, OFFLINE, Agent, ModelChoice
from core.debate.contributions import RaisedKind, RaisedPoint
from core.debate.state import Debate
from core.debate.turn import Turn, turn_of
from core.rules.formats.registry import format_of
from core.rules.voting import best_texts


def judge_of(debate: Debate) -> Agent:
    """The judge with the model that takes its turn: of a maker none of whose agents has won.

    A model likes its own kind's texts better ("LLM Evaluators Recognize and Favor Their Own
    Generations", arXiv:2404.13076). Where nobody won, where all makers have, or where people named
    the judge's model, it is the judge of the setup.
    """
    setup = debate.setup
    winners = best_texts(debate.tally) if debate.tally else ()
    makers = {setup.agent(winner).maker for winner in winners}
    possible = (model for model in setup.judge_models if model.maker not in makers)
    choice = next(possible, None) if makers else None
    if choice is None:
        return setup.judge
    others = setup.judge.fallbacks
    if others is not None:
        others = tuple(fallback for fallback in others if fallback != choice)
    return setup.judge.model_copy(update={**dict(choice), "fallbacks": others})


def auditor_of(debate: Debate) -> Agent | None:
    """Who audits the verdict: a model of another maker than the judge's; None where there is none.

    The model of the background is preferred: it is the cheapest.
    """
    setup, judge = debate.setup, judge_of(debate)
    if not setup.audit or judge.provider in {OFFLINE, EXAMPLE}:
        return None
    models: Sequence[ModelChoice | None] = (setup.summarizer, *setup.agents, *setup.judge_models)
    for other in models:
        if other and other.maker != judge.maker and other.provider not in {OFFLINE, EXAMPLE}:
            served: dict[str, object] = {"provider": other.provider, "model": other.model}
            served |= {"role": "auditor", "fallbacks": (), "prompts": {}}
            return judge.model_copy(update=served)
    return None


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
