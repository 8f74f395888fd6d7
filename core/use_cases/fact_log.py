"""Reads debates and records what people do: a cache of folded debates, and appending to logs."""

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

#: Debates in the cache. A debate of 60 events takes about 200 KB.
DEBATES_HELD = 64
#: More events than this are folded in a thread: that takes some milliseconds.
_FOLDED_AT_ONCE = 100


#: Called with the id of a debate that is left out because its log is unreadable, and the error.
OnUnreadable = Callable[[str, StoreError], None]


@contextmanager
def leaving_out(debate_id: str, on_unreadable: OnUnreadable) -> Generator[None]:
    """Leave out a debate that was deleted, is damaged or was written by a newer Moot."""
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
    """Caches the debates used last and updates them from the newest events of their logs.

    An event is read only once: damage to its row later is noticed after the next start.
    """

    def __init__(self, store: DebateLog) -> None:
        self._store = store
        self._debates = Recent[str, Debate](DEBATES_HELD)

    async def debate(self, debate_id: str) -> Debate:
        earlier = self._debates.get(debate_id)
        try:
            events = await self._store.events(debate_id, after=earlier.seq if earlier else 0)
        except DebateUnknown:
            self._debates.pop(debate_id, None)
            raise
        if any(isinstance(recorded.event, BallotsRevealed) for recorded in events):
            # The events withheld so far can be read from now on: read the whole log.
            earlier, events = None, await self._store.events(debate_id)
        if earlier and not events:
            debate = earlier
        elif len(events) > _FOLDED_AT_ONCE:
            debate = await asyncio.to_thread(fold, events, earlier)
        else:
            debate = fold(events, earlier)
        current = self._debates.get(debate_id)
        if current is None or current.seq <= debate.seq:  # else another task has read more
            self._debates[debate_id] = debate
        return debate


@dataclass(frozen=True, kw_only=True, eq=False)
class FactLog:
    """Records people's facts. After a `StoreDown` a call can be repeated."""

    store: DebateStore
    clock: Clock
    #: Notifies the run of this debate that its log has grown; returns at once.
    wake: Callable[[str], object]
    debates: DebateCache = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "debates", DebateCache(self.store))

    async def record(self, debate_id: str, event: Event) -> AppendResult:
        try:
            result = await self.store.append(debate_id, event, at=self.clock.now())
        except asyncio.CancelledError:  # the event may be in the log all the same
            self.wake(debate_id)
            raise
        self.wake(debate_id)
        return result

    async def debate(self, debate_id: str) -> Debate:
        return await self.debates.debate(debate_id)
