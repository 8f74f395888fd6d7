"""What is to be sent to places outside Slack, in which order, and what became of it.

A row holds no words of a debate: it names an event, and what is sent is made from the log.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    RowMapping,
    bindparam,
    delete,
    exists,
    func,
    insert,
    inspect,
    select,
    update,
)

from bot.store.tables import CLOSED_RECEIVERS, LANDINGS, UNSENT, prepare
from core.errors import StoreError
from core.store.columns import insert_new
from core.store.database import Database


class LandingState(StrEnum):
    """How far a landing has come."""

    WAITING = "waiting"
    #: Somebody began to send it; after a crash it may or may not have arrived.
    SENDING = "sending"
    LANDED = "landed"
    #: A dead letter: it is not tried again unless somebody asks for it.
    DEAD = "dead"

    @classmethod
    def _missing_(cls, value: object) -> "LandingState":  # noqa: ARG003 - the base class has it
        return cls.DEAD


class LandingLost(StoreError):
    """Another process sends this landing now, or its debate was deleted."""


@dataclass(frozen=True, kw_only=True)
class NewLanding:
    """An event that a receiver is to get."""

    #: The receiver's name.
    receiver: str
    debate_id: str
    #: The event's number in its debate.
    seq: int
    queued_at: datetime


@dataclass(frozen=True, kw_only=True)
class LandingRow(NewLanding):
    """A landing and what became of it."""

    #: The order in which its receiver gets it.
    id: int
    state: LandingState
    #: Times somebody began to send it; who knows an older number may not write any more.
    attempts: int
    #: Attempts that failed since it was queued, or asked for again.
    failures: int
    #: Not to be sent before.
    not_before: datetime | None
    #: Why the last attempt failed, in words.
    error: str | None
    #: Where in the receiver it is, once it landed: the path of a record.
    place: str | None


class Backlog(NamedTuple):
    """How much has not landed."""

    waiting: int
    dead: int


@dataclass(frozen=True)
class LandingBacklog:
    """What has not landed, as people are told of it."""

    #: Waiting ones that failed already, and dead ones; oldest first, no more than were asked for.
    rows: Sequence[LandingRow]
    counts: Backlog
    #: Receivers that nothing is sent to any more → why.
    closed: Mapping[str, str]


class Landings:
    """The queues' table. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def enqueue(self, landings: Sequence[NewLanding]) -> None:
        """Add them in this order, all or none. What is there already is left alone."""

        def insert_all(connection: Connection) -> None:
            for landing in landings:
                insert_new(connection, LANDINGS, {**vars(landing), **_FRESH})

        await self._database.write(insert_all)

    async def next_for(self, receiver: str) -> LandingRow | None:
        """The first landing of the receiver that has neither landed nor died; it may have to wait.

        None where the receiver is closed.
        """
        wanted = {"to": receiver}
        row = await self._database.read(lambda c: c.execute(_NEXT, wanted).mappings().first())
        return None if row is None else _row(row)

    async def receivers_with_work(self) -> Sequence[str]:
        """Names of receivers with landings that have neither landed nor died."""
        return await self._database.read(lambda c: c.execute(_BUSY).scalars().all())

    async def begin(self, row: LandingRow) -> LandingRow:
        """Note, before an attempt, that it is being sent.

        Raises:
            LandingLost: Another process did so since the row was read, or it is gone.
        """
        return await self._change(row, state=LandingState.SENDING, attempts=row.attempts + 1)

    async def land(self, row: LandingRow, place: str) -> None:
        """Note that it arrived.

        Raises:
            LandingLost: Another process has it, or it is gone.
        """
        done = {"state": LandingState.LANDED, "place": place, "error": None, "not_before": None}
        await self._change(row, **done)

    async def postpone(self, row: LandingRow, not_before: datetime, error: str) -> None:
        """Put it back to waiting after a failure.

        Raises:
            LandingLost: Another process has it, or it is gone.
        """
        again = {"state": LandingState.WAITING, "failures": row.failures + 1}
        await self._change(row, **again, not_before=not_before, error=error)

    async def bury(self, row: LandingRow, error: str) -> None:
        """Make it a dead letter.

        Raises:
            LandingLost: Another process has it, or it is gone.
        """
        dead = {"state": LandingState.DEAD, "failures": row.failures + 1, "not_before": None}
        await self._change(row, **dead, error=error)

    async def close_receiver(self, receiver: str, why: str) -> None:
        """Send nothing more to a receiver until `retry`; what comes for it waits."""
        values = {"receiver": receiver, "why": why}
        await self._database.write(lambda c: insert_new(c, CLOSED_RECEIVERS, values))

    async def retry(self, which: int | str | None) -> int:
        """Send dead letters again, behind what waits, and what waits at once.

        Args:
            which: The number of one; or a receiver's name: all of it, which is opened again if it
                was closed; None: all of all.

        Returns:
            How many are sent again or at once.
        """

        def send_again(connection: Connection) -> int:
            asked = LANDINGS.c.id == which
            if not isinstance(which, int):
                asked = LANDINGS.c.receiver == which
                reopened = delete(CLOSED_RECEIVERS)
                if which is not None:
                    reopened = reopened.where(CLOSED_RECEIVERS.c.receiver == which)
                connection.execute(reopened)
            of = (asked,) if which is not None else ()
            dead = connection.execute(select(LANDINGS).where(_IS_DEAD, *of).order_by(LANDINGS.c.id))
            waiting = update(LANDINGS).where(LANDINGS.c.state == LandingState.WAITING, *of)
            count = connection.execute(waiting.values(not_before=None, failures=0)).rowcount
            kept = ("receiver", "debate_id", "seq", "queued_at", "error")
            for row in dead.mappings().all():
                # A new id is a new place: what came after it has overtaken it already.
                connection.execute(delete(LANDINGS).where(LANDINGS.c.id == row["id"]))
                again = {name: row[name] for name in kept}
                connection.execute(insert(LANDINGS), {**again, **_FRESH})
                count += 1
            return count

        return await self._database.write(send_again)

    async def places(self, receiver: str) -> Mapping[str, str]:
        """Where the records of debates are in a receiver, by the debate's id."""
        wanted = {"to": receiver}
        rows = await self._database.read(lambda c: c.execute(_PLACES, wanted).all())
        return {row.debate_id: row.place for row in rows}

    async def backlog(self) -> Backlog:
        """How many have not landed."""
        return await self._database.read(_backlog)

    async def unlanded(self, most: int) -> LandingBacklog:
        """What has not landed and needs somebody's eye.

        Also of databases that an earlier version made: nothing.
        """

        def look(connection: Connection) -> LandingBacklog:
            if not inspect(connection).has_table(CLOSED_RECEIVERS.name):
                return LandingBacklog((), Backlog(0, 0), {})
            query = (
                select(LANDINGS)
                .where(_IS_DEAD | (UNSENT & LANDINGS.c.error.is_not(None)))
                .order_by(LANDINGS.c.id)
                .limit(most)
            )
            rows = [_row(row) for row in connection.execute(query).mappings().all()]
            closed = connection.execute(select(CLOSED_RECEIVERS)).all()
            return LandingBacklog(
                rows, _backlog(connection), {row.receiver: row.why for row in closed}
            )

        return await self._database.read(look)

    async def _change(self, row: LandingRow, **values: Any) -> LandingRow:
        """Set columns of the row, if nobody began another attempt since it was read."""
        known = {"of_id": row.id, "of_attempts": row.attempts}

        def change(connection: Connection) -> LandingRow:
            found = connection.execute(_CHANGE, {**known, **values}).mappings().first()
            if found is None:
                raise LandingLost
            return _row(found)

        return await self._database.write(change)


