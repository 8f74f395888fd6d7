"""Replies that were missed while the bot was not connected are recorded later, each once."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.queue.rate_limits import FAST
from bot.slack.connection.bursts import BurstLimits
from bot.testing import BotSpec, Team, running_bot
from core.clock import SystemClock
from core.debate.rules import Clarifying
from core.debate.state import Debate
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from core.use_cases.limits import Bounds
from slack_on_loopback import Workspace
from tests.locked import locked
from tests.scenarios.test_clarifications import (
    answers_of,
    asking,
    card_saying,
    questions_posted,
)

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
ANSWERS = ("1: ten", "2: two people", "3: none", "Ask Alex as well.")

Bot = Callable[[BotSpec], AbstractAsyncContextManager[Team]]


@pytest.fixture
def bot(workspace: Workspace, tmp_path: Path) -> Bot:
    """Run a bot with the same database each time."""
    return lambda spec: running_bot(workspace, database=tmp_path / "moot.db", spec=spec)


def waiting(seconds: float) -> BotSpec:
    """Agents that ask for clarifications and wait that long for answers."""
    clarifying = Clarifying(enabled=True, wait_seconds=seconds)
    return BotSpec(provider=ScriptedProvider(asking), rounds=1, clarifying=clarifying)


def notes_of(debate: Debate) -> list[str]:
    return [note.text for note in debate.notes]


@pytest.mark.slow
async def test_answers_given_while_the_bot_was_down_count_though_their_time_is_over(
    bot: Bot,
) -> None:
    spec = waiting(5)
    async with bot(spec) as team:
        board, _ = await questions_posted(team)
    for text in ANSWERS:
        await team.say(text, board)
    await asyncio.sleep(5)
    async with bot(spec) as team:
        debate = await team.wait_for_end(board)
    texts = answers_of(debate)
    assert texts == {1: "ten", 2: "two people", 3: "none"}
    assert all(answer.by for answer in debate.answers.values())
    assert notes_of(debate) == ["Ask Alex as well."]


async def test_each_message_is_taken_once_however_often_the_bot_starts(
    bot: Bot, workspace: Workspace
) -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models)
    async with bot(spec) as team:
        board = await team.debate(QUESTION)
        await team.say("Heard.", board)
        await team.wait_for_log(board, notes_of)
    await team.say("Not heard.", board)
    for _ in range(2):
        async with bot(spec) as team:
            await team.wait_for_log(board, lambda debate: len(debate.notes) > 1)
            await at_rest()
            assert notes_of(await team.debate_at(board)) == ["Heard.", "Not heard."]
    workspace.faults.rate_limit("conversations.replies", seconds=0.1)
    async with bot(spec) as team:
        await at_rest()
        models.let_go()
        assert notes_of(await team.wait_for_end(board)) == ["Heard.", "Not heard."]


async def test_what_is_refused_is_refused_once(bot: Bot, workspace: Workspace) -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models, bounds=Bounds(note_characters=20))
    async with bot(spec) as team:
        board = await team.debate(QUESTION)
        await team.say("Far too long to be taken as a note.", board)
        await workspace.wait_for(lambda: len(team.ephemeral_texts()) == 2)
    async with bot(spec) as team:
        await at_rest()
        models.let_go()
        await team.wait_for_end(board)
        assert len([words for words in team.ephemeral_texts() if "characters" in words]) == 1


async def test_a_reply_that_was_rejected_as_too_fast_is_not_read_after_a_new_connection(
    bot: Bot, workspace: Workspace
) -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models, burst_limits=BurstLimits(events=1))
    async with bot(spec) as team:
        board = await team.debate(QUESTION)
        await team.say("The first.", board, user="alex")
        await team.say("Too fast.", board, user="alex")
        await workspace.wait_for(lambda: "write faster" in str(team.ephemeral_texts("alex")))
        await workspace.cut_sockets()
        await team.say("After a while.", board, user="priya")
        await team.wait_for_log(board, lambda debate: "After a while." in notes_of(debate))
        await at_rest()
        assert notes_of(await team.debate_at(board)) == ["The first.", "After a while."]


@pytest.mark.slow
async def test_long_threads_are_read_to_their_end(bot: Bot) -> None:
    spec = replace(waiting(600), bounds=Bounds(notes_per_debate=300, notes_per_person_hour=300))
    async with bot(spec) as team:
        board, _ = await questions_posted(team)
    for number in range(202):
        await team.say(f"Note {number}.", board)
    async with bot(spec) as team:
        while len((debate := await team.debate_at(board)).notes) < 202:
            await team.moot.context.clock.sleep(0.5)  # each check folds the whole log
    assert notes_of(debate) == [f"Note {number}." for number in range(202)]


async def test_what_was_said_between_two_connections_is_read(
    bot: Bot, workspace: Workspace
) -> None:
    async with bot(waiting(600)) as team:
        board, _ = await questions_posted(team)
        await workspace.cut_sockets()
        await workspace.wait_for(lambda: not workspace.connected)
        for text in ANSWERS:
            await team.say(text, board)
        debate = await team.wait_for_end(board, seconds=60)
    assert notes_of(debate) == ["Ask Alex as well."]


async def test_a_thread_that_cannot_be_read_holds_up_no_debate(
    bot: Bot, workspace: Workspace
) -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models)
    async with bot(spec) as team:
        board = await team.debate(QUESTION)
    workspace.faults.server_error("conversations.replies", times=None)
    models.let_go()
    async with bot(spec) as team:
        await team.wait_for_end(board)


async def test_files_of_a_reply_that_was_edited_while_the_bot_was_down_are_taken(
    bot: Bot, workspace: Workspace
) -> None:
    spec = waiting(600)
    async with bot(spec) as team:
        board, _ = await questions_posted(team)
    shared = await workspace.share_file(
        team.user, team.channel, "load.csv", b"month,jobs\nMarch,2000\n", thread_ts=board
    )
    await workspace.edit(team.user, team.channel, shared["ts"], "2: see the load")
    async with bot(spec) as team:
        await card_saying(team, board, "see the load")
        debate = await team.debate_at(board)
    assert [reference.title for reference in debate.references] == ["load.csv"]
    assert notes_of(debate) == ["[Attached as evidence: load.csv]"]


async def test_edits_and_deletions_made_while_the_bot_was_down_count(
    bot: Bot, workspace: Workspace
) -> None:
    async with bot(waiting(600)) as team:
        board, _ = await questions_posted(team)
        note = await team.say("We are three. Or four.", board)
        other = await team.say("Nobody knows Kafka here.", board)
        await team.workspace.wait_for(
            lambda: (
                sum("eyes" in str(message.get("reactions")) for message in team.thread(board)) == 2
            )
        )
        first = await team.say("1: ten", board)
        second = await team.say("2: none", board)
        await card_saying(team, board, "1 question still open")
    await workspace.edit(team.user, team.channel, first["ts"], "1: twenty")
    await workspace.delete(team.user, team.channel, second["ts"])
    await workspace.edit(team.user, team.channel, note["ts"], "We are four.")
    await workspace.delete(team.user, team.channel, other["ts"])
    async with bot(waiting(600)) as team:
        await card_saying(team, board, "2 questions still open")
        debate = await team.debate_at(board)
        debate = await team.wait_for_log(board, lambda debate: notes_of(debate) == ["We are four."])
    assert answers_of(debate) == {1: "twenty"}
    assert notes_of(debate) == ["We are four."]


async def test_who_wrote_under_a_debate_that_had_ended_is_told_so_once(
    bot: Bot, workspace: Workspace
) -> None:
    spec = BotSpec(rounds=1)
    async with bot(spec) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
    await workspace.say("alex", team.channel, "We are only two people.", board)

    for _ in range(2):
        async with bot(spec) as team:
            await workspace.wait_for(lambda: team.ephemeral_texts("alex"))
            await team.wait_until_sent()

    assert len(team.ephemeral_texts("alex")) == 1
    assert "has ended" in team.ephemeral_texts("alex")[0]


@asynccontextmanager
async def locked_until(event: str, database: Path) -> AsyncGenerator[None]:
    """Lock a database during the block, and after it until `event` was logged."""
    with capture_logs() as logs:
        async with locked(database):
            yield
            while not any(line["event"] == event for line in logs):
                await SystemClock().sleep(0.05)


async def at_rest() -> None:
    """Wait until the bot has read all threads and channels."""
    while any(task.get_name().startswith("Scope(") for task in asyncio.all_tasks()):
        await SystemClock().sleep(0.02)


#: The next try after an error is an hour later.
PATIENT = replace(FAST, longest_pause=3600)


async def test_a_note_that_the_database_did_not_take_is_read_again_as_soon_as_it_does(
    bot: Bot, tmp_path: Path
) -> None:
    database, spec = tmp_path / "moot.db", replace(waiting(600), pace=PATIENT)
    async with bot(spec) as team:
        board, _ = await questions_posted(team)
        await at_rest()
        async with locked_until("thread not read", database):
            await team.say(ANSWERS[-1], board)
        while not (notes := notes_of(await team.debate_at(board))):
            await team.moot.context.clock.sleep(0.05)
    assert notes == [ANSWERS[-1]]


async def test_a_mention_that_the_database_did_not_take_is_read_again_as_soon_as_it_does(
    bot: Bot, tmp_path: Path
) -> None:
    database, spec = tmp_path / "moot.db", BotSpec(rounds=1, pace=PATIENT)
    async with bot(spec) as team:
        await at_rest()
        async with locked_until("channel not looked through", database):
            await team.say(f"@Moot {QUESTION}")
        while not (entries := await team.moot.store.find(DebateFilter())):
            await team.moot.context.clock.sleep(0.05)
    assert [entry.question for entry in entries] == [QUESTION]


async def test_a_thread_that_slack_does_not_show_hides_no_message_of_another(
    bot: Bot, workspace: Workspace, tmp_path: Path
) -> None:
    database, spec = tmp_path / "moot.db", replace(waiting(600), pace=PATIENT)
    async with bot(spec) as team:
        board, _ = await questions_posted(team)
    workspace.faults.server_error("conversations.replies", times=1)
    async with bot(spec) as team:
        async with locked_until("thread not read", database):
            await team.say(ANSWERS[-1], board)
        while not (notes := notes_of(await team.debate_at(board))):
            await team.moot.context.clock.sleep(0.05)
    assert notes == [ANSWERS[-1]]
