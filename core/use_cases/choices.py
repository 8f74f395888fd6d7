"""Choices of a channel or a form, which override the settings of a debate (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, Protocol

from core.debate.agents import Agent, ModelChoice
from core.debate.people import Place
from core.debate.rules import Rounds, ShadowWhen
from core.errors import BadInput
from core.figures import money
from core.rules.formats.registry import formats_with
from core.settings import DEFAULT_ROSTER, Settings, roles_with
from core.values import Money, Value

#: Times that a channel or form offers for answering questions, in minutes.
WAITS = (1, 5, 15, 30, 60, 240)
#: The choice of no playbook. No playbook can have this name.
NO_PLAYBOOK = "-"
#: Typed for a debate without a cost cap.
NO_CAP = "none"
_MOST_MONEY = Decimal(1000)
_CENT = Decimal("0.01")


class Choices(Value):
    """Choices that override settings. None keeps the setting."""

    #: Name of the playbook; `NO_PLAYBOOK`: none, even if the channel has a default one.
    playbook: str | None = None
    #: A format that no longer exists is ignored.
    format: str | None = None
    rounds: Rounds | None = None
    agents: tuple[str, ...] | None = None
    clarify: bool | None = None
    wait_minutes: int | None = None
    #: Whether one model also answers alone; its answer is hidden until the verdict.
    shadow: bool | None = None
    #: Whether stances, counts and verdict are hidden until a person reveals them.
    sealed: bool | None = None
    #: Id of a `ModelSet`.
    models: str | None = None
    #: Cost cap of a debate in US dollars.
    debate_cost: Money | Literal["none"] | None = None

    def over(self, base: "Choices") -> "Choices":
        """Return `base` with every choice that is made here."""
        changes = {name: value for name, value in self if value is not None}
        return base.model_copy(update=changes)


class ChannelChoices(Value):
    choices: Choices = Choices()
    #: Ids of people who may steer all debates of the channel, besides each debate's starter.
    stewards: tuple[str, ...] = ()
    #: Keep the board pinned when a debate ends.
    keep_pinned: bool = False
    #: Each turn is a post of its own; otherwise one post per agent and round.
    every_turn: bool = False
    #: Debates cannot be shared as pages, and existing links stop working.
    no_pages: bool = False
    #: People of other organisations may start debates and answer; None: Moot's default.
    open_to_others: bool | None = None


class ChannelChoicesStore(Protocol):
    async def get(self, place: Place) -> ChannelChoices:
        """Return the channel's choices; the defaults if they are missing or unreadable."""
        ...

    async def put(self, place: Place, choices: ChannelChoices) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ModelSet:
    id: str
    words: str
    agent: ModelChoice
    judge: ModelChoice


def with_choices(settings: Settings, choices: Choices, models: Sequence[ModelSet]) -> Settings:
    """Return the settings of one debate, changed by the choices of its channel or form.

    A choice of a model set that is not in `models` is ignored.
    """
    changes: dict[str, object] = {}
    if choices.format and choices.format in formats_with(settings.agendas):
        changes["format"] = choices.format
    if choices.rounds:
        changes["rounds"] = choices.rounds
    if choices.debate_cost is not None:
        # `with_cost` lowers an older choice of the channel to the highest cap allowed now.
        cost = None if choices.debate_cost == NO_CAP else choices.debate_cost
        changes["limits"] = settings.limits.with_cost(cost)
    if choices.shadow is not None:
        changes["shadow"] = ShadowWhen.ALWAYS if choices.shadow else ShadowWhen.NEVER
    if choices.sealed is not None:
        changes["sealed"] = choices.sealed
    clarifying: dict[str, object] = {}
    if choices.clarify is not None:
        clarifying["enabled"] = choices.clarify
    if choices.wait_minutes:
        clarifying["wait_seconds"] = choices.wait_minutes * 60.0
    changes["clarifying"] = settings.clarifying.model_copy(update=clarifying)
    model_set = next((model for model in models if model.id == choices.models), None)
    if model_set:
        changes["agent_model"], changes["judge_model"] = model_set.agent, model_set.judge
        changes["mixed_models"] = changes["judge_models"] = ()
        changes["strongest_model"] = None
        judge = settings.judge and _with_model(settings.judge, model_set.judge)
        agents = (_with_model(agent, model_set.agent) for agent in settings.agents)
        changes["agents"], changes["judge"] = tuple(agents), judge
    return settings.model_copy(update=changes)


def roster(settings: Settings) -> Mapping[str, str]:
    """Return the agents that people can choose, id → name: configured agents, then other roles."""
    configured = {agent.id: agent.name for agent in settings.agents if agent.enabled}
    used_ids = {role_id for agent in settings.agents for role_id in (agent.role, agent.id)}
    all_roles = roles_with(settings.roles).values()
    return {**configured, **{role.id: role.name for role in all_roles if role.id not in used_ids}}


def taking_part(settings: Settings) -> tuple[str, ...] | None:
    """Return the ids of the default agents; None if they are cast for each question."""
    if settings.casting and not settings.agents:
        return None
    return tuple(agent.id for agent in settings.agents if agent.enabled) or DEFAULT_ROSTER


def cost_cap(text: str, most: Decimal | None) -> Decimal | Literal["none"] | None:
    """Parse a typed cost cap in US dollars, `NO_CAP`, or an empty text (None).

    Raises:
        BadInput: It is no amount, or above `most`.
    """
    plain = text.strip().removeprefix("$").removesuffix("$").strip()
    if not plain:
        return None
    too_high = f"Whoever runs Moot allows a cap of {money(most)} at most."
    if plain.casefold() == NO_CAP:
        if most is not None:
            raise BadInput(too_high)
        return NO_CAP
    try:
        amount = Decimal(plain.replace(",", "."))
    except InvalidOperation:
        raise BadInput("Write an amount in US dollars, for example 2.50, or none.") from None
    if not (amount.is_finite() and _CENT <= amount <= _MOST_MONEY):
        raise BadInput(f"Write an amount from {_CENT} to {_MOST_MONEY} US dollars, or none.")
    if most is not None and amount > most:
        raise BadInput(too_high)
    return amount


def _with_model(agent: Agent, choice: ModelChoice) -> Agent:
    return agent.model_copy(update={"provider": choice.provider, "model": choice.model})
