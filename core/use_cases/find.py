"""People find debates: by id, of a channel, by words; never one of a channel they are not in."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.debate.people import Place
from core.debate.state import Debate
from core.errors import BadInput, DebateUnknown, LogBroken
from core.ports import DebateFilter, DebateStore, PeopleDirectory
from core.rules.formats.registry import format_of
from core.use_cases.fact_log import DebateCache, OnUnreadable, leaving_out

#: Logs that are asked for together: nobody else's reading is to wait for all of a long list.
_AT_ONCE = 3
#: Entries that are looked through for a debate whose own log cannot say where it is held.
_MOST_ENTRIES = 1000
NOT_A_MEMBER = "You are not in this channel; nothing was done."


@dataclass(frozen=True)
class SearchHit:
    debate_id: str
    excerpt: str


class SearchIndex(Protocol):
    """Finds debates by their words. May raise `StoreDown`."""

    async def find(
        self, workspace: str, channels: Sequence[str], text: str, limit: int
    ) -> Sequence[SearchHit]:
        """The debates of these channels that hold all the words, the best fit first."""
        ...


@dataclass(frozen=True, kw_only=True)
class FoundDebate:
    debate: Debate
    #: The words around what was looked for.
    excerpt: str = ""


@dataclass(frozen=True, kw_only=True)
class FindDebates:
    """Looks up debates the person may see. Every method may raise `StoreDown`."""

    store: DebateStore
    debates: DebateCache
    index: SearchIndex
    people: PeopleDirectory
    on_unreadable: OnUnreadable

    async def visible(self, debate_id: str, *, person: str, workspace: str) -> Debate:
        """Return a debate of a channel that this person is in.

        Raises:
            BadInput: There is none; the same words whether it exists or not.
            LogBroken: Its log cannot be read; only people of its channel learn that.
        """
        unknown = BadInput(
            f"There is no debate `{debate_id}`. `/debate list` shows this channel's debates."
        )
        try:
            debate = await self.debates.debate(debate_id)
        except DebateUnknown:
            raise unknown from None
        except LogBroken:
            channels = await self.people.channels_of(person, workspace)
            theirs = DebateFilter(
                workspace=workspace, channels=tuple(channels), limit=_MOST_ENTRIES
            )
            entries = await self.store.find(theirs) if channels else ()
            if debate_id in {entry.debate_id for entry in entries}:
                raise
            raise unknown from None
        place = debate.setup.place
        if place.workspace != workspace or not await self.people.may_see(person, place):
            raise unknown
        return debate

    async def in_channel(self, place: Place, person: str, limit: int) -> Sequence[FoundDebate]:
        if not await self.people.may_see(person, place):
            raise BadInput(NOT_A_MEMBER)
        return await self.newest(place.workspace, [place.channel], limit)

    async def everywhere(
        self, workspace: str, person: str, limit: int, *, open_only: bool = False
    ) -> Sequence[FoundDebate]:
        channels = await self.people.channels_of(person, workspace)
        return await self.newest(workspace, channels, limit, open_only=open_only)

    async def search(
        self, workspace: str, person: str, text: str, limit: int
    ) -> Sequence[FoundDebate]:
        channels = await self.people.channels_of(person, workspace)
        hits = await self.index.find(workspace, tuple(channels), text, limit)
        return await self._read(hits)

    async def newest(
        self, workspace: str, channels: Collection[str], limit: int, *, open_only: bool = False
    ) -> Sequence[FoundDebate]:
        """Return the newest debates of channels the caller knows the person to be in."""
        filters = DebateFilter(
            workspace=workspace, channels=tuple(channels), limit=limit, open_only=open_only
        )
        entries = await self.store.find(filters) if channels else ()
        return await self._read(SearchHit(entry.debate_id, "") for entry in entries)

    async def _read(self, hits: Iterable[SearchHit]) -> Sequence[FoundDebate]:
        # Concurrently: a person waits for the answer.
        few = asyncio.Semaphore(_AT_ONCE)
        debates = await asyncio.gather(*(self._found_debate(hit, few) for hit in hits))
        return [hit for hit in debates if hit]

    async def _found_debate(self, hit: SearchHit, few: asyncio.Semaphore) -> FoundDebate | None:
        with leaving_out(hit.debate_id, self.on_unreadable):
            async with few:
                debate = await self.debates.debate(hit.debate_id)
            format_of(debate)  # one of a newer Moot cannot be shown
            return FoundDebate(debate=debate, excerpt=hit.excerpt)
        return None
