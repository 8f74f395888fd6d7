"""What a channel or a form chooses for debates, laid over the settings (pure)."""

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

#: Minutes that people can be given to answer questions.
WAITS = (1, 5, 15, 30, 60, 240)
#: Chosen where a debate is to be of no kind; no playbook has this name.
NO_PLAYBOOK = "-"
#: Typed where a debate is to have no cost cap.
NO_CAP = "none"
_MOST_MONEY = Decimal(1000)
_CENT = Decimal("0.01")


class Choices(Value):
    """Choices over the settings; None leaves it as it is."""

    #: Name of the kind of debate; `NO_PLAYBOOK`: none, though there is a usual one.
    playbook: str | None = None
    #: One that is gone counts as none.
    format: str | None = None
    rounds: Rounds | None = None
    agents: tuple[str, ...] | None = None
    clarify: bool | None = None
    wait_minutes: int | None = None
    #: Whether one model answers alone as well, unseen until the verdict.
    shadow: bool | None = None
    #: Whether nobody is shown what agents hold and decide before it is revealed.
    sealed: bool | None = None
    #: Id of a `ModelSet`.
    models: str | None = None
    #: Most that a debate may cost, in US dollars.
    debate_cost: Money | Literal["none"] | None = None

    def over(self, other: "Choices") -> "Choices":
        own = {name: value for name, value in self if value is not None}
        return other.model_copy(update=own)


class ChannelChoices(Value):
    choices: Choices = Choices()
    #: Ids of people who may steer debates besides those who start them.
    stewards: tuple[str, ...] = ()
    #: Keep the board pinned when a debate ends.
    keep_pinned: bool = False
    #: Every turn is a post of its own; else one post per agent and round.
    every_turn: bool = False
    #: Nobody may share its debates as pages, and links there are lead nowhere.
    no_pages: bool = False
    #: People of other organisations may start debates and answer; None: as Moot is set up.
    open_to_others: bool | None = None


class ChannelChoicesStore(Protocol):
    async def get(self, place: Place) -> ChannelChoices:
        """What the channel has set; nothing, if that can no longer be read."""
        ...

    async def put(self, place: Place, choices: ChannelChoices) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ModelSet:
    id: str
    words: str
    agent: ModelChoice
    judge: ModelChoice


def with_choices(settings: Settings, choices: Choices, models: Sequence[ModelSet]) -> Settings:
    """The settings of one debate, with the choices of its channel or form.

    A chosen set of models that is not among `models` is ignored.
    """
    changes: dict[str, object] = {}
    if choices.format and choices.format in formats_with(settings.agendas):
        changes["format"] = choices.format
    if choices.rounds:
        changes["rounds"] = choices.rounds
    if choices.debate_cost is not None:
        # What a channel has set may be older than the highest cap there is now.
        cost = None if choices.debate_cost == NO_CAP else choices.debate_cost
        changes["limits"] = settings.limits.with_cost(cost)
    if choices.shadow is not None:
        changes["shadow"] = ShadowWhen.ALWAYS if choices.shadow else ShadowWhen.NEVER
    if choices.sealed is not None:
        changes["sealed"] = choices.sealed
    asking: dict[str, object] = {}
    if choices.clarify is not None:
        asking["enabled"] = choices.clarify
    if choices.wait_minutes:
        asking["wait_seconds"] = choices.wait_minutes * 60.0
    changes["clarifying"] = settings.clarifying.model_copy(update=asking)
    model_set = next((model for model in models if model.id == choices.models), None)
    if model_set:
        changes["agent_model"], changes["judge_model"] = model_set.agent, model_set.judge
        changes["mixed_models"] = changes["judge_models"] = ()
        changes["strongest_model"] = None
        changes["agents"] = tuple(_served(agent, model_set.agent) for agent in settings.agents)
        changes["judge"] = _served(settings.judge, model_set.judge) if settings.judge else None
    return settings.model_copy(update=changes)


def roster(settings: Settings) -> Mapping[str, str]:
    """Agents to choose from: id → name. The settings' own first, then all other roles."""
    own = {agent.id: agent.name for agent in settings.agents if agent.enabled}
    roles = {role_id for agent in settings.agents for role_id in (agent.role, agent.id)}
    all_roles = roles_with(settings.roles).values()
    return {**own, **{role.id: role.name for role in all_roles if role.id not in roles}}


def taking_part(settings: Settings) -> tuple[str, ...] | None:
    """Ids of the agents that debate when nobody chooses; None: chosen for each question."""
    if settings.casting and not settings.agents:
        return None
    own = tuple(agent.id for agent in settings.agents if agent.enabled)
    return own or DEFAULT_ROSTER


def cost_cap(text: str, most: Decimal | None) -> Decimal | Literal["none"] | None:
    """A typed cap in US dollars, up to `most`; `NO_CAP` for that word, None for nothing."""
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


def _served(agent: Agent, choice: ModelChoice) -> Agent:
    return agent.model_copy(update={"provider": choice.provider, "model": choice.model})
