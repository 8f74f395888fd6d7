"""Which models take part, in words for people, before money is spent (pure)."""

from collections.abc import Iterable

from core.debate.agents import EXAMPLE, OFFLINE, Agent, ModelChoice
from core.debate.setup import Setup
from core.debate.state import Debate
from core.rules.judging import judge_of
from core.settings import Settings

NO_MODEL = (
    "NO MODEL IS SET UP: the offline engine answers from checklists, and no AI is asked. Set "
    "ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY or MOONSHOT_API_KEY, start Ollama, or "
    "name a model of your own server as `default_model` in the settings file."
)
#: Instead of models, where a debate is played from what is written down.
EXAMPLE_WORDS = "none: this debate was written by hand, as an example. No AI model was asked."


def usual_models_words(settings: Settings) -> str:
    own = [agent for agent in settings.agents if agent.enabled]
    judges = settings.judge_models or (settings.judge or settings.judge_model,)
    agents = own or settings.mixed_models or (settings.agent_model,)
    if all(choice.provider == OFFLINE for choice in (*agents, *judges)):
        return NO_MODEL
    names = _names(agents)
    # Who has which.
    who = "for every agent"
    if len(names) > 1:
        who = "as the settings give them to the agents" if own else "dealt to the agents in turn"
    texts = [f"{' and '.join(names)}, {who}"]
    if settings.judge_models:
        texts.append("one whose maker's agents did not win judges")
    else:
        texts.append(f"{judges[0].full_name} judges")
    background = settings.background_model({choice.provider for choice in (*agents, *judges)})
    if background:
        texts.append(f"{background.full_name} sums up and chooses agents")
    return f"Models: {'; '.join(texts)}."


def debate_models_words(setup: Setup, *, to_be_cast: bool = False) -> str:
    """Who thinks with which model in this debate; loudly that none is asked.

    `to_be_cast`: a model has still to choose the agents.
    """
    if all(agent.provider == OFFLINE for agent in (*setup.agents, setup.judge)):
        return NO_MODEL
    if all(agent.provider == EXAMPLE for agent in setup.agents):
        return EXAMPLE_WORDS
    judge = "of a maker whose agents did not win" if setup.judge_models else setup.judge.full_name
    parts = [f"judge: {judge}"]
    if setup.summarizer:
        parts.append(f"summaries: {setup.summarizer.full_name}")
    if setup.shadow_agent:
        parts.append(f"alone, unseen until the verdict: {setup.shadow_agent.full_name}")
    if to_be_cast and setup.casting:
        dealt = _names(setup.casting.models)
        turn = ", dealt to the agents in turn" if len(dealt) > 1 else ""
        return f"{'; '.join([' and '.join(dealt) + turn, *parts])}."
    agents = ", ".join(f"{agent.name}: {agent.full_name}" for agent in setup.agents)
    return f"{'; '.join([agents, *parts])}. {model_count_words(setup.agents)}".strip()


def judge_words(debate: Debate) -> str:
    """Which model judged; why that one, where it was not chosen beforehand; empty if none has."""
    call = debate.verdict.call if debate.verdict else None
    if call is None:
        return ""
    name = f"{call.provider}/{call.model}"
    winners = debate.tally.winners if debate.tally else ()
    makers = {debate.setup.agent(winner).maker for winner in winners}
    judge = judge_of(debate)
    was_dealt = debate.setup.judge_models and makers and judge.maker not in makers
    if was_dealt and call.provider == judge.provider:
        return f"{name}, none of whose maker's agents won the vote"
    return name


def model_count_words(agents: Iterable[Agent]) -> str:
    """`3 points of view, 1 model.` where several agents share one model; else empty."""
    agents = tuple(agents)
    shared = len(_names(agents)) == 1 and agents[0].provider != OFFLINE
    return f"{len(agents)} points of view, 1 model." if shared and len(agents) > 1 else ""


def _names(choices: Iterable[ModelChoice]) -> list[str]:
    return list(dict.fromkeys(choice.full_name for choice in choices))
