"""Holding one debate: advanced through whatever passes, ended in words if we fail for good."""

from dataclasses import dataclass, field
from typing import Protocol

from bot.log import bind_debate, logger
from core.debate.debate_events import DebateFailed
from core.debate.log import fold
from core.debate.state import Debate, Status
from core.errors import DebateUnknown, LogBroken, RunLost, StoreError
from core.ports import Clock, DebateStore
from core.recent import Recent
from core.retry import RetryPolicy, retry

_log = logger(__name__)

#: Something outside failed, or we did: tried again for as long as it takes.
RETRIES = RetryPolicy(first_wait=0.5, longest_wait=60.0)
#: Faults of ours in a row after which a debate is ended in words, not tried for ever.
MOST_FAULTS = 5
_REMEMBERED = 1000
_BROKEN = "Moot itself failed while working on this debate; its log says how."


class DebateEngine(Protocol):
    """The engine, as far as a runner needs it."""

    async def run(self, debate_id: str) -> Debate:
        """Advance the debate until it has ended."""
        ...

    def wake(self, debate_id: str) -> bool:
        """Tell a running debate that its log has grown; False if it is not running."""
        ...


@dataclass(frozen=True, kw_only=True)
class DebateRunner:
    """Holds debates, one call each."""

    engine: DebateEngine
    store: DebateStore
    clock: Clock

    #: Debates whose log is broken: they are not looked at again before the next start.
    _broken: set[str] = field(default_factory=set[str], init=False, repr=False)

    #: Which end of a debate was logged last; 0 while it runs.
    _ended: Recent[str, int] = field(
        default_factory=lambda: Recent[str, int](_REMEMBERED), init=False, repr=False
    )

    async def hold(self, debate_id: str) -> Debate | None:
        """Advance one debate until it has ended or only people or a time can bring it on.

        Returns None when there is nothing to hold: another run has it, nobody knows it, or its log
        cannot be read.
        """
        if debate_id in self._broken:
            return None
        bind_debate(debate_id)
        faults = 0

        async def advance() -> Debate:
            if faults > MOST_FAULTS:
                # It fails again and again: recorded, so that people are told.
                try:
                    edition = fold(await self.store.events(debate_id)).edition
                    failed = DebateFailed(reason=_BROKEN, edition=edition)
                    await self.store.append(debate_id, failed, at=self.clock.now())
                except StoreError:
                    _log.exception("cannot record the failure")
            return await self.engine.run(debate_id)

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
            debate = await retry(advance, RETRIES, self.clock.sleep, on=Exception, again=again)
        except (RunLost, DebateUnknown) as error:
            _log.warning("let go", reason=str(error))
            return None
        except LogBroken as error:
            self._broken.add(debate_id)
            _log.error("given up until the next start: its log is broken", reason=str(error))
            return None
        is_parked = debate.status is Status.RUNNING
        end = 0 if is_parked else debate.edition
        # Also an ended debate is looked at again: somebody voted, or decided.
        if is_parked or self._ended.get(debate_id) != end:
            _log.info("parked" if is_parked else "ended", status=debate.status.value)
        self._ended[debate_id] = end
        return debate
