"""The bot's records, one class for each table: deliveries, reminders, settings and others."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Protocol

from pydantic import ValidationError
from sqlalchemy import Connection, Select, delete, or_, select, update

from bot.log import logger
from bot.store.tables import (
    CHANNEL_SETTINGS,
    DELIVERIES,
    ORGANISATIONS,
    PAGE_GRANTS,
    QUEUE,
    REMINDERS,
    RESTORED,
    UNSENT,
    TableUser,
)
from core.debate.people import Place
from core.debate.state import Debate, Status
from core.errors import StoreError
from core.ports import Clock
from core.redaction import without_secrets
from core.store.database import Database
from core.store.tables import DEBATES, EVENTS, INSTALLATION, insert_new
from core.use_cases.choices import ChannelChoices
from core.use_cases.remind import Reminder


class Deliveries(TableUser):
    async def seen(self, kind: str, delivery_id: str, at: datetime) -> bool:
        """Record a delivery; return whether it was recorded before.

        If PostgreSQL's answer gets lost, a first delivery counts as repeated. Then nothing is done
        twice, but the person gets no answer.

        Args:
            kind: The kind of id: "mention", "trigger", …
            delivery_id: Slack's `event_id` or `trigger_id`.
            at: When it arrived.
        """
        values = {"kind": kind, "id": delivery_id, "at": at}
        return not await self._database.write(lambda c: insert_new(c, DELIVERIES, values))

    async def knows(self, kind: str, delivery_id: str) -> bool:
        """Whether a delivery was recorded, without recording it."""
        query = select(DELIVERIES.c.id).where(
            DELIVERIES.c.kind == kind, DELIVERIES.c.id == delivery_id
        )
        return await self._database.read(lambda c: c.execute(query).first() is not None)

    async def purge(self, before: datetime) -> int:
        """Delete deliveries from before that time; return the count."""
        old = delete(DELIVERIES).where(DELIVERIES.c.at < before)
        return await self._database.write(lambda connection: connection.execute(old).rowcount)


class Reminders(TableUser):
    async def put(self, reminder: Reminder) -> None:
        """Store a reminder, unless there is one for this decision."""
        values = asdict(reminder)
        await self._database.write(lambda c: insert_new(c, REMINDERS, values))

    async def due(self, now: datetime) -> Sequence[Reminder]:
        query = select(REMINDERS).where(REMINDERS.c.due_at <= now).order_by(REMINDERS.c.due_at)
        rows = await self._database.read(lambda c: c.execute(query).mappings().all())
        return [Reminder(**row) for row in rows]

    async def forget(self, reminder: Reminder) -> None:
        table = REMINDERS.c
        this = (table.debate_id == reminder.debate_id) & (table.decision == reminder.decision)
        await self._database.write(lambda c: c.execute(delete(REMINDERS).where(this)))


class Organisations(TableUser):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._known: dict[str, str] = {}

    async def note(self, workspace: str, enterprise: str) -> None:
        """Store that a workspace belongs to an organisation. This never changes."""
        if self._known.get(workspace) != enterprise:
            values = {"workspace": workspace, "enterprise": enterprise}
            await self._database.write(lambda c: insert_new(c, ORGANISATIONS, values))
            self._known[workspace] = enterprise

    async def of(self, workspace: str) -> str | None:
        """Return a workspace's organisation; None: it belongs to none."""
        if workspace not in self._known:
            query = select(ORGANISATIONS.c.enterprise).where(ORGANISATIONS.c.workspace == workspace)
            organisation = await self._database.read(lambda c: c.execute(query).scalar())
            if organisation is None:
                return None
            self._known[workspace] = str(organisation)
        return self._known[workspace]

    async def workspaces_of(self, enterprises: Collection[str]) -> Sequence[str]:
        query = select(ORGANISATIONS.c.workspace).where(ORGANISATIONS.c.enterprise.in_(enterprises))
        return await self._database.read(lambda c: c.execute(query).scalars().all())


class ChannelSettings(TableUser):
    async def get(self, place: Place) -> ChannelChoices:
        """The channel's settings; the defaults, if they cannot be read."""
        query = select(CHANNEL_SETTINGS.c.settings).where(_channel(place))
        value = await self._database.read(lambda c: c.execute(query).scalar())
        try:
            return ChannelChoices.model_validate(value or {})
        except ValidationError as error:
            _log.warning("channel settings not read", channel=place.channel, reason=str(error))
            return ChannelChoices()

    async def stewards(self, place: Place) -> Sequence[str]:
        """Ids of people who may steer all debates in the channel."""
        return (await self.get(place)).stewards

    async def put(self, place: Place, choices: ChannelChoices) -> None:
        settings = without_secrets(choices).model_dump(mode="json")
        row = {"workspace": place.workspace, "channel": place.channel, "settings": settings}

        def insert_or_update(connection: Connection) -> None:
            if not insert_new(connection, CHANNEL_SETTINGS, row):
                change = update(CHANNEL_SETTINGS).where(_channel(place))
                connection.execute(change.values(settings=settings))

        await self._database.write(insert_or_update)


