"""The logs of all debates, stored in a database."""

import asyncio
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import Event, RecordedEvent, event_from_json, event_to_json
from core.debate.people_events import DebateWanted
from core.debate.state import Status
from core.errors import DebateUnknown, LogBroken, RunLost, StoreError
from core.ports import AppendResult, DebateEntry, DebateFilter, Reservation, RunToken
from core.redaction import without_secrets
from core.rules.sealing import readable_log
from core.store import spending
from core.store.database import Transactions
from core.store.tables import DEBATES, EVENTS, RESERVATIONS, UNREADABLE, insert_new
from core.store.upkeep import installation_secret
from core.usage import Cap, SpendingScope
from core.values import Recent

#: Up to this many rows are parsed in the event loop; more of them in a thread.
_READ_AT_ONCE = 100
#: Debates for which the store remembers whether they were started sealed.
_REMEMBERED = 1000


class SqlDebateStore:
    """The `DebateStore` in an SQL database. `core.ports.DebateStore` documents the methods."""

    def __init__(self, database: Transactions) -> None:
        """`core.store.tables.prepare` must have created the tables. The caller closes it."""
        self._database = database
        #: Whether a debate was started sealed, by id. The first event says so and never changes.
        self._are_sealed = Recent[str, bool](_REMEMBERED)

    async def create(
        self, debate_id: str, started: Event, *, origin: str, at: datetime
    ) -> AppendResult:
        started = without_secrets(started)
        first, setup = (
            RecordedEvent(debate_id, 1, at, started),
            cast("DebateStarted", started).setup,
        )
        values = {
            "id": debate_id,
            "origin": origin,
            "workspace": setup.place.workspace,
            "channel": setup.place.channel,
            "asked_by": setup.asked_by.id,
            "token_id": setup.token or None,
            # PostgreSQL's text type cannot store NUL. The log has the unchanged question.
            "question": setup.question.replace("\0", ""),
            "started_at": at,
            "status": Status.RUNNING.value,
            "run_number": 0,
            "published_seq": 0,
        }

        def insert_or_find(connection: Connection) -> AppendResult:
            if insert_new(connection, DEBATES, values):
                _insert(connection, first)
                return AppendResult(first, fresh=True)
            row = connection.execute(_START, {"origin": origin}).first()
            if row is None:
                raise StoreError(f"There is another debate with the id {debate_id}. Take a new id.")
            return AppendResult(_recorded_event(row), fresh=False)

        return await self._database.write(insert_or_find)

    async def id_of_origin(self, origin: str) -> str | None:
        query = select(DEBATES.c.id).where(DEBATES.c.origin == origin)
        return await self._database.read(lambda c: c.execute(query).scalar())

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        def write_or_find(connection: Connection) -> AppendResult:
            # Check the run first: a run that lost its debate must get an error, never an event.
            head = _head(connection, debate_id, lock=True)
            if run is not None and run != RunToken(debate_id, head.run_number):
                raise RunLost(f"Another run holds the debate {debate_id} now.")
            values = {"with_id": debate_id, "key": event.key}
            last, is_there, has_reserved = connection.execute(_PLACE, values).one()
            if is_there:
                row = connection.execute(_STANDING, values).one()
                return AppendResult(_recorded_event(row), fresh=False)
            recorded = RecordedEvent(debate_id, (last or 0) + 1, at, without_secrets(event))
            _insert(connection, recorded)
            spending.book(connection, recorded, head)
            if has_reserved:
                spending.release(connection, debate_id, event)
            _note_end(connection, recorded)
            return AppendResult(recorded, fresh=True)

        return await self._database.write(write_or_find)

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        """The log in order, without events that are withheld while the debate is sealed."""
        log = await self.all_events(debate_id, after=after)
        if not after or not log:
            return readable_log(log)
        if debate_id not in self._are_sealed:
            first = await self._database.read(
                lambda c: c.execute(_FIRST, {"with_id": debate_id}).one()
            )
            started = _recorded_event(first).event
            self._are_sealed[debate_id] = cast("DebateStarted", started).setup.sealed
        if not self._are_sealed[debate_id]:
            return log
        entries = readable_log(await self.all_events(debate_id))
        return [recorded for recorded in entries if recorded.seq > after]

    async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        def read(connection: Connection) -> Sequence[Row[Any]]:
            _head(connection, debate_id)
            return connection.execute(_AFTER, {"with_id": debate_id, "after": after}).all()

        rows = await self._database.read(read)
        if len(rows) <= _READ_AT_ONCE:
            return [_recorded_event(row) for row in rows]
        # Thousands of events would block the event loop.
        return await asyncio.to_thread(lambda: [_recorded_event(row) for row in rows])

    async def claim(self, debate_id: str) -> RunToken:
        def count_up(connection: Connection) -> RunToken:
            number = _head(connection, debate_id, lock=True).run_number + 1
            _update(connection, debate_id, run_number=number)
            return RunToken(debate_id, number)

        return await self._database.write(count_up)

    async def check_run(self, run: RunToken) -> None:
        head = await self._database.read(lambda c: _head(c, run.debate_id))
        if run.number != head.run_number:
            raise RunLost(f"Another run holds the debate {run.debate_id} now.")

    async def published_seq(self, debate_id: str) -> int:
        return await self._database.read(lambda c: _head(c, debate_id).published_seq)

    async def mark_published(self, debate_id: str, seq: int) -> None:
        def set_if_greater(connection: Connection) -> None:
            if _head(connection, debate_id, lock=True).published_seq < seq:
                _update(connection, debate_id, published_seq=seq)

        await self._database.write(set_if_greater)

    async def unfinished_ids(self) -> Sequence[str]:
        return await self._ids(or_(_RUNS, _HAS_NEWS))

    async def unpublished_ids(self) -> Sequence[str]:
        # Only logs of running debates are searched, and few debates run.
        return await self._ids(and_(_RUNS, _HAS_NEWS))

    async def _ids(self, condition: ColumnElement[bool]) -> Sequence[str]:
        query = select(DEBATES.c.id).where(condition).order_by(DEBATES.c.started_at, DEBATES.c.id)
        return await self._database.read(lambda c: list(c.execute(query).scalars()))

    async def find(self, filters: DebateFilter) -> Sequence[DebateEntry]:
        query = _ENTRIES.order_by(DEBATES.c.started_at.desc(), DEBATES.c.id.desc())
        if filters.workspace is not None:
            query = query.where(DEBATES.c.workspace == filters.workspace)
        if filters.channels is not None:
            query = query.where(DEBATES.c.channel.in_(filters.channels))
        if filters.open_only:
            query = query.where(_RUNS)
        if filters.having:
            # The index on keys answers this without reading the table.
            begins = (EVENTS.c.key.startswith(key, autoescape=True) for key in filters.having)
            query = query.where(exists().where(EVENTS.c.debate_id == DEBATES.c.id, or_(*begins)))
        query = query.limit(filters.limit)

        def entries(connection: Connection) -> list[DebateEntry]:
            return [DebateEntry(**row) for row in connection.execute(query).mappings()]

        return await self._database.read(entries)

    async def total_cost(self, scope: SpendingScope) -> Decimal:
        return await self._database.read(lambda c: spending.total(c, scope))

    async def reserve(
        self, reservation: Reservation, caps: Sequence[Cap], *, at: datetime
    ) -> Sequence[Cap]:
        return await self._database.write(lambda c: spending.reserve(c, reservation, caps, at))

    async def settle(
        self, reservation_id: str, cost: Decimal | None, *, expires_at: datetime
    ) -> None:
        await self._database.write(lambda c: spending.settle(c, reservation_id, cost, expires_at))

    async def secret(self) -> bytes:
        return await installation_secret(self._database)


