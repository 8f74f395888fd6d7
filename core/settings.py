"""Settings of debates as one frozen object: roles, roster, judge, limits, and their defaults."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import Field

from core.capabilities import Price
from core.models import (
    Agent,
    Clarifying,
    Limits,
    ModelChoice,
    PromptText,
    Summarization,
    Termination,
    Value,
    VoteRules,
)


class Role(Value):
    """A built-in point of view. Its prompt is `core/turns/prompts/roles/<id>.md`."""

    id: str
    name: str
    icon: str


_ROLES = (
    Role(id="architect", name="Architect", icon=":classical_building:"),
    Role(id="performance", name="Performance", icon=":zap:"),
    Role(id="security", name="Security", icon=":shield:"),
    Role(id="testing", name="Testing", icon=":test_tube:"),
    Role(id="simplicity", name="Simplicity", icon=":feather:"),
    Role(id="data", name="Data modelling", icon=":card_file_box:"),
    Role(id="generalist", name="Generalist", icon=":compass:"),
    Role(id="sceptic", name="Sceptic", icon=":face_with_raised_eyebrow:"),
    Role(id="product", name="Product", icon=":dart:"),
    Role(id="finance", name="Finance", icon=":abacus:"),
)
#: Built-in roles by id.
ROLES: Mapping[str, Role] = {role.id: role for role in _ROLES}
#: Other spellings people use for a role.
ROLE_ALIASES: Mapping[str, str] = {
    "kiss": "simplicity",
    "data-modelling": "data",
    "data-modeling": "data",
    "datamodeling": "data",
    "skeptic": "sceptic",
    "tester": "testing",
    "perf": "performance",
}
DEFAULT_ROSTER = ("architect", "security", "simplicity")
FALLBACK_ROLE = "generalist"


class Caps(Value):
    """Bounds on money over several debates, in US dollars; None = no bound."""

    #: What the debates of one person may cost on one day (UTC).
    person_day_cost: Decimal | None = None
    #: What all debates of a workspace may cost on one day (UTC).
    day_cost: Decimal | None = None


class Settings(Value):
    """What a debate starts from when nothing else is asked for."""

    #: Agents to choose from; empty = one per built-in role.
    agents: tuple[Agent, ...] = ()
    #: Serves agents made from built-in roles.
    agent_model: ModelChoice = ModelChoice(provider="offline", model="offline-checklists")
    judge_model: ModelChoice = ModelChoice(provider="offline", model="offline-checklists")
    #: The judge in full; None = made from `judge_model`.
    judge: Agent | None = None
    #: Serves summaries made in the background, if the judge is at the same provider: nothing is
    #: sent where the debate is not held. None: the judge's model.
    summary_model: ModelChoice | None = None
    #: Models to ask, in order, when an agent's own cannot be asked and it names none itself.
    fallbacks: tuple[ModelChoice, ...] = ()
    format: str = "critique"
    rounds: int = 3
    limits: Limits = Limits()
    caps: Caps = Caps()
    vote: VoteRules = VoteRules()
    termination: Termination = Termination()
    clarifying: Clarifying = Clarifying()
    summarization: Summarization = Summarization()
    #: Whether somebody chose the summarization's method: then no format knows better.
    method_chosen: bool = False
    #: Prompts that stand in for built-in ones for every agent that has none of its own.
    prompts: Mapping[str, PromptText] = Field(default_factory=dict[str, PromptText])
    #: Records laid over the built-in table of capabilities.
    models: tuple[Mapping[str, Any], ...] = ()
    #: Prices that win over the public list; a key is `provider/model` or the model's name.
    prices: Mapping[str, Price] = Field(default_factory=dict[str, Price])
    #: Said to people when a debate starts: what the settings ask for and cannot be had.
    warnings: tuple[str, ...] = ()
    question_max_chars: int = 4000
    rounds_max: int = 15


def role_id(name: str) -> str | None:
    """The built-in role that people mean by this name; None if there is none."""
    wanted = name.strip().lower().replace(" ", "-").replace("_", "-")
    wanted = ROLE_ALIASES.get(wanted, wanted)
    return wanted if wanted in ROLES else None


def agent_for(role: str, choice: ModelChoice) -> Agent:
    """An agent with a built-in role.

    Raises:
        KeyError: Not a built-in role.
    """
    found = ROLES[role]
    return Agent(
        id=found.id,
        name=found.name,
        role=found.id,
        icon=found.icon,
        provider=choice.provider,
        model=choice.model,
    )


def judge_for(choice: ModelChoice) -> Agent:
    """The judge."""
    return Agent(
        id="judge",
        name="Judge",
        role="judge",
        icon=":scales:",
        provider=choice.provider,
        model=choice.model,
    )
