"""The debates of this process, each in a supervised asyncio task."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.log import bind_debate, logger
from bot.running.keyed_tasks import KeyedTasks
from bot.store.leases import Leases
from core.debate.debate_events import DebateFailed
from core.debate.log import fold
from core.debate.state import Debate, Status
from core.errors import DebateUnknown, LogBroken, RunLost, StoreError
from core.ports import Clock, DebateStore
from core.retry import RetryPolicy, retry
from core.rules import schedule
from core.values import Recent

_log = logger(__name__)

#: Seconds between two searches for forgotten debates: alone, and with other processes on the
#: database.
LOOK_SECONDS, SHARED_LOOK_SECONDS = 5.0, 1.0
#: Seconds that a clean stop may take.
STOP_SECONDS = 8.0
#: The first part of the lane names of debates.
_KIND = "debate"
#: A debate that fails is tried again without a limit.
RETRIES = RetryPolicy(first_wait=0.5, longest_wait=60.0)
#: After more faults of Moot than this, a debate is recorded as failed.
MOST_FAULTS = 5
_MOST_ENDED = 1000
_BROKEN = "Moot itself failed while working on this debate; its log says how."


class DebateEngine(Protocol):
    async def run(self, debate_id: str) -> Debate: ...

    def wake(self, debate_id: str) -> bool:
        """Notify a running debate that its log has grown; False if it is not running."""
        ...


class Runner:
    """Keeps every unfinished debate running.

    If processes share the database, one of them has the lease of each running debate and checks its
    log for new events once a second. When a process dies or stops, others take over its debates.
    """

    def __init__(
        self,
        *,
        engine: DebateEngine,
        store: DebateStore,
        clock: Clock,
        leases: Leases | None = None,
        look_seconds: float | None = None,
        waits_for_start: bool = False,
    ) -> None:
        """Create a runner that runs nothing yet.

        Args:
            engine: Advances a debate.
            store: The logs of debates.
            clock: For alarms and pauses.
            leases: None: no other process runs debates.
            look_seconds: Between two searches for forgotten debates; None: the default.
            waits_for_start: Advance nothing before `start`.
        """
        self._engine = engine
        self._store = store
        self._clock = clock
        self._leases = leases
        self._look_seconds = look_seconds or (SHARED_LOOK_SECONDS if leases else LOOK_SECONDS)
        self._may_work = not waits_for_start
        self._has_taken_up = False
        self._debates = KeyedTasks[str](self._hold)
        self._looking = KeyedTasks[str](self._look)
        #: Debates with a broken log, which are ignored until the next start.
        self._broken = set[str]()
        #: The edition of debates that were logged as ended, by id.
        self._ended = Recent[str, int](_MOST_ENDED)
        #: Tasks that wake waiting debates at their deadline, by debate id.
        self._alarms: dict[str, asyncio.Task[None]] = {}

    @property
    def held_ids(self) -> Sequence[str]:
        return self._debates.keys

    async def start(self) -> None:
        """Resume all unfinished debates; keeps trying while the database is down."""
        self._may_work = True
        self._looking.wake("unfinished debates")

    def wake(self, debate_id: str) -> None:
        """Run this debate, because it is new or its log has grown."""
        if self._may_work:
            self._debates.wake(debate_id)
            self._engine.wake(debate_id)

    async def close(self) -> None:
        """Stop all debates. Work that was not recorded is done again after the next start."""
        await self._looking.close(1)
        await self._debates.close(STOP_SECONDS)
        alarms = list(self._alarms.values())
        for alarm in alarms:
            alarm.cancel()
        await asyncio.gather(*alarms, return_exceptions=True)

    async def _look(self, _: str) -> None:
        """Resume unfinished debates; then look for debates that nobody woke, or that others left.

        Nobody wakes a debate if a command times out after it recorded its event.
        """
        while True:
            handled = await self._take_over(self._leases) if self._leases else frozenset[str]()
            # Only the first time: debates that wait for people are not read again after an outage.
            store, is_first = self._store, not self._has_taken_up
            ids = await (store.unfinished_ids() if is_first else store.unpublished_ids())
            for debate_id in ids:
                if debate_id not in handled:
                    self.wake(debate_id)
            self._has_taken_up = True
            await asyncio.sleep(self._look_seconds)

    async def _take_over(self, leases: Leases) -> frozenset[str]:
        """Take over abandoned debates; return their ids and those of debates of other processes."""
        handled = set[str]()
        for lane, is_held in (await leases.of_kind(_KIND)).items():
            debate_id = lane.partition("/")[2]
            if is_held and not leases.holds(lane):
                handled.add(debate_id)
            # The expired lease may be our own, if the database was down for too long.
            elif not is_held and await leases.acquire(lane) is not None:
                self.wake(debate_id)
                handled.add(debate_id)
        return frozenset(handled)

    async def _hold(self, debate_id: str) -> None:
        lane = f"{_KIND}/{debate_id}"
        if debate_id in self._broken:
            return
        while self._leases and await self._leases.acquire(lane) is None:
            # A running debate is watched by the process that holds it; an ended one by nobody.
            if fold(await self._store.events(debate_id)).status is Status.RUNNING:
                return
            await asyncio.sleep(self._look_seconds)
        if alarm := self._alarms.pop(debate_id, None):
            alarm.cancel()
        try:
            debate = await self._advance(debate_id, lane)
        except RunLost as error:
            _log.warning("let go", reason=str(error))
            if self._leases:
                # If the lease is still ours, a process without it works on the debate. The lease is
                # left, not deleted, so that a process with a lease takes the debate back.
                self._leases.rest(lane)
            return
        if debate is None or debate.status is not Status.RUNNING:
            if self._leases:
                await self._leases.forget(lane)
        elif due := schedule.due(debate):  # only people or the deadline can continue it
            waking = self._wake_at(debate_id, due)
            self._alarms[debate_id] = asyncio.create_task(waking, name=f"alarm/{debate_id}")

    async def _wake_at(self, debate_id: str, due: datetime) -> None:
        """Wake a debate at its deadline. A debate that is woken earlier sets a new alarm."""
        await self._clock.sleep(max(0.0, (due - self._clock.now()).total_seconds()))
        if self._alarms.get(debate_id) is asyncio.current_task():
            del self._alarms[debate_id]
        self.wake(debate_id)

    async def _advance(self, debate_id: str, lane: str) -> Debate | None:
        """Advance one debate until it has ended or waits for people or a deadline.

        Returns None if the debate is unknown or its log cannot be read.
        """
        bind_debate(debate_id)
        faults = 0

        async def run() -> Debate:
            # The lease may have expired while the database was down.
            if self._leases and await self._leases.acquire(lane) is None:
                raise RunLost(f"Another process holds the debate {debate_id} now.")
            if faults > MOST_FAULTS:
                # Recorded, so that people see that it failed.
                await self._record_failure(debate_id)
            return await self._engine.run(debate_id)

        def again(error: Exception, wait: float) -> float | None:
            nonlocal faults
            match error:
                case RunLost() | DebateUnknown() | LogBroken():
                    return None
                case StoreError() | ConnectionError() | TimeoutError():
                    _log.warning("interrupted, trying again", reason=str(error))
                case _:
                    faults += 1
                    _log.exception("failed")
            return wait

        try:
            debate = await retry(run, RETRIES, self._clock.sleep, on=Exception, again=again)
        except DebateUnknown as error:
            _log.warning("let go", reason=str(error))
            return None
        except LogBroken as error:
            self._broken.add(debate_id)
            _log.error("given up until the next start: its log is broken", reason=str(error))
            return None
        if debate.status is Status.RUNNING:
            _log.info("parked", status=debate.status.value)
        elif self._ended.get(debate_id, 0) != debate.edition:
            # Once: what people do after the end wakes the debate again.
            self._ended[debate_id] = debate.edition
            _log.info("ended", status=debate.status.value)
        return debate

    async def _record_failure(self, debate_id: str) -> None:
        try:
            edition = fold(await self._store.events(debate_id)).edition
            event = DebateFailed(reason=_BROKEN, edition=edition)
            await self._store.append(debate_id, event, at=self._clock.now())
        except StoreError:
            _log.exception("cannot record the failure")
