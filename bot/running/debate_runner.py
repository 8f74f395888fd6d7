"""Holding one debate: advanced through whatever passes, ended in words if we fail for good."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.log import bind_debate, logger
from core.errors import DebateUnknown, LogUnreadable, RunLost, StoreError
from core.events import DebateFailed
from core.models import Debate, Status
from core.ports import Clock, DebateStore

_log = logger(__name__)

#: Seconds before the first and the longest pause after something went wrong.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
#: Faults of ours in a row after which a debate is ended in words, not tried for ever.
MOST_FAULTS = 5
_BROKEN = "Moot itself failed while working on this debate; its log says how."


class Advances(Protocol):
    """The engine, as far as a runner needs it."""

    async def run(self, debate_id: str) -> Debate:
        """Advance the debate until it has ended."""
        ...

    def wake(self, debate_id: str) -> bool:
        """Tell a running debate that its log has grown; False if it is not running."""
        ...


class _Interrupted(Exception):
    """Something outside failed; it passes."""


class _Broken(Exception):
    """We failed; trying for ever would not help."""


@dataclass(frozen=True, kw_only=True)
class DebateRunner:
    """Holds debates, one call each."""

    engine: Advances
    store: DebateStore
    clock: Clock
    #: Debates whose log is damaged: they are not looked at again before the next start.
    _damaged: set[str] = field(default_factory=set[str], init=False)

    async def hold(self, debate_id: str) -> Debate | None:
        """Advance one debate until it has ended or only people or a time can bring it on.

        Returns None when there is nothing to hold: another run has it, nobody knows it, or its log
        cannot be read.
        """
        if debate_id in self._damaged:
            return None
        bind_debate(debate_id)
        pause, faults = FIRST_PAUSE, 0
        while True:
            try:
                return await self._advance(debate_id)
            except _Interrupted:
                pass
            except _Broken:
                faults += 1
            if faults > MOST_FAULTS:
                await self._give_up(debate_id)
            await self.clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _advance(self, debate_id: str) -> Debate | None:
        try:
            debate = await self.engine.run(debate_id)
        except (RunLost, DebateUnknown) as error:
            _log.warning("let go", reason=str(error))
            return None
        except LogUnreadable as error:
            _log.error("given up until the next start", reason=str(error))
            self._damaged.add(debate_id)
            return None
        except (StoreError, ConnectionError, TimeoutError) as error:
            _log.warning("interrupted, trying again", reason=str(error))
            raise _Interrupted from error
        except Exception as error:
            _log.exception("failed")
            raise _Broken from error
        is_parked = debate.status is Status.RUNNING
        _log.info("parked" if is_parked else "ended", status=debate.status.value)
        return debate

    async def _give_up(self, debate_id: str) -> None:
        """Record that a debate failed that fails again and again, so that people are told."""
        try:
            failed = DebateFailed(reason=_BROKEN)
            await self.store.append(debate_id, failed, at=self.clock.now())
        except StoreError:
            _log.exception("cannot record the failure")


async def unfinished(store: DebateStore, clock: Clock) -> Sequence[str]:
    """Return the ids of unfinished debates; keeps trying while the database is down."""
    pause = FIRST_PAUSE
    while True:
        try:
            return await store.unfinished()
        except StoreError as error:
            _log.warning("cannot look for unfinished debates", reason=str(error))
        await clock.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