_FRESH: Mapping[str, Any] = {"state": LandingState.WAITING, "attempts": 0, "failures": 0}
# Statements are made once: making them anew costs more than running them.
_NEXT = (
    select(LANDINGS)
    .where(LANDINGS.c.receiver == bindparam("to"), UNSENT)
    .where(~exists().where(CLOSED_RECEIVERS.c.receiver == bindparam("to")))
    .order_by(LANDINGS.c.id)
    .limit(1)
)
_BUSY = select(LANDINGS.c.receiver).where(UNSENT).distinct()
_CHANGE = (
    update(LANDINGS)
    .where(LANDINGS.c.id == bindparam("of_id"), LANDINGS.c.attempts == bindparam("of_attempts"))
    .returning(*LANDINGS.c)
)
_PLACES = (
    select(LANDINGS.c.debate_id, LANDINGS.c.place)
    .where(LANDINGS.c.receiver == bindparam("to"), LANDINGS.c.place != "")
    .order_by(LANDINGS.c.id)
)
_IS_DEAD = LANDINGS.c.state == LandingState.DEAD
_COUNT = select(func.count()).select_from(LANDINGS)


def _backlog(connection: Connection) -> Backlog:
    return Backlog(
        waiting=connection.execute(_COUNT.where(UNSENT)).scalar_one(),
        dead=connection.execute(_COUNT.where(_IS_DEAD)).scalar_one(),
    )


def _row(row: RowMapping) -> LandingRow:
    fields: dict[str, Any] = {**row, "state": LandingState(row["state"])}
    return LandingRow(**fields)


@asynccontextmanager
async def look_into_landings(url: str) -> AsyncGenerator[Landings]:
    """Read the queues for as long as the block lasts, also while the bot writes to them.

    Args:
        url: SQLAlchemy's URL of the database.

    Raises:
        ConfigurationBroken: The location cannot be understood.
        StoreDown: It cannot be opened.
    """
    async with await Database.look_into(url) as database:
        yield Landings(database)


@asynccontextmanager
async def open_landings(url: str) -> AsyncGenerator[Landings]:
    """Open the queues to change them for as long as the block lasts.

    Args:
        url: SQLAlchemy's URL of the database.

    Raises:
        ConfigurationBroken: The location cannot be understood.
        StoreInUse: It is a file, and the bot works on it.
        StoreDown: It cannot be opened.
    """
    async with await Database.open(url) as database:
        await prepare(database)
        yield Landings(database)
