"""Leases in the database: each lane is served by one process at a time.

A lane is a debate, or a sequence of posts that the queue sends one after the other. An SQLite file
belongs to one process, so its leases never expire. On a server, leases expire unless they are
renewed. A process measures the deadline of its leases by its own monotonic clock.
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

#: Seconds until a lease expires. It is renewed after a third of this time.
HOLDS = 15.0
#: The last part of a lease that is not used, so that a call begun before it has left in time.
_MARGIN = 0.1
#: The duration of leases in a file, which no other process waits for.
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
    """The leases of this process. Methods that use the database may raise `StoreDown`."""

    def __init__(self, database: Database, owner: str, holds: float = HOLDS) -> None:
        """Hold no leases yet. `owner` is random for each start; leases last `holds` seconds."""
        self._database = database
        self.owner = owner
        self.is_shared = database.is_shared
        self._holds = holds if self.is_shared else _FOR_GOOD
        #: Lane → end of its lease, by the monotonic clock.
        self._ends: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._busy: set[str] = set()

    async def start(self) -> None:
        """Begin to renew leases. For a file, delete those of earlier processes."""
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
        """Take the lease of a lane; None: another process has it.

        True: the last owner gave it up, so no call of that process can be under way. False: the
        last owner's lease expired.
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
        """Lanes whose names begin with a kind → whether a process holds an unexpired lease."""
        values = {"beginning": f"{kind}/%"}
        rows = await self._database.read(lambda c: c.execute(_OF_KIND, values).all())
        return {row.lane: row.is_held for row in rows}

    async def forget(self, lane: str) -> None:
        """Delete the lease of a lane without further work."""
        self._busy.discard(lane)
        self._ends.pop(lane, None)
        values = {"in_lane": lane, "me": self.owner}
        await self._database.write(lambda c: c.execute(_FORGET, values))

    async def confirm(self, lane: str) -> None:
        """Check in the database that this process held the lane without a break; else `LaneLost`.

        Called if another process changed a row of the lane.
        """
        self._ends.pop(lane, None)
        if not await self.acquire(lane):
            raise LaneLost(f"Another process serves {lane} now.")

    def rest(self, lane: str) -> None:
        """Give up the lease of a lane without work at the next renewal of leases."""
        self._busy.discard(lane)

    def holds(self, lane: str) -> bool:
        """Whether this process certainly holds a lane at this moment."""
        return time.monotonic() < self.deadline(lane)

    def deadline(self, lane: str) -> float:
        end = self._ends.get(lane, -math.inf)
        return end - self._holds * _MARGIN if self.is_shared else end

    def check(self, lane: str) -> None:
        """Raise `LaneLost` unless this process certainly holds a lane."""
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
                seconds = soon  # a restarted server may be back just before the leases expire

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
