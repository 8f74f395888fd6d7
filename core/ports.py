"""Interfaces that adapters implement: models, the store, event sinks, a clock.

`core.testing` has in-memory implementations for tests.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from core.debate.evidence import SourceReference, SourceText
from core.debate.log import Event, RecordedEvent
from core.debate.people import Place
from core.debate.state import Debate
from core.debate.turn import Turn
from core.request import ModelReply, ModelRequest
from core.usage import Cap, SpendingScope


class ModelProvider(Protocol):
    """Serves models. Each call is one attempt; the caller retries."""

    #: Name used in settings: "openai", "anthropic", …
    name: str

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask the model once.

        `on_first_token` is called once, when the reply begins (without streaming: when it is
        complete). From then on other calls can use the prompt cache that this one wrote.

        Raises:
            ProviderError: A subclass for the kind of failure.
        """
        ...

    async def close(self) -> None:
        """Free connections. Safe to call twice."""
        ...


@runtime_checkable
class RefusalMemory(Protocol):
    """A provider that omits request fields which a server refused before."""

    def left_out(self, model: str) -> Sequence[str]: ...


#: Returns the value of an environment variable whose name begins with `MOOT_PLUGIN_`, for plugins;
#: empty if it is not set. Values of names with KEY, TOKEN or SECRET are kept out of logs.
Variable = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class ServedModels:
    """A plugin's provider, with its models and their capabilities."""

    #: Must raise only subclasses of `ProviderError`.
    provider: ModelProvider
    #: The default model, used if settings name only the provider.
    model: str
    #: Other models that people can choose in Slack.
    models: tuple[str, ...] = ()
    #: Capability records, as under `models` in a settings file.
    capabilities: tuple[Mapping[str, Any], ...] = ()


@runtime_checkable
class ContextSizes(Protocol):
    async def context(self, model: str) -> int:
        """Return the model's context size in tokens; 0 if unknown. May raise `ProviderError`."""
        ...


@runtime_checkable
class ModelLists(Protocol):
    async def models(self) -> Sequence[str]:
        """Return the models' names. May raise `ProviderError`."""
        ...


@runtime_checkable
class SlowLoadingProvider(Protocol):
    """A provider that takes long to load. The first request loads it at the latest."""

    async def load(self) -> None: ...


@dataclass(frozen=True)
class RunToken:
    """Proof that a run holds the debate. A newer token invalidates all older ones."""

    debate_id: str
    number: int


@dataclass(frozen=True)
class AppendResult:
    recorded: RecordedEvent
    #: False: the log had an event with this key already; `recorded` is that event.
    fresh: bool


@dataclass(frozen=True, kw_only=True)
class DebateEntry:
    debate_id: str
    question: str
    workspace: str
    channel: str
    asked_by: str
    started_at: datetime
    ended_at: datetime | None
    status: str
    #: Id of the request that started it; see `DebateStore.create`.
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class DebateFilter:
    """Which debates to list; None means any. Newest first."""

    workspace: str | None = None
    channels: Sequence[str] | None = None
    open_only: bool = False
    #: Only debates with an event whose key begins with one of these; empty: all.
    having: Sequence[str] = ()
    limit: int = 20