#: Condition: the debate has unpublished events.
_HAS_NEWS = exists().where(
    EVENTS.c.debate_id == DEBATES.c.id, EVENTS.c.seq > DEBATES.c.published_seq
)
_RUNS = DEBATES.c.status == Status.RUNNING.value
_ID: ColumnElement[bool] = DEBATES.c.id == bindparam("with_id")
_LOG: ColumnElement[bool] = EVENTS.c.debate_id == bindparam("with_id")

# Statements are built once: building one costs more than running it.
_HEAD = select(
    DEBATES.c.run_number,
    DEBATES.c.published_seq,
    DEBATES.c.workspace,
    DEBATES.c.asked_by,
    DEBATES.c.token_id,
).where(_ID)
_ENTRIES = select(
    DEBATES.c.id.label("debate_id"),
    *(DEBATES.c[field.name] for field in fields(DebateEntry) if field.name != "debate_id"),
)
_LOCKED_HEAD = _HEAD.with_for_update()
_STANDING = select(EVENTS).where(_LOG, EVENTS.c.key == bindparam("key"))
#: The log's last number, whether it has the key, and whether money is reserved for the debate.
#: Runs after the statement that locks the row: only a statement that begins after the lock sees
#: what other transactions wrote before they released it.
_PLACE = select(
    select(func.max(EVENTS.c.seq)).where(_LOG).scalar_subquery(),
    _STANDING.exists(),
    exists().where(RESERVATIONS.c.debate_id == bindparam("with_id")),
)
_AFTER = select(EVENTS).where(_LOG, EVENTS.c.seq > bindparam("after")).order_by(EVENTS.c.seq)
_FIRST = select(EVENTS).where(_LOG, EVENTS.c.seq == 1)
_START = (
    select(EVENTS)
    .join(DEBATES, DEBATES.c.id == EVENTS.c.debate_id)
    .where(DEBATES.c.origin == bindparam("origin"), EVENTS.c.seq == 1)
)
_UPDATE = update(DEBATES).where(_ID)
_INSERT = insert(EVENTS)


