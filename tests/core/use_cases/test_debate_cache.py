"""What is known of debates, and what is read again."""

from collections.abc import Sequence

import pytest

from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent
from core.errors import DebateUnknown
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup
from core.use_cases.debate_cache import DebateCache

ID = "daaaaaaa"


class ReadingStore(InMemoryStore):
    """Notes from which event on logs are read, and fails where told."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []
        self.is_gone = False

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        self.reads.append(after)
        if self.is_gone:
            raise DebateUnknown(debate_id)
        return await super().events(debate_id, after=after)


async def a_store() -> ReadingStore:
    store = ReadingStore()
    await store.create(ID, DebateStarted(setup=a_setup()), origin="1", at=ManualClock().now())
    return store


async def test_a_deleted_debate_is_unknown_at_once() -> None:
    store = await a_store()
    cache = DebateCache(store)
    await cache.debate(ID)
    store.is_gone = True
    for _ in range(2):
        with pytest.raises(DebateUnknown):
            await cache.debate(ID)
    assert store.reads == [0, 1, 0]  # and nothing of it is held