class DebateStore(Protocol):
    """The event logs of all debates. May raise `StoreDown`, and `DebateUnknown` for an id."""

    async def create(
        self, debate_id: str, started: Event, *, origin: str, at: datetime
    ) -> AppendResult:
        """Create a debate with its start event.

        `origin` identifies the request (for example a Slack trigger id). A second call with the
        same origin changes nothing and returns the start event of the first debate.
        """
        ...

    async def id_of_origin(self, origin: str) -> str | None: ...

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        """Append one event, with secrets removed. Durable when this returns.

        If the log has an event with this key, nothing is written. The engine passes its run token,
        which is checked in the same transaction (`RunLost`). People's facts need no token.
        """
        ...

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The log of one debate in order, from the first event with a greater `seq`.

        While a debate is sealed, its stances, ballots and verdict are withheld
        (`core.rules.sealing`).
        """
        ...

    async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The same log with withheld events included. Only for the engine."""
        ...

    async def claim(self, debate_id: str) -> RunToken:
        """Take the debate over. Every older run of it can no longer write."""
        ...

    async def check_run(self, run: RunToken) -> None:
        """Raise `RunLost` unless this run still holds its debate."""
        ...

    async def published_seq(self, debate_id: str) -> int:
        """Return the `seq` of the last published event; 0 if there is none."""
        ...

    async def mark_published(self, debate_id: str, seq: int) -> None:
        """Record that all events up to `seq` are published."""
        ...

    async def unfinished_ids(self) -> Sequence[str]:
        """Ids of debates that have not ended or have unpublished events, oldest first."""
        ...

    async def unpublished_ids(self) -> Sequence[str]:
        """Ids of running debates that have unpublished events."""
        ...

    async def find(self, filters: DebateFilter) -> Sequence[DebateEntry]: ...


class Spending(Protocol):
    async def total_cost(self, scope: SpendingScope) -> Decimal:
        """Return the US dollars spent, without unknown costs. May raise `StoreDown`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """The highest possible cost of one attempt at a model call, until its turn is recorded."""

    #: Unique; a second reservation with the same id has no effect.
    id: str
    debate_id: str
    #: Key of the turn. Recording its outcome deletes its reservations.
    turn: str
    amount: Decimal
    #: After this time it does not count any more: its process has ended.
    expires_at: datetime


class Reservations(Protocol):
    """Money reserved under caps that all processes share. May raise `StoreDown`."""

    async def reserve(
        self, reservation: Reservation, caps: Sequence[Cap], *, at: datetime
    ) -> Sequence[Cap]:
        """Reserve the amount under all these caps, or under none.

        Returns:
            Empty if the amount is reserved. Otherwise the caps with their spent amounts: recorded
            and settled costs, without pending reservations.
        """
        ...

    async def settle(
        self, reservation_id: str, cost: Decimal | None, *, expires_at: datetime
    ) -> None:
        """Replace the reserved amount by the attempt's actual cost; None (unknown) keeps it.

        Does nothing if the reservation is recorded, expired or unknown.
        """
        ...


class PeopleDirectory(Protocol):
    """Channels, names and time zones of people, from the surface.

    `may_see` and `channels_of` raise `BadInput` if the surface does not answer.
    """

    async def may_see(self, person: str, place: Place) -> bool: ...

    async def channels_of(self, person: str, workspace: str) -> Collection[str]:
        """The channels that a person and Moot are both in."""
        ...

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        """Return a person's time zone; UTC if unknown."""
        ...

    async def has_place(self, place: Place) -> bool:
        """Whether Moot can still post there; True if unknown."""
        ...


class Embedder(Protocol):
    """Computes embeddings: vectors that are near each other for texts of similar meaning."""

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in their order. Raises `ProviderError` on failure."""
        ...

    async def close(self) -> None:
        """Free connections. Safe to call twice."""
        ...


class SourceReader(Protocol):
    async def read(self, reference: SourceReference, place: Place, /) -> SourceText:
        """Return the text of a source. A source of another place than the debate's is refused.

        Raises:
            BadInput: It cannot be read. The text is the end of a sentence: "it has a password".
        """
        ...


class EventSink(Protocol):
    """Receives events. Called by the one run that holds the debate, in the order of the log."""

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Receive a stored event; `debate` is the debate right after it.

        Called at least once per event: after a crash the last events may come again. A sink that
        raises gets the same event again later.
        """
        ...

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Receive the turns in progress after the last published event.

        The run may be further. Not recorded: after a restart this information is lost.
        """
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, in UTC, aware."""
        ...

    async def sleep(self, seconds: float) -> None: ...
