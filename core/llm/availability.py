"""Which models do not answer or want no calls at present, known to all calls of a process.

A model is away once a call has given it up; one call at a time probes it, with waits that grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from core.debate.turn import Act
from core.errors import CallFailed, ProviderBusy, ProviderDown, ProviderError, TimeUp
from core.ports import Clock
from core.retry import RetryPolicy


class ModelRef(NamedTuple):
    provider: str
    model: str


#: Failures in a row after which a call gives a model up. One that is only busy gets all tries.
FAILURES = 2
#: What a debate cannot go on without: a model that is silent then is given up after one failure
#: where another one can be asked. Beside other turns of a silent model the rest goes on.
ALL_WAIT_FOR = frozenset({Act.CROSS_CHECK, Act.SYNTHESIS})
#: Waits between two probes of a model that is away.
PROBES = RetryPolicy(first_wait=1.0, longest_wait=20.0)
#: No wait that a vendor asks for is longer, whatever a header says.
_A_DAY = 86_400.0


def is_outage(error: Exception) -> bool:
    """Whether the same question may be answered once the model is back."""
    return isinstance(error, ProviderDown | ProviderBusy)


@dataclass
class _ModelOutage:
    #: Words for people.
    reason: str
    probe_at: datetime
    probes: int = 0


class ModelAvailability:
    def __init__(self, clock: Clock, probes: RetryPolicy = PROBES) -> None:
        self._clock = clock
        self._probes = probes
        self._away: dict[ModelRef, _ModelOutage] = {}
        #: Until when each model does not want to be asked.
        self._limited: dict[ModelRef, datetime] = {}

    def limits_rate(self, ref: ModelRef, seconds: float) -> None:
        self._limited[ref] = self._clock.now() + timedelta(seconds=min(seconds, _A_DAY))

    async def wait_for_rate(self, ref: ModelRef, seconds_left: float) -> None:
        """Wait until the model wants to be asked.

        Raises:
            ProviderBusy: That is later than in `seconds_left`.
        """
        now = self._clock.now()
        wait = (self._limited.get(ref, now) - now).total_seconds()
        if wait <= 0:
            return
        if wait >= seconds_left:
            raise ProviderBusy("The provider limits our rate.", retry_after=wait)
        await self._clock.sleep(wait)

    def note(self, ref: ModelRef, error: CallFailed | None = None) -> None:
        """Remember what the end of a call says about its model; None: it answered."""
        # A vendor that says when to come back is not away, nor is one that is slow.
        says_when = isinstance(error, ProviderBusy) and error.retry_after is not None
        if error is None or (isinstance(error, ProviderError) and not is_outage(error)):
            self._away.pop(ref, None)
        elif is_outage(error) and not says_when and not isinstance(error, TimeUp):
            now = self._clock.now()
            outage = self._away.setdefault(ref, _ModelOutage(reason="", probe_at=now))
            outage.reason = str(error)
            if outage.probe_at <= now:
                self._put_off(outage)

    def why_not(self, ref: ModelRef) -> str:
        """Why the model is not to be asked now; empty if it is.

        The first caller after the pause probes it; others still wait.
        """
        outage = self._away.get(ref)
        if outage is None:
            return ""
        if self._clock.now() < outage.probe_at:
            return outage.reason
        self._put_off(outage)
        return ""

    def until(self, refs: Sequence[ModelRef], wait: float) -> datetime:
        """When one of these models is worth asking again; a vendor may ask us to `wait`."""
        now = self._clock.now()
        probes = [self._away[ref].probe_at for ref in refs if ref in self._away]
        soon = now + timedelta(seconds=max(wait, 0.0 if probes else self._probes.first_wait))
        return max(soon, min(probes, default=now))

    def _put_off(self, outage: _ModelOutage) -> None:
        outage.probes += 1
        wait = self._probes.wait_after(outage.probes) or 0.0
        outage.probe_at = self._clock.now() + timedelta(seconds=wait)
