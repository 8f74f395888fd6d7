"""Debates that a backup brought back are held until somebody lets them go on."""

from collections.abc import Sequence
from typing import Protocol

import structlog

from core.debate.people import Person
from core.debate.people_events import DebatePaused
from core.errors import LogBroken
from core.use_cases.fact_log import FactLog
from core.use_cases.steer import pauses

_log = structlog.get_logger(__name__)

#: Nobody paused them.
_NOBODY = Person(id="", name="a restored backup")


class RestoredDebates(Protocol):
    """Lists the debates that were running in a restored backup. May raise `StoreDown`."""

    async def find_out(self) -> Sequence[str]:
        """Ids of those that run, until `mark_held` was called; none if nothing was restored."""
        ...

    async def mark_held(self) -> None:
        """Remember that they are held: the database is no backup any more."""
        ...

    async def debates(self) -> frozenset[str]:
        """Ids of all debates whose posts may be in Slack already."""
        ...


async def hold_restored(restored: RestoredDebates, facts: FactLog) -> frozenset[str]:
    """Hold what runs, if this database was restored; before any debate goes on.

    Returns:
        The debates whose posts must be looked for before they are sent.
    """
    for debate_id in await restored.find_out():
        try:
            debate = await facts.debate(debate_id)
        except LogBroken as error:  # no run goes on with it: there is nothing to hold
            _log.warning("not held", debate=debate_id, reason=str(error))
            continue
        if not debate.paused_by:
            await facts.record(debate_id, DebatePaused(by=_NOBODY, origin=pauses(debate)))
    await restored.mark_held()
    return await restored.debates()
