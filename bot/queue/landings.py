"""The queue of landings: one lane for each receiver, sent in order.

A row contains no text of a debate. It names an event, and the content is made from the log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, insert, inspect, select, text, update

from bot.queue.rows import LANDING, NewPost, PostRow, PostState, fresh, read_row
from bot.store.leases import NOW
from bot.store.tables import IS_LANDING, QUEUE, UNSENT, TableUser


@dataclass(frozen=True, kw_only=True)
class LandingBacklog:
    """Unfinished and dead landings, for reports to people."""

    #: Waiting landings with a failed attempt, and dead letters (*failed* rows), which are tried
    #: again only if somebody asks for it. Oldest first, up to the requested number.
    rows: Sequence[PostRow]
    #: The total number of waiting landings, and of dead letters.
    waiting: int
    dead: int
    #: Receivers to which nothing is sent any more → the reason.
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
        """The first unsent landing of the lane, which may have to wait.

        None if its receiver is closed, until `retry`.
        """
        values = {"in_lane": lane}
        row = await self._database.read(lambda c: c.execute(_NEXT, values).mappings().first())
        return None if row is None else read_row(row)

    async def retry(self) -> Sequence[str]:
        """Open closed receivers, send waiting landings at once, then dead letters.

        Returns the lanes of these landings.
        """

        def send_again(connection: Connection) -> Sequence[str]:
            dead = connection.execute(select(QUEUE).where(_IS_DEAD).order_by(QUEUE.c.id))
            waiting = update(QUEUE).where(QUEUE.c.state.in_(["waiting", "gone"]), IS_LANDING)
            again = waiting.values(state=PostState.WAITING, due=0.0, attempts=0)
            lanes = [*connection.execute(again.returning(QUEUE.c.lane)).scalars()]
            for row in map(read_row, dead.mappings().all()):
                # A new id puts it at the end, because later landings may be sent already.
                connection.execute(delete(QUEUE).where(QUEUE.c.id == row.id))
                landing = new_landing(row.channel, row.debate_id or "", row.wanted_seq)
                connection.execute(insert(QUEUE), {**fresh(landing, None), "error": row.error})
                lanes.append(row.lane)
            return lanes

        return await self._database.write(send_again)

    async def places(self, lane: str) -> Mapping[str, str]:
        """The path of each debate's record in the lane's receiver, by debate id."""
        values = {"in_lane": lane}
        rows = await self._database.read(lambda c: c.execute(_PLACES, values).all())
        return {row.debate_id: row.ts for row in rows}

    async def backlog(self, most: int = 0) -> LandingBacklog:
        """Unfinished and dead landings, with at most `most` rows that need attention.

        Empty for databases of earlier versions.
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
_CLOSED = select(QUEUE.c.channel, QUEUE.c.error).where(IS_LANDING, QUEUE.c.state == PostState.GONE)
_FAILED = (
    _ROWS.where(_IS_DEAD | (_IS_ALIVE & QUEUE.c.error.is_not(None)))
    .order_by(QUEUE.c.id)
    .limit(bindparam("most"))
)
_COUNT = select(func.count()).select_from(QUEUE)
