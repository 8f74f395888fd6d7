"""Deleting debates for good: their logs, what they cost, their entries."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select, tuple_

from core.debate.state import Status
from core.debate.turn_events import SourceRead
from core.store.database import Database
from core.store.tables import DEBATES, EVENTS, RESERVATIONS, SPENDING

#: Each may have a megabyte.
_BODIES_AT_ONCE = 16
_SOURCE_READ = SourceRead.kind
#: An id as `new_debate_id` makes them; only the "d" is used up, so that none is missed.
_AFTER_D = re.compile("d(?=([a-z2-7]{7}))")


@dataclass(frozen=True, kw_only=True)
class PurgeFilter:
    """Narrows a deletion down; empty: not."""

    #: Who asked.
    person: str = ""
    channel: str = ""
    debate: str = ""


EVERYTHING = PurgeFilter()


def purge_debates(
    connection: Connection,
    workspace: str | None,
    before: datetime | None,
    only: PurgeFilter = EVERYTHING,
    *,
    most: int,
) -> Sequence[str]:
    """Delete debates of a workspace, or of all of them; return their ids.

    Args:
        connection: In a transaction.
        workspace: Whose; None: of all.
        before: Only those that ended before; None: all, running ones included.
        only: Of one person, channel or debate only.
        most: How many at most.
    """
    query = select(DEBATES.c.id)
    if workspace is not None:
        query = query.where(DEBATES.c.workspace == workspace)
    if before is not None:
        query = query.where(DEBATES.c.status != Status.RUNNING.value, DEBATES.c.ended_at < before)
    for column, value in (
        (DEBATES.c.asked_by, only.person),
        (DEBATES.c.channel, only.channel),
        (DEBATES.c.id, only.debate),
    ):
        if value:
            query = query.where(column == value)
    ids = list(connection.execute(query.limit(most)).scalars())
    for debate_id in ids:  # one by one: databases bound the length of a list
        connection.execute(delete(EVENTS).where(EVENTS.c.debate_id == debate_id))
        connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.debate_id == debate_id))
        connection.execute(delete(SPENDING).where(SPENDING.c.debate_id == debate_id))
        connection.execute(delete(DEBATES).where(DEBATES.c.id == debate_id))
    return ids


async def readers_of(database: Database, debates: Collection[str]) -> Sequence[str]:
    """Ids of remaining debates that have read a decision of the deleted ones as a source.

    Their logs keep its text.
    """
    deleted, readers = frozenset(debates), set[str]()
    last: tuple[str, int] = ("", 0)
    while deleted and (
        sources := await database.read(lambda c, last=last: _sources_after(c, last))
    ):
        for by, seq, body in sources:
            last = (by, seq)
            if not deleted.isdisjoint(ids_in(body)):
                readers.add(by)
    return sorted(readers)


def ids_in(body: str) -> Iterator[str]:
    """Whatever may be a debate's id in a text, each part of a longer word included.

    Words have no bounds to go by: in an event's JSON a line begins with the letter of
    its escape.
    """
    return (f"d{match[1]}" for match in _AFTER_D.finditer(body))


def _sources_after(connection: Connection, last: tuple[str, int]) -> Sequence[tuple[str, int, str]]:
    place = (EVENTS.c.debate_id, EVENTS.c.seq)
    rows = connection.execute(
        select(*place, EVENTS.c.body)
        .where(EVENTS.c.kind == _SOURCE_READ, tuple_(*place) > last)
        .order_by(*place)
        .limit(_BODIES_AT_ONCE)
    )
    return [(by, seq, body) for by, seq, body in rows]
