"""Finds debates by id, channel or words. People never see debates of channels they are not in."""

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

#: Logs that one list reads at the same time, so that it does not delay other readers.
_AT_ONCE = 3
#: Entries searched for the channel of a debate whose own log is unreadable.
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
        """Return the debates of these channels that contain all the words, best match first."""
        ...


@dataclass(frozen=True, kw_only=True)
class FoundDebate:
    debate: Debate
    #: The text around the match; empty if the debate was not found by words.
    excerpt: str = ""


@dataclass(frozen=True, kw_only=True)
class FindDebates:
    """Finds debates that the person may see. Every method may raise `StoreDown`."""

    store: DebateStore
    debates: DebateCache
    index: SearchIndex
    people: PeopleDirectory
    on_unreadable: OnUnreadable

    async def visible(self, debate_id: str, *, person: str, workspace: str) -> Debate:
        """Return a debate of a channel that this person is in.

        Raises:
            BadInput: There is no such debate, or the person may not see it (the same text).
            LogBroken: Its log is unreadable. Raised only for members of its channel.
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
            filters = DebateFilter(
                workspace=workspace, channels=tuple(channels), limit=_MOST_ENTRIES
            )
            entries = await self.store.find(filters) if channels else ()
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
        return await self._load(hits)

    async def newest(
        self, workspace: str, channels: Collection[str], limit: int, *, open_only: bool = False
    ) -> Sequence[FoundDebate]:
        """Return the newest debates of channels. The caller has checked that the person is in."""
        filters = DebateFilter(
            workspace=workspace, channels=tuple(channels), limit=limit, open_only=open_only
        )
        entries = await self.store.find(filters) if channels else ()
        return await self._load(SearchHit(entry.debate_id, "") for entry in entries)

    async def _load(self, hits: Iterable[SearchHit]) -> Sequence[FoundDebate]:
        # Concurrently: a person waits for the answer.
        slots = asyncio.Semaphore(_AT_ONCE)
        debates = await asyncio.gather(*(self._found_debate(hit, slots) for hit in hits))
        return [debate for debate in debates if debate]

    async def _found_debate(self, hit: SearchHit, slots: asyncio.Semaphore) -> FoundDebate | None:
        with leaving_out(hit.debate_id, self.on_unreadable):
            async with slots:
                debate = await self.debates.debate(hit.debate_id)
            format_of(debate)  # raises for a format that only a newer Moot knows
            return FoundDebate(debate=debate, excerpt=hit.excerpt)
        return None
