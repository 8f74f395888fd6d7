"""Debates are found in order, and read at once, because somebody waits for all of them."""

import asyncio
from collections.abc import Sequence

from core.errors import LogBroken, StoreError
from core.events import DebateStarted, Recorded
from core.store.memory import InMemoryStore
from core.testing import ManualClock, Members, a_setup
from core.use_cases.debate_cache import DebateCache
from core.use_cases.find import FindDebates, SearchHit

IDS = ["dabc2345", "dabc2346", "dabc2347"]


class CountingStore(InMemoryStore):
    """A store that takes its time to read, and counts who waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.most, self._reading = 0, 0
        self.broken = ""

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        self._reading += 1
        self.most = max(self.most, self._reading)
        await asyncio.sleep(0)
        self._reading -= 1
        if debate_id == self.broken:
            raise LogBroken("It is damaged.")
        return await super().events(debate_id, after=after)


class NoWords:
    """Nobody looks for words here."""

    async def find(
        self, workspace: str, channels: Sequence[str], text: str, limit: int
    ) -> Sequence[SearchHit]:
        del workspace, channels, text, limit
        return ()


async def found_in(store: CountingStore) -> tuple[Sequence[str], Sequence[str]]:
    """Ids of the debates of a channel that are listed, and of those that could not be read."""
    clock, unreadable = ManualClock(), list[str]()
    setup = a_setup()
    for item_id in IDS:
        await store.create(item_id, DebateStarted(setup=setup), origin=item_id, at=clock.now())

    def note(debate_id: str, _error: StoreError) -> None:
        unreadable.append(debate_id)

    people = Members({setup.place.channel})
    find = FindDebates(
        store=store,
        debates=DebateCache(store),
        index=NoWords(),
        people=people,
        on_unreadable=note,
    )
    listed = await find.in_channel(setup.place, "U1", limit=10)
    return [hit.debate.id for hit in listed], unreadable


async def test_one_that_cannot_be_read_is_left_out() -> None:
    store = CountingStore()
    store.broken = IDS[1]

    listed, unreadable = await found_in(store)

    assert (listed, unreadable) == ([IDS[2], IDS[0]], [IDS[1]])
