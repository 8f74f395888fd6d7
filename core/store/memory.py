"""A store that forgets: the same promises as the one in a database, for tests and tryouts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

from core.errors import DebateUnknown, RunLost, StoreError
from core.events import (
    DebateConcluded,
    DebateFailed,
    DebateStarted,
    DebateWanted,
    Event,
    Recorded,
    VerdictReached,
    spent_by,
)
from core.models import Act, Cap, Setup, Status
from core.ports import Appended, DebateEntry, DebateFilter, Reservation, RunToken
from core.redaction import without_secrets
from core.rules.sealing import as_shown


@dataclass
class _Held:
    """A debate and its log."""

    debate_id: str
    origin: str
    setup: Setup
    started_at: datetime
    log: list[Recorded]
    by_key: dict[str, Recorded] = field(default_factory=dict[str, Recorded])
    status: Status = Status.RUNNING
    ended_at: datetime | None = None
    run_number: int = 0
    published: int = 0

    def add(self, recorded: Recorded) -> None:
        """Write the event down, and the end if it is one."""
        self.log.append(recorded)
        self.by_key[recorded.event.key] = recorded
        match recorded.event:
            case DebateConcluded(edition=1) | DebateFailed(edition=1) if (
                DebateWanted.KEY in self.by_key
            ):
                pass  # written while somebody wanted it to go on
            case DebateConcluded():
                self.status, self.ended_at = Status.CONCLUDED, recorded.at
            case DebateFailed():
                self.status, self.ended_at = Status.FAILED, recorded.at
            case DebateWanted():
                self.status, self.ended_at = Status.RUNNING, None
            case _:
                pass


@dataclass(frozen=True)
class _Reserved:
    """A reservation and the keys of its caps."""

    reservation: Reservation
    caps: frozenset[str]
    settled: bool = False


class InMemoryStore:
    """A `DebateStore` in memory, gone with the process. Of one event loop."""

    def __init__(self) -> None:
        """Start empty."""
        self._debates: dict[str, _Held] = {}
        self._by_origin: dict[str, _Held] = {}
        self._reserved: dict[str, _Reserved] = {}

    async def create(
        self, debate_id: str, started: Event, *, origin: str, at: datetime
    ) -> Appended:
        """Begin a debate, unless `origin` has begun one.

        Raises:
            TypeError: `started` is not a start.
            StoreError: Another debate has this id.
        """
        if not isinstance(started, DebateStarted):
            raise TypeError(f"a debate begins with its start, not with {started.kind}")
        if origin in self._by_origin:
            return Appended(self._by_origin[origin].log[0], fresh=False)
        if debate_id in self._debates:
            raise StoreError(f"There is another debate with the id {debate_id}. Take a new id.")
        started = without_secrets(started)
        first = Recorded(debate_id, 1, at, started)
        held = _Held(debate_id, origin, started.setup, at, [])
        held.add(first)
        self._debates[debate_id] = self._by_origin[origin] = held
        return Appended(first, fresh=True)

    async def begun(self, origin: str) -> str | None:
        """The id of the debate that this origin began."""
        held = self._by_origin.get(origin)
        return held.debate_id if held else None

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> Appended:
        """Write one event without secrets; the key's first writer wins."""
        held = self._held(debate_id)
        if run is not None and run != RunToken(debate_id, held.run_number):
            raise RunLost(f"Another run holds the debate {debate_id} now.")
        if event.key in held.by_key:
            return Appended(held.by_key[event.key], fresh=False)
        recorded = Recorded(debate_id, len(held.log) + 1, at, without_secrets(event))
        held.add(recorded)
        # Reservations of the turn whose outcome is recorded end.
        ends = f"/{Act.SYNTHESIS.value}/" if isinstance(event, VerdictReached) else None
        for key, one in list(self._reserved.items()):
            turn = one.reservation.turn
            if one.reservation.debate_id == debate_id and (
                turn == event.key or (ends and ends in turn)
            ):
                del self._reserved[key]
        return Appended(recorded, fresh=True)

    async def check_run(self, run: RunToken) -> None:
        """Make sure that a run still holds its debate."""
        if run.number != self._held(run.debate_id).run_number:
            raise RunLost(f"Another run holds the debate {run.debate_id} now.")

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        """The log in order, as it may be read now."""
        log = as_shown(await self.all_events(debate_id))
        return [recorded for recorded in log if recorded.seq > after]

    async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        """The log in order, from the first event with a greater `seq`."""
        return [recorded for recorded in self._held(debate_id).log if recorded.seq > after]

    async def claim(self, debate_id: str) -> RunToken:
        """Take the debate over from every older run."""
        held = self._held(debate_id)
        held.run_number += 1
        return RunToken(debate_id, held.run_number)

    async def published(self, debate_id: str) -> int:
        """The `seq` up to which events were published."""
        return self._held(debate_id).published

    async def mark_published(self, debate_id: str, seq: int) -> None:
        """Remember that; a smaller number than before changes nothing."""
        held = self._held(debate_id)
        held.published = max(held.published, seq)

    async def unfinished(self) -> Sequence[str]:
        """Ids of debates that did not end or have unpublished events, oldest first."""
        return [
            held.debate_id
            for held in self._oldest_first()
            if held.status is Status.RUNNING or held.published < len(held.log)
        ]

    async def unpublished(self) -> Sequence[str]:
        """Ids of running debates with events that nobody has published."""
        return [
            held.debate_id
            for held in self._oldest_first()
            if held.status is Status.RUNNING and held.published < len(held.log)
        ]

    async def find(self, wanted: DebateFilter) -> Sequence[DebateEntry]:
        """Debates that fit, newest first."""
        begins = tuple(wanted.having)
        fitting = [
            held
            for held in reversed(self._oldest_first())
            if wanted.workspace in {None, held.setup.place.workspace}
            and (wanted.channels is None or held.setup.place.channel in wanted.channels)
            and (held.status is Status.RUNNING or not wanted.open_only)
            and (not begins or any(key.startswith(begins) for key in held.by_key))
        ]
        return [
            DebateEntry(
                debate_id=held.debate_id,
                question=held.setup.question,
                workspace=held.setup.place.workspace,
                channel=held.setup.place.channel,
                asked_by=held.setup.asked_by.id,
                started_at=held.started_at,
                ended_at=held.ended_at,
                status=held.status.value,
                origin=held.origin,
            )
            for held in fitting[: wanted.limit]
        ]

    async def spent(
        self, day: date, *, workspace: str, person: str | None = None, token: str | None = None
    ) -> Decimal:
        """US dollars spent on one day (UTC) in a workspace: by a person, a token, or all."""
        costs = (
            spent_by(recorded.event).cost
            for held in self._debates.values()
            if held.setup.place.workspace == workspace
            if person in {None, held.setup.asked_by.id} and token in {None, held.setup.token}
            for recorded in held.log
            if recorded.at.astimezone(UTC).date() == day
        )
        return sum((cost for cost in costs if cost), start=Decimal(0))

    async def reserve(
        self, wanted: Reservation, caps: Sequence[Cap], *, at: datetime
    ) -> Sequence[Cap]:
        """Reserve the amount under all these caps, or under none."""
        self._reserved = {
            key: one for key, one in self._reserved.items() if one.reservation.expires_at > at
        }
        spent: list[Cap] = []
        has_room = True
        for cap in caps:
            of_day = cap.shared
            recorded = Decimal(0)
            if of_day:
                recorded = await self.spent(
                    of_day.day,
                    workspace=of_day.workspace,
                    person=of_day.person,
                    token=of_day.token,
                )
            others = [
                one
                for key, one in self._reserved.items()
                if key != wanted.id and cap.key in one.caps
            ]
            settled = sum((o.reservation.amount for o in others if o.settled), start=recorded)
            held = sum((o.reservation.amount for o in others), start=recorded)
            spent.append(replace(cap, spent=settled))
            has_room &= replace(cap, spent=held).has_room_for(wanted.amount)
        if not has_room:
            return spent
        self._reserved[wanted.id] = _Reserved(wanted, frozenset(cap.key for cap in caps))
        return ()

    async def settle(
        self, reservation_id: str, cost: Decimal | None, *, expires_at: datetime
    ) -> None:
        """Count what the attempt did cost from now on."""
        known = self._reserved.pop(reservation_id, None)
        if known and cost != 0:
            amount = known.reservation.amount if cost is None else cost
            paid = replace(known.reservation, amount=amount, expires_at=expires_at)
            self._reserved[reservation_id] = _Reserved(paid, known.caps, settled=True)

    def _held(self, debate_id: str) -> _Held:
        """The debate with this id.

        Raises:
            DebateUnknown: There is none.
        """
        if debate_id not in self._debates:
            raise DebateUnknown(f"There is no debate {debate_id}.")
        return self._debates[debate_id]

    def _oldest_first(self) -> list[_Held]:
        """All debates by their start."""
        return sorted(self._debates.values(), key=lambda held: (held.started_at, held.debate_id))
