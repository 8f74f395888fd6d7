"""All debates of this process, each an asyncio task that is watched and never silently dead."""

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

_log = logger(__name__)

#: Seconds between two looks for forgotten debates, and where other processes share the database.
LOOK_SECONDS, SHARED_LOOK_SECONDS = 5.0, 1.0
#: Seconds that a clean stop may take.
STOP_SECONDS = 8.0
#: How lanes of debates begin.
_KIND = "debate"
#: Something outside failed, or we did: tried again for as long as it takes.
RETRIES = RetryPolicy(first_wait=0.5, longest_wait=60.0)
#: Faults of ours in a row after which a debate is ended in words, not tried for ever.
MOST_FAULTS = 5
_BROKEN = "Moot itself failed while working on this debate; its log says how."


class DebateEngine(Protocol):
    async def run(self, debate_id: str) -> Debate: ...

    def wake(self, debate_id: str) -> bool:
        """Tell a running debate that its log has grown; False if it is not running."""
        ...


class Runner:
    """Sees to it that every unfinished debate is being worked on.

    Where other processes share the database, each debate that runs has a lease, which one of them
    holds: it looks once a second for what others added to the log. Who dies or stops leaves its
    leases, and others take these debates over.
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
        """Hold debates; without `leases` no other process holds any.

        `look_seconds` pass between two looks for forgotten debates; None: the usual ones. With
        `waits_for_start` nothing is advanced before `start`, which takes up everything.
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
        #: Debates whose log is broken: they are not looked at again before the next start.
        self._broken = set[str]()
        #: Wake debates that wait for people when their time is up.
        self._alarms: dict[str, asyncio.Task[None]] = {}

    @property
    def held_ids(self) -> Sequence[str]:
        return self._debates.keys

    async def start(self) -> None:
        """Take up what is unfinished; keeps trying while the database is down."""
        self._may_work = True
        self._looking.wake("unfinished debates")

    def wake(self, debate_id: str) -> None:
        """Somebody began this debate or added to its log: work on it."""
        if self._may_work:
            self._debates.wake(debate_id)
            self._engine.wake(debate_id)

    async def close(self) -> None:
        """Stop every debate where it is; what was not recorded yet is done again next time."""
        await self._looking.close(1)
        await self._debates.close(STOP_SECONDS)
        alarms = list(self._alarms.values())
        for alarm in alarms:
            alarm.cancel()
        await asyncio.gather(*alarms, return_exceptions=True)

    async def _look(self, _: str) -> None:
        """Take up what is unfinished; then what was added without a word, and what others left.

        A command that takes too long is given up, while what it recorded stays recorded.
        """
        while True:
            done = await self._take_over(self._leases) if self._leases else frozenset[str]()
            # After a failure of the database, what waits for people is not read again.
            store, is_first = self._store, not self._has_taken_up
            ids = await (store.unfinished_ids() if is_first else store.unpublished_ids())
            for debate_id in ids:
                if debate_id not in done:
                    self.wake(debate_id)
            self._has_taken_up = True
            await asyncio.sleep(self._look_seconds)

    async def _take_over(self, leases: Leases) -> frozenset[str]:
        """Work on the debates that others left; return their ids, and of those that others hold."""
        done = set[str]()
        for lane, is_held in (await leases.of_kind(_KIND)).items():
            debate_id = lane.partition("/")[2]
            if is_held and not leases.holds(lane):
                done.add(debate_id)
            # It is our own where the database was away for too long.
            elif not is_held and await leases.acquire(lane) is not None:
                self.wake(debate_id)
                done.add(debate_id)
        return frozenset(done)

    async def _hold(self, debate_id: str) -> None:
        lane = f"{_KIND}/{debate_id}"
        if debate_id in self._broken:
            return
        while self._leases and await self._leases.acquire(lane) is None:
            # While it runs, the process that holds it looks for news; nobody does after the end.
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
                # Where it is still ours, a process without the lease works on the debate: left,
                # not forgotten, so that one with the lease takes the debate back.
                self._leases.rest(lane)
            return
        if debate is None or debate.status is not Status.RUNNING:
            if self._leases:
                await self._leases.forget(lane)
        elif due := schedule.due(debate):  # only people or a time can bring it on
            waking = self._wake_at(debate_id, due)
            self._alarms[debate_id] = asyncio.create_task(waking, name=f"alarm/{debate_id}")

    async def _wake_at(self, debate_id: str, due: datetime) -> None:
        """Wake a debate at that time. One that was woken before sets its own alarm anew."""
        await self._clock.sleep(max(0.0, (due - self._clock.now()).total_seconds()))
        if self._alarms.get(debate_id) is asyncio.current_task():
            del self._alarms[debate_id]
        self.wake(debate_id)

    async def _advance(self, debate_id: str, lane: str) -> Debate | None:
        """Advance one debate until it has ended or only people or a time can bring it on.

        None: there is nothing to hold, as nobody knows it, or its log cannot be read.
        """
        bind_debate(debate_id)
        faults = 0

        async def run() -> Debate:
            # The lease may have ended while the database was away: no debate is taken back.
            if self._leases and await self._leases.acquire(lane) is None:
                raise RunLost(f"Another process holds the debate {debate_id} now.")
            if faults > MOST_FAULTS:
                # It fails again and again: recorded, so that people are told.
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
        is_parked = debate.status is Status.RUNNING
        _log.info("parked" if is_parked else "ended", status=debate.status.value)
        return debate

    async def _record_failure(self, debate_id: str) -> None:
        try:
            edition = fold(await self._store.events(debate_id)).edition
            failed = DebateFailed(reason=_BROKEN, edition=edition)
            await self._store.append(debate_id, failed, at=self._clock.now())
        except StoreError:
            _log.exception("cannot record the failure")
