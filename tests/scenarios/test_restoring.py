"""A backup made in the middle of a debate is restored: nothing is debated or posted twice."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.operations.backup import back_up, restore
from bot.slack.ids import ActionId
from bot.testing import BotSpec, key_of, quick_workspace, running_bot
from core.debate.rules import Clarifying
from core.debate.turn import Act
from core.errors import BadInput, StoreDown
from core.request import ModelReply, ModelRequest
from core.testing import ScriptedProvider
from slack_on_loopback import run_workspace

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


class UpToTheVote(ScriptedProvider):
    """Answers no ballot before it may, so that a debate is in its middle however busy we are."""

    def __init__(self) -> None:
        super().__init__()
        self.may_vote = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if request.act is Act.BALLOT:
            await self.may_vote.wait()
        return await super().complete(request, on_first_token)


@pytest.mark.slow
@pytest.mark.parametrize("by_hand", [False, True], ids=["command", "by hand"])
async def test_a_restored_debate_is_held_and_posts_nothing_that_is_there(
    tmp_path: Path, *, by_hand: bool
):
    database, copy = tmp_path / "moot.db", tmp_path / "copy.db"
    provider = UpToTheVote()
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(
            workspace, database=database, spec=BotSpec(provider=provider)
        ) as team:
            board = await team.debate(QUESTION)
            await team.wait_for_posts(3, board)
            await asyncio.to_thread(back_up, str(database), copy)
            provider.may_vote.set()
            await team.wait_for_end(board)
        keys, calls = [key_of(message) for message in team.thread(board)], len(provider.requests)
        if by_hand:
            for ending in ("-wal", "-shm"):
                database.with_name(f"moot.db{ending}").unlink(missing_ok=True)
            copy.replace(database)
        else:
            assert await asyncio.to_thread(restore, str(database), copy)
        async with running_bot(
            workspace, database=database, spec=BotSpec(provider=provider)
        ) as team:
            await workspace.wait_for(lambda: "Debate held" in team.thread(board)[0]["text"])
            await team.wait_until_sent()
            assert [key_of(message) for message in team.thread(board)] == keys
            assert len(provider.requests) == calls
            await team.click(board, ActionId.RESUME.value)
            debate = await team.wait_for_end(board)
        after = [key_of(message) for message in team.thread(board) if key_of(message)]
        verdicts = [
            message
            for message in team.thread(board)
            if message.get("subtype") == "thread_broadcast"
        ]
    assert len(set(after)) == len(after)
    assert not debate.paused_by
    assert len(verdicts) >= 1


async def test_a_damaged_debate_in_a_backup_keeps_neither_the_bot_nor_the_others_back(
    tmp_path: Path,
):
    database, copy = tmp_path / "moot.db", tmp_path / "copy.db"
    # Both wait for people, so that neither ends before the backup is made.
    spec = BotSpec(clarifying=Clarifying(enabled=True, wait_seconds=600))
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            boards = [await team.debate("Oak or ash?"), await team.debate(QUESTION)]
            for board in boards:
                await workspace.wait_for(lambda board=board: team.replies(board))
            ids = [team.debate_id(board) for board in boards]
            await asyncio.to_thread(back_up, str(database), copy)
        with closing(sqlite3.connect(copy)) as connection, connection:
            cut = "UPDATE events SET body = substr(body, 1, 9) WHERE debate_id = ? AND seq = 2"
            assert connection.execute(cut, ids[:1]).rowcount
        assert await asyncio.to_thread(restore, str(database), copy)
        async with running_bot(workspace, database=database, spec=spec) as team:
            other = boards[1]
            await workspace.wait_for(lambda: "Debate held" in team.thread(other)[0]["text"])
            assert (await team.moot.health.report()).healthy


async def test_a_database_in_use_and_a_missing_backup_are_refused(tmp_path: Path):
    database, copy = tmp_path / "moot.db", tmp_path / "copy.db"
    with pytest.raises(BadInput, match="no backup"):
        await asyncio.to_thread(restore, str(database), copy)
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, database=database),
    ):
        await asyncio.to_thread(back_up, str(database), copy)
        with pytest.raises(StoreDown):
            await asyncio.to_thread(restore, str(database), copy)
