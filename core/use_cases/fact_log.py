"""Reads and records what people do: folded debates, and the log that their acts are appended to."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from core.debate.log import Event, RecordedEvent, fold
from core.debate.people_events import BallotsRevealed
from core.debate.state import Debate
from core.errors import DebateUnknown, StoreDown, StoreError
from core.ports import AppendResult, Clock, DebateStore
from core.values import Recent

#: Debates that are held. One of 60 events has about 200 KB.
DEBATES_HELD = 64
#: More events than these are folded in a thread: it takes some milliseconds.
_FOLDED_AT_ONCE = 100


#: Told of a debate that is left out because its log cannot be read, and why.
OnUnreadable = Callable[[str, StoreError], None]


@contextmanager
def leaving_out(debate_id: str, on_unreadable: OnUnreadable) -> Generator[None]:
    """Go on without a debate that was deleted meanwhile, is damaged or of a newer Moot."""
    try:
        yield
    except StoreDown:
        raise
    except DebateUnknown:
        pass
    except StoreError as error:
        on_unreadable(debate_id, error)


class DebateLog(Protocol):
    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The log in order, from the first event with a greater `seq`."""
        ...


class DebateCache:
    """The debates that were asked for last, each as its log tells it now.

    An event that was read once is not read again: what damages its row later is seen after the
    next start.
    """

    def __init__(self, store: DebateLog, most: int = DEBATES_HELD) -> None:
        self._store = store
        self._debates = Recent[str, Debate](most)

    async def debate(self, debate_id: str) -> Debate:
        earlier = self._debates.get(debate_id)
        try:
            events = await self._store.events(debate_id, after=earlier.seq if earlier else 0)
        except DebateUnknown:
            self._debates.pop(debate_id, None)
            raise
        if any(isinstance(recorded.event, BallotsRevealed) for recorded in events):
            # Withheld events are readable from now on: read the whole log.
            earlier, events = None, await self._store.events(debate_id)
        if earlier and not events:
            debate = earlier
        elif len(events) > _FOLDED_AT_ONCE:
            debate = await asyncio.to_thread(fold, events, earlier)
        else:
            debate = fold(events, earlier)
        current = self._debates.get(debate_id)
        if (
            current is None or current.seq <= debate.seq
        ):  # somebody else may have read more meanwhile
            self._debates[debate_id] = debate
        return debate


@dataclass(frozen=True, kw_only=True, eq=False)
class FactLog:
    """Records people's facts. Every method may raise `StoreDown`, and may then be called again."""

    store: DebateStore
    clock: Clock
    #: Tells whoever runs a debate that its log has grown; never waits.
    wake: Callable[[str], object]
    #: What is known of debates; only what is new is read.
    debates: DebateCache = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "debates", DebateCache(self.store))

    async def record(self, debate_id: str, event: Event) -> AppendResult:
        try:
            appended = await self.store.append(debate_id, event, at=self.clock.now())
        except asyncio.CancelledError:  # nobody waits any more, but the event may be in the log
            self.wake(debate_id)
            raise
        self.wake(debate_id)
        return appended

    async def debate(self, debate_id: str) -> Debate:
        return await self.debates.debate(debate_id)
