"""All debates in one process, each an asyncio task that is watched and never silently dead."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Protocol

from bot.log import bind_debate, logger
from bot.supervisor import Supervisor
from core import schedule
from core.errors import DebateUnknown, RunLost, StoreError
from core.events import DebateFailed
from core.models import Debate, Status
from core.ports import Clock, DebateStore

_log = logger(__name__)

#: Seconds before the first and the longest pause after something went wrong.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
#: Faults of ours in a row after which a debate is ended in words, not tried for ever.
MOST_FAULTS = 5
#: Seconds that a clean stop may take.
STOP_SECONDS = 8.0
_BROKEN = "Moot itself failed while working on this debate; its log says how."


class Advances(Protocol):
    """The engine, as far as a runner needs it."""

    async def run(self, debate_id: str) -> Debate:
        """Advance the debate until it has ended."""
        ...

    def wake(self, debate_id: str) -> bool:
        """Tell a running debate that its log has grown; False if it is not running."""
        ...


class _CameTo(Enum):
    """What advancing a debate came to."""

    END = auto()
    #: Something outside failed; it passes.
    INTERRUPTION = auto()
    #: We failed; trying for ever would not help.
    FAULT = auto()


class LocalRunner:
    """Holds every unfinished debate of this process."""

    def __init__(self, *, engine: Advances, store: DebateStore, clock: Clock) -> None:
        self._engine = engine
        self._store = store
        self._clock = clock
        self._debates = Supervisor[str](self._hold)
        self._taking_up = Supervisor[str](self._take_up)
        #: Wake debates that wait for people when their time is up.
        self._alarms: dict[str, asyncio.Task[None]] = {}

    @property
    def held(self) -> Sequence[str]:
        """Ids of the debates being worked on."""
        return self._debates.keys

    async def start(self) -> None:
        """Take up what is unfinished; keeps trying while the database is down."""
        self._taking_up.wake("unfinished debates")

    def wake(self, debate_id: str) -> None:
        """Work on this debate, or look at its log again."""
        self._debates.wake(debate_id)
        self._engine.wake(debate_id)

    async def close(self) -> None:
        """Stop every debate where it is; its log goes on next time."""
        await self._taking_up.close(1)
        await self._debates.close(STOP_SECONDS)
        alarms = list(self._alarms.values())
        for alarm in alarms:
            alarm.cancel()
        await asyncio.gather(*alarms, return_exceptions=True)

    async def _take_up(self, _: str) -> None:
        pause = FIRST_PAUSE
        while (found := await self._unfinished()) is None:
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        for debate_id in found:
            self.wake(debate_id)

    async def _unfinished(self) -> Sequence[str] | None:
        try:
            return await self._store.unfinished()
        except StoreError as error:
            _log.warning("cannot look for unfinished debates", reason=str(error))
            return None

    async def _hold(self, debate_id: str) -> None:
        """Advance one debate until it has ended, through whatever passes."""
        bind_debate(debate_id)
        pause, faults = FIRST_PAUSE, 0
        while (came_to := await self._advance(debate_id)) is not _CameTo.END:
            faults += came_to is _CameTo.FAULT
            if faults > MOST_FAULTS:
                await self._give_up(debate_id)
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _advance(self, debate_id: str) -> _CameTo:
        try:
            debate = await self._engine.run(debate_id)
        except (RunLost, DebateUnknown) as error:
            _log.warning("let go", reason=str(error))
        except (StoreError, ConnectionError, TimeoutError) as error:
            _log.warning("interrupted, trying again", reason=str(error))
            return _CameTo.INTERRUPTION
        except Exception:  # noqa: BLE001 - whatever it was, the debate must not die silently
            _log.exception("failed")
            return _CameTo.FAULT
        else:
            self._let_go(debate)
        return _CameTo.END

    def _let_go(self, debate: Debate) -> None:
        """It has ended, or only people or a time can bring it on."""
        is_parked = debate.status is Status.RUNNING
        _log.info("parked" if is_parked else "ended", status=debate.status.value)
        alarm = self._alarms.pop(debate.id, None)
        if alarm:
            alarm.cancel()
        due = schedule.due(debate) if is_parked else None
        if due:
            waking = self._wake_at(debate.id, due)
            self._alarms[debate.id] = asyncio.create_task(waking, name=f"alarm/{debate.id}")

    async def _wake_at(self, debate_id: str, due: datetime) -> None:
        """Wake a debate at that time. One that was woken before sets its own alarm anew."""
        await self._clock.sleep(max(0.0, (due - self._clock.now()).total_seconds()))
        if self._alarms.get(debate_id) is asyncio.current_task():
            del self._alarms[debate_id]
        self.wake(debate_id)

    async def _give_up(self, debate_id: str) -> None:
        """Record that a debate failed that fails again and again, so that people are told."""
        try:
            failed = DebateFailed(reason=_BROKEN)
            await self._store.append(debate_id, failed, at=self._clock.now())
        except StoreError:
            _log.exception("cannot record the failure")