def _insert(connection: Connection, recorded: RecordedEvent) -> None:
    event = recorded.event
    columns = {"debate_id": recorded.debate_id, "seq": recorded.seq, "at": recorded.at}
    columns |= {"key": event.key, "kind": event.kind, "body": event_to_json(event)}
    connection.execute(_INSERT, columns)


def _note_end(connection: Connection, recorded: RecordedEvent) -> None:
    """Update status and end of the debate's row if the event changes them."""
    ended_at: datetime | None = recorded.at
    match recorded.event:
        case DebateConcluded(edition=1) | DebateFailed(edition=1) if connection.execute(
            _STANDING, {"with_id": recorded.debate_id, "key": DebateWanted.key_form}
        ).first():
            return  # a person asked to continue the debate before this end was written
        case DebateConcluded():
            status = Status.CONCLUDED
        case DebateFailed():
            status = Status.FAILED
        case DebateWanted():
            status, ended_at = Status.RUNNING, None
        case _:
            return
    _update(connection, recorded.debate_id, status=status.value, ended_at=ended_at)


def _head(
    connection: Connection, debate_id: str, *, lock: bool = False
) -> Row[Any, Any, Any, Any, Any]:
    row = connection.execute(_LOCKED_HEAD if lock else _HEAD, {"with_id": debate_id}).first()
    if row is None:
        raise DebateUnknown(f"There is no debate {debate_id}.")
    return row


def _update(connection: Connection, debate_id: str, **values: Any) -> None:
    connection.execute(_UPDATE, {"with_id": debate_id, **values})


def _recorded_event(row: Row[Any]) -> RecordedEvent:
    broken = LogBroken(
        f"Event {row.seq} of the debate {row.debate_id} cannot be read: it is damaged, or "
        "a newer version of Moot wrote it."
    )
    if row.at == UNREADABLE:
        raise broken
    try:
        event = event_from_json(row.body)
    except ValueError as error:
        raise broken from error
    return RecordedEvent(row.debate_id, row.seq, row.at, event)
