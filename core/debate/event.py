"""The base classes of events: an event's key, its cost, and where the debate keeps it.

To add an event: a class in one of the `*_events` modules that says where it is kept (`kept_in`, or
`_changes`), of `TurnEnded` if it is the outcome of a turn, and its line in the module's union.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from core.debate.state import Debate
from core.debate.turn import RESERVED_IDS, Turn
from core.usage import Expense, Usage
from core.values import Value


def of_edition(key: str, edition: int) -> str:
    """The key of an end: with its number after the first one."""
    return key if edition == 1 else f"{key}/{edition}"


#: Fields of a debate → the values that an event gives them.
Changes = Mapping[str, Any]
Kept = Callable[[Debate, Any], Changes]


def by_key(field: str, attribute: str) -> Kept:
    return lambda debate, event: {
        field: {**getattr(debate, field), event.key: getattr(event, attribute)}
    }


def last(field: str, attribute: str, **besides: object) -> Kept:
    return lambda _debate, event: {field: getattr(event, attribute), **besides}


def in_tuple(field: str, attribute: str) -> Kept:
    return lambda debate, event: {field: (*getattr(debate, field), getattr(event, attribute))}


def in_set(field: str, attribute: str) -> Kept:
    return lambda debate, event: {field: getattr(debate, field) | {getattr(event, attribute)}}


def of_edition_in_force(kept: Kept) -> Kept:
    """Kept so if the event is of the end that the debate is heading for; else nowhere."""
    return lambda debate, event: kept(debate, event) if event.edition == debate.edition else {}


def constants(**changes: object) -> Kept:
    return lambda _debate, _event: changes


class BaseEvent(Value):
    """Something that happened; each class says under which key, and where the debate keeps it."""

    #: Its key, with the event as `{0}`.
    key_form: ClassVar[str]
    kept_in: ClassVar[Kept] = constants()

    @property
    def key(self) -> str:
        """What it is the outcome of, unique in its debate: one click, one key."""
        return self.key_form.format(self)

    @property
    def turn_taken(self) -> Turn | None:
        """The turn it is the outcome of; None for people's, the count and the verdict."""
        return None

    @property
    def spent(self) -> Expense | None:
        """What it cost, and whom; None for what people did and what asks no model."""
        return None

    def fault(self, debate: Debate) -> str:
        """Why it cannot follow what is there; empty if it can.

        An event may only speak of agents that take part and of questions that were put: else
        whoever reads the debate looks for what is not there.
        """
        stranger = fault_of_agent(debate, self.turn_taken.agent) if self.turn_taken else ""
        return stranger or self._fault(debate)

    def _fault(self, debate: Debate) -> str:  # noqa: ARG002 - most can follow anything
        return ""

    def folded_into(self, debate: Debate) -> Debate:
        return debate.replace(**self._changes(debate))

    def _changes(self, debate: Debate) -> Changes:
        return type(self).kept_in(debate, self)


class TurnEnded(BaseEvent):
    """The outcome of a turn: one value, which names the turn. A turn has one outcome."""

    key_form = "{0.value.turn.key}"
    #: Whose calls it took, where these are not the turn's agent's.
    payer: ClassVar[str] = ""

    @property
    def value(self) -> Any:
        """Its first field beside the kind."""
        return next(value for name, value in self if name != "kind")

    @property
    def turn_taken(self) -> Turn | None:
        return self.value.turn

    @property
    def spent(self) -> Expense | None:
        value = self.value
        if not hasattr(value, "call"):
            return None
        lost = getattr(value, "lost", Usage())
        return Expense(agent=self.payer or value.turn.agent, call=value.call, lost=lost)


def fault_of_agent(debate: Debate, agent: str) -> str:
    takes_part = agent in RESERVED_IDS or any(agent == other.id for other in debate.setup.agents)
    return "" if takes_part else f"is of {agent!r}, who takes no part"


def fault_of_agents(debate: Debate, ranked: Iterable[str]) -> str:
    agents = {agent.id for agent in debate.setup.agents}
    unknown = [agent for agent in ranked if agent not in agents]
    return f"ranks the position of {unknown[0]!r}, who takes no part" if unknown else ""


def fault_of_question(does: str, debate: Debate, number: int) -> str:
    is_put = debate.clarification(number)
    return "" if is_put else f"{does} question {number}, which nobody was asked"
