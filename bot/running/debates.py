"""All debates in one process, each an asyncio task that is watched and never silently dead."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bot.log import logger
from bot.running.debate_runner import DebateEngine, DebateRunner, unfinished_ids
from bot.running.keyed_tasks import KeyedTasks
from core.debate.state import Status
from core.errors import StoreError
from core.ports import Clock, DebateStore
from core.rules import schedule

_log = logger(__name__)

#: Seconds between two looks for forgotten debates.
REMIND_SECONDS = 5.0
#: Seconds that a clean stop may take.
STOP_SECONDS = 8.0


class LocalRunner:
    """Holds every unfinished debate of this process."""

    def __init__(
        self,
        *,
        engine: DebateEngine,
        store: DebateStore,
        clock: Clock,
        remind_seconds: float = REMIND_SECONDS,
        waits_for_start: bool = False,
    ) -> None:
        """Hold debates.

        Args:
            engine: Advances them.
            store: Has their logs.
            clock: Time for pauses and alarms.
            remind_seconds: Seconds between two looks for forgotten debates.
            waits_for_start: Whether nothing is advanced before `start`, which takes up everything.
        """
        self._engine = engine
        self._store = store
        self._clock = clock
        self._remind_seconds = remind_seconds
        self._may_work = not waits_for_start
        self._holder = DebateRunner(engine=engine, store=store, clock=clock)
        self._debates = KeyedTasks[str](self._hold)
        self._taking_up = KeyedTasks[str](self._take_up)
        self._reminder: asyncio.Task[None] | None = None
        #: Wake debates that wait for people when their time is up.
        self._alarms: dict[str, asyncio.Task[None]] = {}

    @property
    def held_ids(self) -> Sequence[str]:
        """Ids of the debates being worked on."""
        return self._debates.keys

    async def start(self) -> None:
        """Take up what is unfinished; keeps trying while the database is down."""
        self._may_work = True
        self._taking_up.wake("unfinished debates")
        self._reminder = asyncio.create_task(self._remind(), name="reminder")

    def wake(self, debate_id: str) -> None:
        """Work on this debate, or look at its log again."""
        if self._may_work:
            self._debates.wake(debate_id)
            self._engine.wake(debate_id)

    async def close(self) -> None:
        """Stop every debate where it is; its log goes on next time."""
        await self._taking_up.close(1)
        await self._debates.close(STOP_SECONDS)
        alarms = [*self._alarms.values(), *([self._reminder] if self._reminder else [])]
        for alarm in alarms:
            alarm.cancel()
        await asyncio.gather(*alarms, return_exceptions=True)

    async def _take_up(self, _: str) -> None:
        for debate_id in await unfinished_ids(self._store, self._clock):
            self.wake(debate_id)

    async def _remind(self) -> None:
        """Look for debates that somebody added to without saying so.

        A command that takes too long is given up, while what it recorded stays recorded.
        """
        while True:
            await asyncio.sleep(self._remind_seconds)
            try:
                owed = await self._store.unpublished_ids()
            except StoreError as error:
                _log.warning("cannot look for forgotten debates", reason=str(error))
            else:
                for debate_id in owed:
                    self.wake(debate_id)

    async def _hold(self, debate_id: str) -> None:
        debate = await self._holder.hold(debate_id)
        if debate is None:
            return
        # It has ended, or only people or a time can bring it on.
        alarm = self._alarms.pop(debate_id, None)
        if alarm:
            alarm.cancel()
        due = schedule.due(debate) if debate.status is Status.RUNNING else None
        if due:
            waking = self._wake_at(debate_id, due)
            self._alarms[debate_id] = asyncio.create_task(waking, name=f"alarm/{debate_id}")

    async def _wake_at(self, debate_id: str, due: datetime) -> None:
        """Wake a debate at that time. One that was woken before sets its own alarm anew."""
        await self._clock.sleep(max(0.0, (due - self._clock.now()).total_seconds()))
        if self._alarms.get(debate_id) is asyncio.current_task():
            del self._alarms[debate_id]
        self.wake(debate_id)
