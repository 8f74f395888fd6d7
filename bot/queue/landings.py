"""The lanes of what is sent outside Slack: one per receiver, in order, until landed or dead.

A row holds no words of a debate: it names an event, and what is sent is made from the log.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, insert, inspect, select, text, update

from bot.queue.rows import LANDING, NewPost, PostRow, PostState, fresh, read_row
from bot.store.leases import NOW
from bot.store.tables import IS_LANDING, QUEUE, UNSENT, TableUser
from core.store.database import Database


@dataclass(frozen=True, kw_only=True)
class LandingBacklog:
    """What has not landed, as people are told of it."""

    #: Waiting ones that failed already, and *failed* ones, which are dead letters: not tried again
    #: unless somebody asks for it. Oldest first, no more than were wanted.
    rows: Sequence[PostRow]
    #: Not landed in all, and dead letters.
    waiting: int
    dead: int
    #: Receivers that nothing is sent to any more → why.
    closed: Mapping[str, str]


def new_landing(receiver: str, debate_id: str, seq: int) -> NewPost:
    return NewPost(
        key=f"{debate_id}/e{seq}/{LANDING}/{receiver}",
        workspace="",
        channel=receiver,
        method=LANDING,
        payload={},
        debate_id=debate_id,
        wanted_seq=seq,
    )


class Landings(TableUser):
    async def next_for(self, lane: str) -> PostRow | None:
        """The first landing of the lane that has neither landed nor died; it may have to wait.

        None where its receiver wants nothing more, until `retry`.
        """
        values = {"in_lane": lane}
        row = await self._database.read(lambda c: c.execute(_NEXT, values).mappings().first())
        return None if row is None else read_row(row)

    async def retry(self) -> Sequence[str]:
        """Send dead letters again, behind what waits; what waits at once; open closed receivers.

        Returns the lane of each that is sent again or at once.
        """

        def send_again(connection: Connection) -> Sequence[str]:
            dead = connection.execute(select(QUEUE).where(_IS_DEAD).order_by(QUEUE.c.id))
            waiting = update(QUEUE).where(QUEUE.c.state.in_(["waiting", "gone"]), IS_LANDING)
            again = waiting.values(state=PostState.WAITING, due=0.0, attempts=0)
            lanes = [*connection.execute(again.returning(QUEUE.c.lane)).scalars()]
            for row in map(read_row, dead.mappings().all()):
                # A new id puts it at the end: later landings have been sent already.
                connection.execute(delete(QUEUE).where(QUEUE.c.id == row.id))
                landing = new_landing(row.channel, row.debate_id or "", row.wanted_seq)
                connection.execute(insert(QUEUE), {**fresh(landing, None), "error": row.error})
                lanes.append(row.lane)
            return lanes

        return await self._database.write(send_again)

    async def places(self, lane: str) -> Mapping[str, str]:
        """Where the records of debates are in a lane's receiver, by the debate's id."""
        values = {"in_lane": lane}
        rows = await self._database.read(lambda c: c.execute(_PLACES, values).all())
        return {row.debate_id: row.ts for row in rows}

    async def backlog(self, most: int = 0) -> LandingBacklog:
        """What has not landed, with so many rows of what needs somebody's eye.

        Also of databases that an earlier version made: nothing.
        """

        def look(connection: Connection) -> LandingBacklog:
            if not inspect(connection).has_table(QUEUE.name):
                return LandingBacklog(rows=(), waiting=0, dead=0, closed={})
            rows = connection.execute(_FAILED, {"most": most}).mappings().all()
            return LandingBacklog(
                rows=[read_row(row) for row in rows],
                waiting=connection.execute(_COUNT.where(_IS_ALIVE)).scalar_one(),
                dead=connection.execute(_COUNT.where(_IS_DEAD)).scalar_one(),
                closed={row.channel: row.error for row in connection.execute(_CLOSED)},
            )

        return await self._database.read(look)


# Statements are made once: making them anew costs more than running them.
_IN_LANE = QUEUE.c.lane == bindparam("in_lane")
_IS_DEAD = IS_LANDING & (QUEUE.c.state == PostState.FAILED)
_IS_CLOSING = IS_LANDING & (QUEUE.c.state == PostState.GONE)
_IS_ALIVE = IS_LANDING & QUEUE.c.state.in_(["waiting", "sending", "gone"])
_ROWS = select(*QUEUE.c, (QUEUE.c.due - NOW).label("due_in"))
_NEXT = (
    _ROWS.where(_IN_LANE, UNSENT)
    .where(
        text(
            "NOT EXISTS (SELECT 1 FROM queue c WHERE c.method = 'landing' AND "
            "c.lane = queue.lane AND c.state = 'gone')"
        )
    )
    .order_by(QUEUE.c.id)
    .limit(1)
)
_PLACES = (
    select(QUEUE.c.debate_id, QUEUE.c.ts)
    .where(IS_LANDING, _IN_LANE, QUEUE.c.ts != "")
    .order_by(QUEUE.c.id)
)
_CLOSED = select(QUEUE.c.channel, QUEUE.c.error).where(_IS_CLOSING)
_FAILED = (
    _ROWS.where(_IS_DEAD | (_IS_ALIVE & QUEUE.c.error.is_not(None)))
    .order_by(QUEUE.c.id)
    .limit(bindparam("most"))
)
_COUNT = select(func.count()).select_from(QUEUE)


@asynccontextmanager
async def look_into_landings(url: str) -> AsyncGenerator[Landings]:
    async with await Database.open_read_only(url) as database:
        yield Landings(database)
