"""Pauses the debates of a restored backup until a person resumes them."""

from collections.abc import Sequence
from typing import Protocol

import structlog

from core.debate.people import Person
from core.debate.people_events import DebatePaused
from core.errors import LogBroken
from core.use_cases.fact_log import FactLog
from core.use_cases.steer import pauses

_log = structlog.get_logger(__name__)

#: Recorded as the person who paused these debates.
_NOBODY = Person(id="", name="a restored backup")


class RestoredDebates(Protocol):
    """Lists the debates that were running in a restored backup. May raise `StoreDown`."""

    async def find_running(self) -> Sequence[str]:
        """Return the ids of running debates in a restored backup, until `mark_paused` is called."""
        ...

    async def mark_paused(self) -> None:
        """Record that the debates are paused, so that later starts do not pause them again."""
        ...

    async def debates(self) -> frozenset[str]:
        """Return the ids of all debates of the backup: their posts may be in Slack already."""
        ...


async def pause_restored(restored: RestoredDebates, facts: FactLog) -> frozenset[str]:
    """Pause running debates if this database was restored. Call it before any debate resumes.

    Returns:
        Ids of debates whose posts must be searched in Slack before they are sent.
    """
    for debate_id in await restored.find_running():
        try:
            debate = await facts.debate(debate_id)
        except LogBroken as error:  # the engine cannot run it: there is nothing to pause
            _log.warning("not held", debate=debate_id, reason=str(error))
            continue
        if not debate.paused_by:
            await facts.record(debate_id, DebatePaused(by=_NOBODY, origin=pauses(debate)))
    await restored.mark_paused()
    return await restored.debates()
