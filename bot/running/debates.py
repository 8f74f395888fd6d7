"""All debates of this process, each an asyncio task that is watched and never silently dead."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bot.running.debate_runner import DebateEngine, DebateRunner
from bot.running.keyed_tasks import KeyedTasks
from bot.store.leases import Leases
from core.debate.state import Status
from core.ports import Clock, DebateStore
from core.rules import schedule

#: Seconds between two looks for forgotten debates, and where other processes share the database.
LOOK_SECONDS, SHARED_LOOK_SECONDS = 5.0, 1.0
#: Seconds that a clean stop may take.
STOP_SECONDS = 8.0
#: How lanes of debates begin.
_KIND = "debate"


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
        """Hold debates.

        Args:
            engine: Advances them.
            store: Has their logs.
            clock: Time for pauses and alarms.
            leases: Which debates are ours; None: no other process holds any.
            look_seconds: Seconds between two looks for forgotten debates; None: the usual ones.
            waits_for_start: Whether nothing is advanced before `start`, which takes up everything.
        """
        self._engine = engine
        self._store = store
        self._clock = clock
        self._leases = leases
        self._look_seconds = look_seconds or (SHARED_LOOK_SECONDS if leases else LOOK_SECONDS)
        self._may_work = not waits_for_start
        self._holder = DebateRunner(engine=engine, store=store, clock=clock)
        self._debates = KeyedTasks[str](self._hold)
        self._looking = KeyedTasks[str](self._look)
        #: Wake debates that wait for people when their time is up.
        self._alarms: dict[str, asyncio.Task[None]] = {}

    @property
    def held_ids(self) -> Sequence[str]:
        """Ids of the debates being worked on in this process."""
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
        for debate_id in await self._store.unfinished_ids():
            self.wake(debate_id)
        while True:
            await asyncio.sleep(self._look_seconds)
            others = await self._take_over(self._leases) if self._leases else frozenset[str]()
            for debate_id in await self._store.unpublished_ids():
                if debate_id not in others:
                    self.wake(debate_id)

    async def _take_over(self, leases: Leases) -> frozenset[str]:
        """Work on the debates that others left; return the ids of those that they hold."""
        others = set[str]()
        for lane, is_held in (await leases.of_kind(_KIND)).items():
            debate_id = lane.partition("/")[2]
            if is_held and not leases.holds(lane):
                others.add(debate_id)
            # It is our own where the database was away for too long.
            elif not is_held and await leases.acquire(lane) is not None:
                self.wake(debate_id)
        return frozenset(others)

    async def _hold(self, debate_id: str) -> None:
        lane = f"{_KIND}/{debate_id}"
        if self._leases and await self._leases.acquire(lane) is None:
            return  # another process holds it, and looks for news of it
        debate = await self._holder.hold(debate_id)
        if alarm := self._alarms.pop(debate_id, None):
            alarm.cancel()
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
