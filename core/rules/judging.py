"""Who judges a debate (pure)."""

from collections.abc import Sequence

from core.debate.agents import EXAMPLE, OFFLINE, Agent, ModelChoice
from core.debate.state import Debate
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
