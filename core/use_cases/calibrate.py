"""Counts how accepted decisions turned out, of the channels that somebody may see."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from core.calibration import Case, case_of
from core.debate.log import RecordedEvent, fold
from core.errors import reading
from core.ports import DebateFilter, DebateStore
from core.recent import Recent
from core.use_cases.debate_cache import OnUnreadable, leaving_out

#: Debates that are kept in memory, of all workspaces.
_REMEMBERED = 20_000
#: How keys begin of what makes a debate count: the team's decisions, and how they turned out.
_DECIDED = ("decision/", "outcome/")


def _case(log: Sequence[RecordedEvent]) -> Case | None:
    debate = fold(log)
    with reading(debate.id):
        return case_of(debate)


@dataclass(kw_only=True)
class CountOutcomes:
    """Reads each debate's log once, and again when it has grown."""

    store: DebateStore
    on_unreadable: OnUnreadable
    #: By debate: how far its log was read, and what it counts as.
    _known: Recent[str, tuple[int, Case | None]] = field(
        default_factory=lambda: Recent(_REMEMBERED), init=False
    )

    async def cases(
        self, workspace: str | None, channels: Collection[str] | None, limit: int
    ) -> Sequence[Case]:
        """Return the accepted decisions of these channels, newest first.

        Args:
            workspace: Where; None: anywhere.
            channels: Those the caller knows the person to be in; None: all.
            limit: So many debates with a decision are looked at.
        """
        if channels is not None and not channels:
            return ()
        channel_ids = None if channels is None else tuple(channels)
        filters = DebateFilter(
            workspace=workspace, channels=channel_ids, having=_DECIDED, limit=limit
        )
        cases: list[Case] = []
        for entry in await self.store.find(filters):
            with leaving_out(entry.debate_id, self.on_unreadable):
                read, case = self._known.get(entry.debate_id, (0, None))
                log = await self.store.events(entry.debate_id, after=read)
                if log:
                    whole = log if not read else await self.store.events(entry.debate_id)
                    # A long log takes a while, and others wait for this thread.
                    case = await asyncio.to_thread(_case, whole)
                    self._known[entry.debate_id] = (whole[-1].seq, case)
                if case:
                    cases.append(case)
        return cases
