"""Models that are away or limit the rate of calls, shared by all calls of a process.

A model is away once a call has given it up. One call at a time probes it, with growing waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from core.debate.turn import Act
from core.errors import CallFailed, ProviderBusy, ProviderDown, ProviderError, TimeUp
from core.figures import duration
from core.ports import Clock
from core.retry import RetryPolicy


class ModelRef(NamedTuple):
    provider: str
    model: str


#: Failures in a row after which a call gives a model up. A busy model gets all tries.
FAILURES = 2
#: Acts without which a debate cannot go on. In these a silent model is given up after one failure
#: if another one can be asked. During other acts of a silent model the debate goes on.
BLOCKING_ACTS = frozenset({Act.CROSS_CHECK, Act.SYNTHESIS})
#: Waits between two probes of a model that is away.
PROBES = RetryPolicy(first_wait=1.0, longest_wait=20.0)
#: Upper bound, in seconds, on the wait that a vendor asks for.
_LONGEST_RATE_WAIT = 86_400.0


def is_outage(error: Exception) -> bool:
    """Whether the same call may succeed once the model is back."""
    return isinstance(error, ProviderDown | ProviderBusy)


@dataclass
class _ModelOutage:
    #: Shown to people.
    reason: str
    probe_at: datetime
    probes: int = 0


class ModelAvailability:
    def __init__(self, clock: Clock, probes: RetryPolicy = PROBES) -> None:
        self._clock = clock
        self._probes = probes
        self._away: dict[ModelRef, _ModelOutage] = {}
        #: The time until which each model refuses calls.
        self._limited_until: dict[ModelRef, datetime] = {}

    def limit_rate(self, ref: ModelRef, seconds: float) -> None:
        self._limited_until[ref] = self._clock.now() + timedelta(
            seconds=min(seconds, _LONGEST_RATE_WAIT)
        )

    async def wait_for_rate(self, ref: ModelRef, seconds_left: float) -> None:
        """Wait until the model accepts calls again.

        Raises:
            ProviderBusy: The wait would take `seconds_left` or longer.
        """
        now = self._clock.now()
        wait = (self._limited_until.get(ref, now) - now).total_seconds()
        if wait <= 0:
            return
        if wait >= seconds_left:
            text = f"{ref.provider} limits our rate for another {duration(round(wait))}."
            raise ProviderBusy(text, retry_after=wait)
        await self._clock.sleep(wait)

    def record_end(self, ref: ModelRef, error: CallFailed | None = None) -> None:
        """Mark the model as away or available after a call; `error` is None if it answered."""
        # A vendor that names a wait is not away; neither is a slow one.
        says_when = isinstance(error, ProviderBusy) and error.retry_after is not None
        if error is None or (isinstance(error, ProviderError) and not is_outage(error)):
            self._away.pop(ref, None)
        elif is_outage(error) and not says_when and not isinstance(error, TimeUp):
            now = self._clock.now()
            outage = self._away.setdefault(ref, _ModelOutage(reason="", probe_at=now))
            outage.reason = str(error)
            if outage.probe_at <= now:
                self._delay_probe(outage)

    def outage_reason(self, ref: ModelRef) -> str:
        """The reason not to ask the model now; empty if it may be asked.

        After the pause, the first caller gets the probe; for later callers the pause begins anew.
        """
        outage = self._away.get(ref)
        if outage is None:
            return ""
        if self._clock.now() < outage.probe_at:
            return outage.reason
        self._delay_probe(outage)
        return ""

    def retry_time(self, refs: Sequence[ModelRef], wait: float) -> datetime:
        """The earliest time to ask one of these models again.

        `wait` is the wait that a vendor asks for, in seconds (0: none).
        """
        now = self._clock.now()
        probes = [self._away[ref].probe_at for ref in refs if ref in self._away]
        soon = now + timedelta(seconds=max(wait, 0.0 if probes else self._probes.first_wait))
        return max(soon, min(probes, default=now))

    def _delay_probe(self, outage: _ModelOutage) -> None:
        outage.probes += 1
        wait = self._probes.wait_after(outage.probes) or 0.0
        outage.probe_at = self._clock.now() + timedelta(seconds=wait)