def _channel(place: Place) -> Any:
    table = CHANNEL_SETTINGS.c
    return (table.workspace == place.workspace) & (table.channel == place.channel)


#: The row of `installation` that marks a database as restored from a backup.
BACKUP = "backup"


class RestoredIds(TableUser):
    async def mark(self, at: datetime) -> None:
        """Mark this database as restored. The next start reads the mark."""
        values = {"name": BACKUP, "content": at.isoformat()}
        await self._database.write(lambda c: insert_new(c, INSTALLATION, values))

    async def find_running(self) -> Sequence[str]:
        """In a restored database, record the unfinished debates; return those that run.

        Returns the same until `mark_paused` is called.
        """
        return await self._database.write(_find_running)

    async def mark_paused(self) -> None:
        """Remove the mark, as the debates are paused now."""
        row = delete(INSTALLATION).where(INSTALLATION.c.name == BACKUP)
        await self._database.write(lambda c: c.execute(row))

    async def debates(self) -> frozenset[str]:
        return await self._database.read(
            lambda c: frozenset(c.execute(select(RESTORED.c.debate_id)).scalars())
        )


def _find_running(connection: Connection) -> list[str]:
    is_backup = select(INSTALLATION.c.name).where(INSTALLATION.c.name == BACKUP)
    if connection.execute(is_backup).first() is None:
        return []
    running = DEBATES.c.status == Status.RUNNING.value
    newest = (
        select(EVENTS.c.seq)
        .where(EVENTS.c.debate_id == DEBATES.c.id)
        .order_by(EVENTS.c.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    unsent = select(QUEUE.c.debate_id).where(
        UNSENT, QUEUE.c.debate_id.is_not(None), QUEUE.c.method != "landing"
    )
    open_ = or_(running, DEBATES.c.published_seq < newest, DEBATES.c.id.in_(unsent))
    for debate_id in connection.execute(select(DEBATES.c.id).where(open_)).scalars().all():
        insert_new(connection, RESTORED, {"debate_id": debate_id})
    # Ephemeral messages are outdated after a restore.
    notices = update(QUEUE).where(UNSENT, QUEUE.c.method == "ephemeral")
    connection.execute(notices.values(state="failed", error="restored from a backup"))
    # Living posts may show events that are not in this backup.
    living = update(QUEUE).where(
        QUEUE.c.post.is_not(None), QUEUE.c.debate_id.in_(select(RESTORED.c.debate_id))
    )
    connection.execute(living.values(shown_seq=-1, shown_hash=None))
    return list(connection.execute(select(DEBATES.c.id).where(running)).scalars())


_log = logger(__name__)

#: How long deliveries are kept. Slack repeats one for minutes, people repeat a click for seconds.
KEPT = timedelta(days=7)
_DAY_SECONDS = 24 * 60 * 60.0


class Expiring(Protocol):
    async def purge(self, before: datetime) -> Any: ...


@asynccontextmanager
async def deleting_daily(
    records: Expiring, clock: Clock, age: timedelta = KEPT
) -> AsyncGenerator[None]:
    """Within the block, delete records older than `age` once a day."""

    async def every_day() -> None:
        while True:
            try:
                await records.purge(clock.now() - age)
            except StoreError as error:
                _log.warning("not tidied up", reason=str(error))
            await clock.sleep(_DAY_SECONDS)

    task = asyncio.create_task(every_day(), name="deleting daily")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class DebatePageGrants(TableUser):
    """The port `PageGrants` on the bot's database."""

    async def grant(self, debate: Debate) -> str:
        values = {
            "debate_id": debate.id,
            "workspace": debate.setup.place.workspace,
            "granted": secrets.token_hex(8),
        }

        def make_or_read(connection: Connection) -> str:
            insert_new(connection, PAGE_GRANTS, values)
            return str(connection.execute(_granted(debate.id)).scalar_one())

        return await self._database.write(make_or_read)

    async def grant_of(self, debate_id: str) -> str:
        """The debate's grant; empty if it has none."""
        query = _granted(debate_id)
        return str(await self._database.read(lambda c: c.execute(query).scalar()) or "")

    async def withdraw(self, debate_id: str) -> bool:
        this = delete(PAGE_GRANTS).where(PAGE_GRANTS.c.debate_id == debate_id)
        return await self._database.write(lambda c: c.execute(this).rowcount > 0)

    async def leave(self, workspace: str) -> None:
        these = delete(PAGE_GRANTS).where(PAGE_GRANTS.c.workspace == workspace)
        await self._database.write(lambda c: c.execute(these))


def _granted(debate_id: str) -> Select[tuple[str]]:
    return select(PAGE_GRANTS.c.granted).where(PAGE_GRANTS.c.debate_id == debate_id)
