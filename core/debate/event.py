"""The base classes of events: an event's key, its cost, and how it changes the debate.

To add an event: write a class in one of the `*_events` modules and set `update`, or override
`_changes`. If it is the outcome of a turn, derive it from `TurnEnded`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from core.debate.state import Debate
from core.debate.turn import Turn
from core.usage import Expense, Usage
from core.values import Value

#: Fields of a debate → their new values.
Changes = Mapping[str, Any]
#: Returns the changes that an event makes to a debate.
Update = Callable[[Debate, Any], Changes]
#: Where a new word begins in the name of a class.
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def by_key(field: str, attribute: str) -> Update:
    """Add the event's attribute to a mapping of the debate, under the event's key."""
    return lambda debate, event: {
        field: {**getattr(debate, field), event.key: getattr(event, attribute)}
    }


def last(field: str, attribute: str, **constants: object) -> Update:
    """Set a field of the debate to the event's attribute; `constants` are set as well."""
    return lambda _debate, event: {field: getattr(event, attribute), **constants}


def in_tuple(field: str, attribute: str) -> Update:
    """Append the event's attribute to a tuple of the debate."""
    return lambda debate, event: {field: (*getattr(debate, field), getattr(event, attribute))}


def in_set(field: str, attribute: str) -> Update:
    """Add the event's attribute to a set of the debate."""
    return lambda debate, event: {field: getattr(debate, field) | {getattr(event, attribute)}}


def constants(**changes: object) -> Update:
    """Set fields of the debate to fixed values."""
    return lambda _debate, _event: changes


class BaseEvent(Value):
    """Something that happened in a debate. Each class defines its key and its update of the debate.

    The kind in the log is derived from the name of the class, so a class must never be renamed.
    """

    kind: ClassVar[str]
    #: All event classes by kind.
    kinds: ClassVar[dict[str, type["BaseEvent"]]] = {}
    #: A format string for the key; the event is `{0}`.
    key_form: ClassVar[str]
    #: Returns the changes of the debate. An event may override `_changes` instead.
    update: ClassVar[Update] = constants()

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
        """Unique in its debate. A click or message that arrives twice has the same key."""
        return self.key_form.format(self)

    @property
    def edition_suffix(self) -> str:
        """The suffix of keys that can occur once per edition of a debate; empty for the first."""
        edition = getattr(self, "edition", 1)
        return "" if edition == 1 else f"/{edition}"

    @property
    def ended_turn(self) -> Turn | None:
        """The turn that this event ends; None for events of people, the tally and the verdict."""
        return None

    @property
    def expense(self) -> Expense | None:
        """The cost of its model calls, and the agent that made them; None if no model was asked."""
        return None

    def apply_to(self, debate: Debate) -> Debate:
        """The debate after this event; unchanged if the event belongs to an earlier edition."""
        is_in_force = getattr(self, "edition", debate.edition) == debate.edition
        return debate.replace(**self._changes(debate)) if is_in_force else debate

    def _changes(self, debate: Debate) -> Changes:
        return type(self).update(debate, self)


class TurnEnded(BaseEvent):
    """The outcome of a turn. Its first field is a value with the turn. A turn has one outcome."""

    key_form = "{0.value.turn.key}"
    #: Id of the agent that made the calls, if it is not the turn's agent.
    payer: ClassVar[str] = ""

    @property
    def value(self) -> Any:
        """The event's first field."""
        return next(iter(vars(self).values()))

    @property
    def ended_turn(self) -> Turn | None:
        return self.value.turn

    @property
    def expense(self) -> Expense | None:
        value = self.value
        if not hasattr(value, "call"):
            return None
        lost = getattr(value, "lost", Usage())
        return Expense(agent=self.payer or value.turn.agent, call=value.call, lost=lost)
