"""The settings of a demonstration: what the command line asks for, and how to spend nothing."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from core.capabilities import capability
from core.debate.agents import OFFLINE, Agent
from core.debate.rules import Clarifying
from core.errors import BadInput
from core.settings import ROLES, ModelChoice, Settings, agent_for, role_id
from core.transcript.models_used import usual_models_words

#: Seconds that the agents of a demonstration wait for answers.
WAIT_SECONDS = 60.0


def demo_settings(
    settings: Settings, rounds: int | None, agents: Sequence[str], form: str = ""
) -> Settings:
    changes: dict[str, Any] = {"format": form} if form else {}
    if rounds is not None:
        changes["rounds"] = rounds
    if agents:
        roster, dealt = list[Agent](), cycle(settings.mixed_models or (settings.agent_model,))
        for name in agents:
            if (role := role_id(name)) is None:
                raise BadInput(f'There is no role "{name.strip()}". Roles: {", ".join(ROLES)}.')
            roster.append(agent_for(role, next(dealt)))
        changes["agents"] = tuple(roster)
    return settings.model_copy(update=changes)


def offline(settings: Settings) -> Settings:
    choice = ModelChoice(provider="offline", model="offline-checklists")
    instead = {"provider": choice.provider, "model": choice.model}
    agents = tuple(agent.model_copy(update=instead) for agent in settings.agents)
    changes: dict[str, Any] = {"agent_model": choice, "judge_model": choice, "agents": agents}
    changes |= {"mixed_models": (), "judge_models": (), "background_models": ()}
    changes["strongest_model"] = changes["shadow_model"] = None
    return settings.model_copy(update=changes)


def asking(settings: Settings) -> Settings:
    clarifying = Clarifying(enabled=True, wait_seconds=WAIT_SECONDS)
    return settings.model_copy(update={"clarifying": clarifying})


def costs_money(settings: Settings) -> bool:
    """Whether a model is paid for: neither the offline engine's nor one of this machine."""
    usual = (settings.agent_model, settings.judge_model)
    return any(
        choice.provider != OFFLINE
        and not capability(choice.provider, choice.model, settings.models).local
        for choice in (*usual, *settings.agents, *settings.mixed_models)
    )


def models_in_words(settings: Settings) -> str:
    if settings.agent_model.provider == OFFLINE:
        return "Models: none. The built-in offline engine has checklists and declines the rest."
    return usual_models_words(settings)
