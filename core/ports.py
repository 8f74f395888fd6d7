"""What the core needs from outside: models, a store, somebody who listens, a clock.

In-memory doubles that anybody may use in tests live in `core.testing`.
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
    """Serves models. One call, one attempt: retries are the caller's business."""

    #: Name used in settings: "openai", "anthropic", …
    name: str

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask the model once.

        `on_first_token` is called once, when the reply begins (or, where the provider does not
        stream, when it is there): from then on other calls can read what this one cached.

        Raises:
            ProviderError: One of its subclasses, saying what happened.
        """
        ...

    async def close(self) -> None:
        """Free connections. Safe to call twice."""
        ...


@runtime_checkable
class RefusalMemory(Protocol):
    """A provider that leaves out of requests what a server refused before."""

    def left_out(self, model: str) -> Sequence[str]: ...


#: Gives a plugin the value of a variable of the environment whose name begins with `MOOT_PLUGIN_`;
#: empty where it is not set. What is called KEY, TOKEN or SECRET is kept out of logs.
Variable = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class ServedModels:
    """A provider as a plugin brings it, and what is known of its models."""

    #: Raises nothing but subclasses of `ProviderError`.
    provider: ModelProvider
    #: Serves where settings name only the provider.
    model: str
    #: Others that people can choose in Slack.
    models: tuple[str, ...] = ()
    #: What they can take, in records as under `models` in a settings file.
    capabilities: tuple[Mapping[str, Any], ...] = ()


@runtime_checkable
class ContextSizes(Protocol):
    async def context(self, model: str) -> int:
        """Tokens the model's own context holds; 0 when nobody says. May raise `ProviderError`."""
        ...


@runtime_checkable
class ModelLists(Protocol):
    async def models(self) -> Sequence[str]:
        """Their names. Raises `ProviderError` if the key is refused, or nobody answers."""
        ...


@runtime_checkable
class SlowLoadingProvider(Protocol):
    """A provider that takes long to load; it is loaded with the first request at last."""

    async def load(self) -> None: ...


@dataclass(frozen=True)
class RunToken:
    """Proof that its bearer holds the debate. A newer one makes every older one worthless."""

    debate_id: str
    number: int


@dataclass(frozen=True)
class AppendResult:
    recorded: RecordedEvent
    #: False: the key was there already, and `recorded` is the one that stands.
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
    #: What asked for it; see `DebateStore.create`.
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
    """The log of events of all debates. May raise `StoreDown`, and `DebateUnknown` for an id."""

    async def create(
        self, debate_id: str, started: Event, *, origin: str, at: datetime
    ) -> AppendResult:
        """Begin a debate with its start event.

        `origin` says what asked for it (a Slack trigger id); a second call with the same origin
        changes nothing and returns the first one's start, whose `debate_id` then differs.
        """
        ...

    async def id_of_origin(self, origin: str) -> str | None: ...

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        """Write one event without secrets, durable when this returns. The key's first writer wins.

        The engine passes its run token, checked in the same transaction (`RunLost`); people's facts
        need none.
        """
        ...

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The log of one debate in order, from the first event with a greater `seq`.

        As it may be read now: of a sealed debate without what agents hold and decide
        (`core.rules.sealing`).
        """
        ...

    async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The same log with everything in it; for the engine alone."""
        ...

    async def claim(self, debate_id: str) -> RunToken:
        """Take the debate over: every older run of it loses its right to write."""
        ...

    async def check_run(self, run: RunToken) -> None:
        """Make sure that a run still holds its debate; raises `RunLost`."""
        ...

    async def published_seq(self, debate_id: str) -> int:
        """The `seq` up to which events were published; 0 at first."""
        ...

    async def mark_published(self, debate_id: str, seq: int) -> None:
        """Remember that all events up to `seq` were published."""
        ...

    async def unfinished_ids(self) -> Sequence[str]:
        """Ids of debates that did not end or have unpublished events, oldest first."""
        ...

    async def unpublished_ids(self) -> Sequence[str]:
        """Ids of running debates with events that nobody has published: somebody owes them work."""
        ...

    async def find(self, filters: DebateFilter) -> Sequence[DebateEntry]: ...


class Spending(Protocol):
    async def total_cost(self, scope: SpendingScope) -> Decimal:
        """US dollars spent.

        Costs nobody knows are not in it. May raise `StoreDown`.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """The worst case of one attempt to ask a model, reserved until its turn is recorded."""

    #: Unique; the same one is reserved once.
    id: str
    debate_id: str
    #: Key of the turn: when its outcome is recorded, its reservations end.
    turn: str
    amount: Decimal
    #: From then on it does not count: whoever made it is dead.
    expires_at: datetime


class Reservations(Protocol):
    """Money reserved under caps, whatever process draws on them. May raise `StoreDown`."""

    async def reserve(
        self, reservation: Reservation, caps: Sequence[Cap], *, at: datetime
    ) -> Sequence[Cap]:
        """Reserve the amount under all these caps, or under none.

        Returns:
            Empty if it is reserved. Else the caps, each with its spent amount: recorded, or settled
            and not recorded yet, without reservations of others.
        """
        ...

    async def settle(
        self, reservation_id: str, cost: Decimal | None, *, expires_at: datetime
    ) -> None:
        """Count what the attempt did cost from now on; None: nobody knows, so the worst case.

        What is recorded, expired or was never reserved is left alone.
        """
        ...


class PeopleDirectory(Protocol):
    """What the surface knows of people: which channels they are in, names, time zones.

    `may_see` and `channels_of` raise `BadInput` when the surface does not answer.
    """

    async def may_see(self, person: str, place: Place) -> bool: ...

    async def channels_of(self, person: str, workspace: str) -> Collection[str]:
        """The channels that a person and Moot are both in."""
        ...

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        """A person's time zone; UTC when nobody knows."""
        ...

    async def has_place(self, place: Place) -> bool:
        """Whether Moot can still write there; True when nobody knows."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose nearness is that of their meanings."""

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order. Raises `ProviderError` if there are none now."""
        ...

    async def close(self) -> None:
        """Free connections. Safe to call twice."""
        ...


class SourceReader(Protocol):
    async def read(self, reference: SourceReference, place: Place, /) -> SourceText:
        """The text of a source; one of another place than the debate's is not read.

        Raises:
            BadInput: It cannot be read; says why, as the end of a sentence: "it has a password".
        """
        ...


class EventSink(Protocol):
    """Listens to debates. Called by the one run that holds the debate, in the log's order."""

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        """An event is on disk; `debate` is the debate right after it.

        Called at least once per event: after a crash the last ones may come again. A sink that
        fails must not lose anything: it raises, and the event comes again later.
        """
        ...

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """These turns are in hand, as of the last event told; the run may have come further.

        Not recorded: gone after a restart.
        """
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, in UTC, aware."""
        ...

    async def sleep(self, seconds: float) -> None: ...
