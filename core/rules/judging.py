"""Chooses the models of judge and auditor, and lists the points that agents raised (pure)."""

from collections.abc import Mapping, Sequence

from core.debate.agents import EXAMPLE, OFFLINE, Agent, ModelChoice
from core.debate.contributions import RaisedKind, RaisedPoint
from core.debate.state import Debate
from core.debate.turn import Turn, turn_of
from core.debate.verdict import Verdict, VerdictSource
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.options import options_of
from core.rules.voting import best_texts, option_voted_for


def judge_of(debate: Debate) -> Agent:
    """The judge, with a model of a maker that has no agent among the winners.

    Models prefer texts of their own kind ("LLM Evaluators Recognize and Favor Their Own
    Generations", arXiv:2404.13076). If there is no winner or no such maker, or people chose the
    judge's model, the judge of the setup is returned.
    """
    setup, makers = debate.setup, winning_makers(debate)
    models = (model for model in setup.judge_models if model.maker not in makers)
    choice = next(models, None) if makers else None
    if choice is None:
        return setup.judge
    fallbacks = setup.judge.fallbacks
    others = None if fallbacks is None else choice.other_models(fallbacks)
    return setup.judge.model_copy(update={**dict(choice), "fallbacks": others})


def choice_of_judge(verdict: Verdict) -> str | None:
    """Id of the option that the judge chose, which rules may have replaced in the verdict.

    Empty: none of the options. None: no judge gave a verdict.
    """
    if verdict.source is VerdictSource.WINNER:
        return None
    if verdict.overrule:
        return verdict.overrule.judge
    return review.READY if review.NOT_READY in verdict.warnings else verdict.option


def was_overruled(debate: Debate) -> bool | None:
    """Whether the judge's choice, and not the vote's, was decided for; None: unknown."""
    voted, verdict = option_voted_for(debate), debate.verdict
    if not voted or not verdict or verdict.is_undecided or choice_of_judge(verdict) is None:
        return None
    if review.NOT_READY in verdict.warnings:
        return None  # open findings decided
    return options_of(debate).resolve(verdict.option) != voted


def chose_otherwise(debate: Debate, verdict: Verdict) -> bool | None:
    """Whether the judge chose another option with the positions in the opposite order.

    None: it did not choose in both orders.
    """
    check, choice = debate.cross_check, choice_of_judge(verdict)
    if check is None or choice is None:
        return None
    return options_of(debate).resolve(check.option) != options_of(debate).resolve(choice)


def winning_makers(debate: Debate) -> frozenset[str]:
    """The makers of the models that wrote the best texts for the option that won."""
    return frozenset(debate.setup.agent(winner).maker for winner in best_texts(debate.tally))


def auditor_of(debate: Debate) -> Agent | None:
    """The auditor: a model of another maker than the judge's; None if there is none.

    The summarizer's model comes first, because it is the cheapest.
    """
    setup, judge = debate.setup, judge_of(debate)
    if not setup.audit or judge.provider in {OFFLINE, EXAMPLE}:
        return None
    models: Sequence[ModelChoice | None] = (setup.summarizer, *setup.agents, *setup.judge_models)
    for model in models:
        if model and model.maker != judge.maker and model.provider not in {OFFLINE, EXAMPLE}:
            update: dict[str, object] = {"provider": model.provider, "model": model.model}
            update |= {"role": "auditor", "fallbacks": (), "prompts": {}}
            return judge.model_copy(update=update)
    return None


#: The most lone points that a verdict lists.
MOST_LONE = 5


def is_first_answer(debate: Debate, turn: Turn) -> bool:
    form = format_of(debate)
    return form.compares_drafts and turn.round == 1 and turn.act is form.phases[0]


def raised_points(debate: Debate) -> Mapping[str, RaisedPoint]:
    """The agents' raised points by the labels under which the judge reads them: r1, r2 and so on.

    Empty if only one agent raised anything.
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
    """The turn of the first answer in which the point was raised."""
    return turn_of(format_of(debate).phases[0], 1, point.agent)
