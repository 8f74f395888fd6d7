"""Waits a vendor asked one call for, kept by all calls of the same model."""

from collections.abc import Hashable
from datetime import datetime, timedelta

from core.errors import ProviderBusy
from core.ports import Clock

#: No pause is longer, whatever a header says.
_A_DAY = 86_400.0


class RateLimitWaits:
    """Until when each model does not want to be asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[Hashable, datetime] = {}

    def note(self, model: Hashable, error: Exception) -> None:
        """Keep in mind what the vendor asked for, if it did."""
        if isinstance(error, ProviderBusy) and error.retry_after:
            wait = timedelta(seconds=min(error.retry_after, _A_DAY))
            self._until[model] = self._clock.now() + wait

    async def over(self, model: Hashable, seconds_left: float) -> None:
        """Wait until the model wants to be asked.

        Args:
            model: Which one.
            seconds_left: How long can be waited at most.

        Raises:
            ProviderBusy: That is later.
        """
        until = self._until.get(model)
        wait = (until - self._clock.now()).total_seconds() if until else 0.0
        if wait <= 0:
            return
        if wait >= seconds_left:
            raise ProviderBusy("The provider limits our rate.", retry_after=wait)
        await self._clock.sleep(wait)
