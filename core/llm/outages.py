"""Which models do not answer at present, known to all calls of a process.

A model is away once a call has given it up: its fallback, or the other agents, go on. One call at
a time probes it, with waits that grow; everybody who waits for it goes on at once when it answers.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.errors import ProviderBusy, ProviderDown
from core.llm.call_options import ModelRef
from core.models import Act
from core.ports import Clock
from core.retry import RetryPolicy

#: Failures in a row after which a call gives a model up. One that is only busy gets all tries.
FAILURES = 2
#: What a debate cannot go on without: a model that is silent then is given up after one failure
#: where another one can be asked. Beside other turns of a silent model the rest goes on.
ALL_WAIT_FOR = frozenset({Act.CROSS_CHECK, Act.SYNTHESIS})
#: Waits between two probes of a model that is away.
PROBES = RetryPolicy(first_wait=1.0, longest_wait=20.0)


def is_outage(error: Exception) -> bool:
    """Whether the same question may be answered once the model is back."""
    return isinstance(error, ProviderDown | ProviderBusy)


@dataclass
class _Away:
    """A model that was given up and has not answered since."""

    reason: str
    probe_at: datetime
    probes: int = 0
    back: asyncio.Event = field(default_factory=asyncio.Event)


class Outages:
    """Remembers which models are away, and when to try them again."""

    def __init__(self, clock: Clock, probes: RetryPolicy = PROBES) -> None:
        self._clock = clock
        self._probes = probes
        self._away: dict[ModelRef, _Away] = {}
        self._comebacks = Counter[ModelRef]()

    def gave_up(self, ref: ModelRef, reason: str) -> None:
        """Note that a call gave the model up: it is down, hangs, or stayed busy.

        Args:
            ref: The model.
            reason: Words for people.
        """
        now = self._clock.now()
        known = self._away.setdefault(ref, _Away(reason=reason, probe_at=now))
        known.reason = reason
        if known.probe_at <= now:
            self._put_off(known)

    def answered(self, ref: ModelRef) -> None:
        """Note that the model is there; everybody who waits for it goes on."""
        known = self._away.pop(ref, None)
        if known:
            self._comebacks[ref] += 1
            known.back.set()

    def comebacks(self, refs: Sequence[ModelRef]) -> int:
        """How often one of these models was away and answered again."""
        return sum(self._comebacks[ref] for ref in refs)

    def why_not(self, ref: ModelRef) -> str:
        """Why the model is not to be asked now; empty if it is.

        Whoever asks first when it may be tried again, probes it: others still wait.
        """
        known = self._away.get(ref)
        if known is None:
            return ""
        if self._clock.now() < known.probe_at:
            return known.reason
        self._put_off(known)
        return ""

    async def pause(self, refs: Sequence[ModelRef], most: float, *, since: int) -> None:
        """Wait until one of these models is back or may be probed.

        Args:
            refs: The models.
            most: Seconds to wait at most.
            since: Their `comebacks` before they were asked: one that came back since is not waited
                for, as nobody else would wake us.
        """
        if self.comebacks(refs) != since:
            return
        now = self._clock.now()
        away = [self._away[ref] for ref in refs if ref in self._away]
        waits = [most, *((known.probe_at - now).total_seconds() for known in away)]
        backs = [asyncio.create_task(known.back.wait()) for known in away]
        slept = asyncio.ensure_future(self._clock.sleep(max(0.0, min(waits))))
        try:
            await asyncio.wait({slept, *backs}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (slept, *backs):
                task.cancel()

    def _put_off(self, known: _Away) -> None:
        """Set the time of the next probe."""
        known.probes += 1
        wait = self._probes.wait_after(known.probes) or 0.0
        known.probe_at = self._clock.now() + timedelta(seconds=wait)
