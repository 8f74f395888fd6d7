"""The base classes of events: an event's key, its cost, and where the debate keeps it.

To add an event: a class in one of the `*_events` modules that says where it is kept (`kept_in`, or
`_changes`), of `TurnEnded` if it is the outcome of a turn.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from core.debate.state import Debate
from core.debate.turn import Turn
from core.usage import Expense, Usage
from core.values import Value


def of_edition(key: str, edition: int) -> str:
    """The key of an end: with its number after the first one."""
    return key if edition == 1 else f"{key}/{edition}"


#: Fields of a debate → the values that an event gives them.
Changes = Mapping[str, Any]
Kept = Callable[[Debate, Any], Changes]
#: Where a new word begins in the name of a class.
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


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


def constants(**changes: object) -> Kept:
    return lambda _debate, _event: changes


class BaseEvent(Value):
    """Something that happened; each class says under which key, and where the debate keeps it.

    Its kind in the log is the name of its class, so a class may never be renamed.
    """

    kind: ClassVar[str]
    #: All classes of events by kind.
    kinds: ClassVar[dict[str, type["BaseEvent"]]] = {}
    #: Its key, with the event as `{0}`.
    key_form: ClassVar[str]
    kept_in: ClassVar[Kept] = constants()

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: object) -> None:
        if cls.model_fields:
            cls.kind = _CAPITAL.sub("_", cls.__name__).lower()
            cls.kinds[cls.kind] = cls

    @model_serializer(mode="wrap")
    def _with_kind(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **write(self)}

    @property
    def key(self) -> str:
        """What it is the outcome of, unique in its debate: one click, one key."""
        return self.key_form.format(self)

    @property
    def nth(self) -> str:
        """What tells keys apart where a debate ends again: it was skipped, and then wanted."""
        return of_edition("", getattr(self, "edition", 1))

    @property
    def turn_taken(self) -> Turn | None:
        """The turn it is the outcome of; None for people's, the count and the verdict."""
        return None

    @property
    def spent(self) -> Expense | None:
        """What it cost, and whom; None for what people did and what asks no model."""
        return None

    def folded_into(self, debate: Debate) -> Debate:
        """The debate after it; the same if it is of an end after which the debate went on."""
        is_in_force = getattr(self, "edition", debate.edition) == debate.edition
        return debate.replace(**self._changes(debate)) if is_in_force else debate

    def _changes(self, debate: Debate) -> Changes:
        return type(self).kept_in(debate, self)


class TurnEnded(BaseEvent):
    """The outcome of a turn: one value, which names the turn. A turn has one outcome."""

    key_form = "{0.value.turn.key}"
    #: Whose calls it took, where these are not the turn's agent's.
    payer: ClassVar[str] = ""

    @property
    def value(self) -> Any:
        """Its first field."""
        return next(value for _, value in self)

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
