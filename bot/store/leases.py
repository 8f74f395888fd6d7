"""Which process serves a lane: a lease in the database, with a deadline by the process's own clock.

A lane is what the queue sends one after the other, or a debate. A file belongs to one process, so
that its leases never end; on a server they are renewed, and a process that stood still for longer
than its lease holds has lost its lanes.
"""

import asyncio
import math
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Double, Float, Text, bindparam, delete, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from bot.log import logger
from bot.store.tables import LANES
from core.errors import StoreError
from core.store.database import Database

_log = logger(__name__)

#: Seconds that a lease holds unless it is renewed, which is done three times as often.
HOLDS = 15.0
#: The part of a lease that is not used: what was begun in time has left by its end.
_MARGIN = 0.1
#: A file's leases: nobody else is there to wait for their end.
_FOR_GOOD = 1e10


class _DatabaseClock(FunctionElement[float]):
    type = Float()
    inherit_cache = True


@compiles(_DatabaseClock, "sqlite")
def _now_on_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(_DatabaseClock, "postgresql")
def _now_on_postgresql(*_: Any, **__: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


NOW = _DatabaseClock()


class LaneLost(StoreError):
    """Another process serves this lane now."""


class Leases:
    """The lanes that this process holds. Methods that ask the database may raise `StoreDown`."""

    def __init__(self, database: Database, owner: str, holds: float = HOLDS) -> None:
        """Hold nothing yet. The owner is drawn anew at every start; a lease `holds` for seconds."""
        self._database = database
        self.owner = owner
        self.is_shared = database.is_shared
        self._holds = holds if self.is_shared else _FOR_GOOD
        #: Lane → when its lease ends, by the steady clock.
        self._ends: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._busy: set[str] = set()

    async def start(self) -> None:
        """Begin to renew what is held; a file belongs to this process alone."""
        if not self.is_shared:
            await self._database.write(lambda c: c.execute(delete(LANES)))
        elif self._task is None:
            self._task = asyncio.create_task(self._keep(), name="leases")

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        with suppress(StoreError):
            await self._leave(self._ends)

    async def acquire(self, lane: str) -> bool | None:
        """Hold a lane; None: another process holds it.

        Else whether its last owner left it by itself, so that no call of its can be under way.
        """
        self._busy.add(lane)
        if self.holds(lane):
            return True
        began = time.monotonic()

        def take(connection: Connection) -> tuple[str | None, bool]:
            last = connection.execute(_OWNER, {"in_lane": lane}).scalar()
            values = {"in_lane": lane, "me": self.owner, "holds": self._holds}
            taken = connection.execute(_TAKE[connection.dialect.name], values).first()
            return last, taken is not None

        last, is_ours = await self._database.write(take)
        if not is_ours:
            self._busy.discard(lane)
            return None
        self._ends[lane] = began + self._holds
        return last in {None, self.owner}

    async def of_kind(self, kind: str) -> Mapping[str, bool]:
        """Lanes whose names begin with a kind → whether somebody holds them, or left or died."""
        values = {"beginning": f"{kind}/%"}
        rows = await self._database.read(lambda c: c.execute(_OF_KIND, values).all())
        return {row.lane: row.is_held for row in rows}

    async def forget(self, lane: str) -> None:
        """Leave a lane in which nothing is to be done any more."""
        self._busy.discard(lane)
        self._ends.pop(lane, None)
        values = {"in_lane": lane, "me": self.owner}
        await self._database.write(lambda c: c.execute(_FORGET, values))

    async def confirm(self, lane: str) -> None:
        """Ask the database whether this process held the lane all the time: else `LaneLost`.

        For when others changed what it was to change.
        """
        self._ends.pop(lane, None)
        if not await self.acquire(lane):
            raise LaneLost(f"Another process serves {lane} now.")

    def rest(self, lane: str) -> None:
        """Keep a lane without work until leases are renewed the next time; then it is left."""
        self._busy.discard(lane)

    def holds(self, lane: str) -> bool:
        """Whether this process surely holds a lane at this moment."""
        return time.monotonic() < self.deadline(lane)

    def deadline(self, lane: str) -> float:
        end = self._ends.get(lane, -math.inf)
        return end - self._holds * _MARGIN if self.is_shared else end

    def check(self, lane: str) -> None:
        """Raise `LaneLost` unless this process surely holds a lane."""
        if not self.holds(lane):
            raise LaneLost(f"Another process may serve {lane} now.")

    async def _keep(self) -> None:
        usual, soon = self._holds / 3, self._holds / 15
        seconds = usual
        while True:
            await asyncio.sleep(seconds)
            try:
                await self._renew()
                seconds = usual
            except StoreError as error:
                _log.warning("leases not renewed", reason=str(error))
                seconds = soon  # a server that restarts may be back just before they end

    async def _renew(self) -> None:
        await self._leave([lane for lane in self._ends if lane not in self._busy])
        if not self._ends:
            return
        began = time.monotonic()
        values = {"me": self.owner, "holds": self._holds}
        lanes = set(await self._database.write(lambda c: c.execute(_RENEW, values).scalars().all()))
        self._ends = {
            lane: began + self._holds if lane in lanes else end for lane, end in self._ends.items()
        }

    async def _leave(self, lanes: Iterable[str]) -> None:
        lanes = list(lanes)
        for lane in lanes:
            self._ends.pop(lane, None)
        if lanes:
            values = {"me": self.owner, "lanes": lanes}
            await self._database.write(lambda c: c.execute(_LEAVE, values))


_ME, _UNTIL = bindparam("me", type_=Text), NOW + bindparam("holds", type_=Double)
_OWNER = select(LANES.c.owner).where(LANES.c.lane == bindparam("in_lane"))
_FREE = or_(LANES.c.owner.is_(None), LANES.c.owner == _ME, LANES.c.until < NOW)
_VALUES: Mapping[str, Any] = {"lane": bindparam("in_lane"), "owner": _ME, "until": _UNTIL}
_TAKEN = {"owner": _ME, "until": _UNTIL}
_TAKE = {
    dialect: insert(LANES)
    .values(_VALUES)
    .on_conflict_do_update(index_elements=["lane"], set_=_TAKEN, where=_FREE)
    .returning(LANES.c.lane)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_RENEW = (
    update(LANES).where(LANES.c.owner == _ME, LANES.c.until > NOW).values(until=_UNTIL)
).returning(LANES.c.lane)
_OF_KIND = select(LANES.c.lane, (LANES.c.until > NOW).label("is_held")).where(
    LANES.c.lane.like(bindparam("beginning"))
)
_FORGET = delete(LANES).where(LANES.c.lane == bindparam("in_lane"), LANES.c.owner == _ME)
_LEAVE = (
    update(LANES)
    .where(LANES.c.owner == _ME, LANES.c.lane.in_(bindparam("lanes", expanding=True)))
    .values(owner=None, until=0.0)
)
