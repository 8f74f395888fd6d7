"""Deleting debates for good: their logs, what they cost, their entries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select

from core.events import SourceRead
from core.models import Status
from core.store.tables import DEBATES, EVENTS, RESERVATIONS, SPENDING


@dataclass(frozen=True, kw_only=True)
class Only:
    """Narrows a deletion down; empty: not."""

    #: Who asked.
    person: str = ""
    channel: str = ""
    debate: str = ""


EVERYTHING = Only()


def purge_debates(
    connection: Connection,
    workspace: str | None,
    before: datetime | None,
    only: Only = EVERYTHING,
    *,
    most: int,
) -> Sequence[str]:
    """Delete debates of a workspace, or of all of them.

    Args:
        connection: In a transaction.
        workspace: Whose; None: of all.
        before: Only those that ended before; None: all, running ones included.
        only: Of one person, channel or debate only.
        most: How many at most.

    Returns:
        Their ids; none: there are no more.
    """
    wanted = select(DEBATES.c.id)
    if workspace is not None:
        wanted = wanted.where(DEBATES.c.workspace == workspace)
    if before is not None:
        wanted = wanted.where(DEBATES.c.status != Status.RUNNING.value, DEBATES.c.ended_at < before)
    for column, value in (
        (DEBATES.c.asked_by, only.person),
        (DEBATES.c.channel, only.channel),
        (DEBATES.c.id, only.debate),
    ):
        if value:
            wanted = wanted.where(column == value)
    ids = list(connection.execute(wanted.limit(most)).scalars())
    for debate_id in ids:  # one by one: databases bound the length of a list
        connection.execute(delete(EVENTS).where(EVENTS.c.debate_id == debate_id))
        connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.debate_id == debate_id))
        connection.execute(delete(SPENDING).where(SPENDING.c.debate_id == debate_id))
        connection.execute(delete(DEBATES).where(DEBATES.c.id == debate_id))
    return ids


def readers_of(connection: Connection, debates: Collection[str]) -> Sequence[str]:
    """Ids of debates that are left and read a decision of the deleted ones as a source.

    They hold its words for good: a log is not changed.
    """
    kind = SourceRead.model_fields["kind"].default
    sources = connection.execute(
        select(EVENTS.c.debate_id, EVENTS.c.body).where(EVENTS.c.kind == kind)
    )
    found = {by for by, body in sources if any(debate in body for debate in debates)}
    return sorted(found)
