"""Debates that ended long ago are deleted while the bot runs, and no word of them is left."""

from datetime import timedelta
from pathlib import Path

from bot.operations.retention import EndedDebates
from bot.store.posts import Channel
from bot.store.search import DebateWords
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from tests.bot.operations.test_backup import NOW, bytes_of, fill


async def test_old_debates_of_all_workspaces_go_and_the_others_stay(location: str) -> None:
    async with await Database.open(location) as database:
        await fill(database)
        ended = EndedDebates(database)
        await ended.purge(NOW - timedelta(days=30))
        await ended.purge(NOW - timedelta(days=30))

        left = await SqlDebateStore(database).find(DebateFilter())
    assert {one.debate_id for one in left} == {"new", "run"}


async def test_no_word_is_left_in_any_byte_though_the_bot_goes_on(tmp_path: Path) -> None:
    canary = "xylophonecanary"
    location = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with await Database.open(location) as database:
        await fill(database)
        words = DebateWords(database)
        for number in range(40):
            await words.put("old", Channel("T1", "C1"), f"{canary} {number} words")
        assert canary in bytes_of(tmp_path)

        await EndedDebates(database).purge(NOW - timedelta(days=30))

        assert canary not in bytes_of(tmp_path)
        assert await words.find("T1", ["C1"], canary, 5) == []
