"""Mentions that were missed while the bot was not connected are handled later, unless too old."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bot.building import database_url
from bot.listeners.catch_up import CatchUp
from bot.listeners.mentions import MENTION
from bot.operations.backup import EndedDebates
from bot.queue.rate_limits import FAST
from bot.slack.ids import note_id
from bot.testing import BotSpec, Team, key_of, running_bot
from core.clock import SystemClock
from core.ports import DebateEntry, DebateFilter
from core.store.database import Database
from core.testing import ManualClock, ScriptedProvider
from slack_on_loopback import Workspace
from tests.scenarios.test_missed import at_rest

QUESTION = "Kafka or PostgreSQL for our jobs?"
SPEC = BotSpec(provider=ScriptedProvider(), rounds=1)


async def debates(team: Team) -> Sequence[DebateEntry]:
    return await team.moot.store.find(DebateFilter(limit=100))


async def until_debates(team: Team, count: int) -> Sequence[DebateEntry]:
    while len(entries := await debates(team)) < count:
        await team.moot.context.clock.sleep(0.02)
    return entries


async def look_again(team: Team) -> None:
    """Search all channels for mentions once more."""
    await CatchUp(team.moot.context, FAST).read_all()


async def test_mentions_in_channel_and_thread_are_taken_at_the_next_start_each_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
        root = await team.say("We lose jobs when Redis restarts.", user="alex")
    mention = await team.say(f"@Moot {QUESTION}")
    await team.say("@Moot Redis or PostgreSQL, then?", root["ts"])
    await team.say("@Moot")
    entries: Sequence[DebateEntry] = []
    for _ in range(2):
        async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
            entries = await until_debates(team, 2)
            await workspace.wait_for(team.ephemeral_texts)
            await look_again(team)
            assert len(await debates(team)) == 2
            for entry in entries:
                await team.wait_for_end(await team.board_of(entry.debate_id))
    assert {entry.question for entry in entries} == {QUESTION, "Redis or PostgreSQL, then?"}
    assert entries[-1].asked_by == mention["user"]
    assert len(team.ephemeral_texts()) == 1
    links = [message for message in team.thread(root["ts"]) if "/asked/" in key_of(message)]
    assert len(links) == 2  # the way to the board, and the verdict


async def test_mentions_between_two_connections_are_taken(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
        await workspace.cut_sockets()
        await workspace.wait_for(lambda: not workspace.connected)
        await team.say(f"@Moot {QUESTION}")
        (entry,) = await until_debates(team, 1)
        await team.wait_for_end(await team.board_of(entry.debate_id))


async def test_an_old_mention_is_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    await workspace.say("dana", "architecture", f"@Moot {QUESTION}")
    workspace.remove_bot("architecture")  # so its own look at the start comes to nothing
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
        await at_rest()
        moot = workspace.app.bot_user
        await workspace.channel_action("dana", "invite", channel="architecture", member=moot)
        clock = ManualClock(team.moot.context.clock.now())
        clock.advance(2 * 60 * 60)
        await CatchUp(replace(team.moot.context, clock=clock), FAST).read_all()
        assert not await debates(team)
        await look_again(team)
        assert len(await debates(team)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", ["UPDATE events SET body = substr(body, 1, 9) WHERE seq = 3", "DELETE FROM debates"]
)
async def test_a_mention_about_a_debate_that_cannot_be_read_hides_no_other(
    workspace: Workspace, tmp_path: Path, damage: str
) -> None:
    database = tmp_path / "moot.db"
    async with running_bot(workspace, database=database, spec=SPEC) as team:
        board = await team.debate("Oak or ash?")
        await team.wait_for_end(board)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(damage)
    about = await team.say("@Moot why not ash?", board)
    await team.say(f"@Moot {QUESTION}")
    async with running_bot(workspace, database=database, spec=SPEC) as team:
        while not (
            entries := [debate for debate in await debates(team) if debate.question == QUESTION]
        ):
            await team.moot.context.clock.sleep(0.02)
        deliveries, origin = (
            team.moot.context.records.deliveries,
            note_id(about["channel"], about["ts"]),
        )
        assert await deliveries.knows(MENTION, origin)
        await team.wait_for_end(await team.board_of(entries[0].debate_id))


async def test_a_debate_that_was_deleted_does_not_begin_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
        await team.say(f"@Moot {QUESTION}")
        (entry,) = await until_debates(team, 1)
        await team.wait_for_end(await team.board_of(entry.debate_id))
    database = await Database.open(database_url(str(tmp_path / "moot.db")))
    await EndedDebates(database).purge(SystemClock().now())
    await database.close()
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=SPEC) as team:
        await look_again(team)
        assert not await debates(team)
