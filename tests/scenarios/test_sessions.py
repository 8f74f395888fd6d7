"""Moot as an agent: Slack shows the title and status of a debate's thread, and a Stop button."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from bot.testing import BotSpec, Team, key_of, quick_workspace, running_bot, team_at_work
from core.debate.rules import Clarifying
from core.debate.turn import Act
from core.testing import ScriptedProvider
from slack_on_loopback import WorkspaceConfig, run_workspace

MANIFEST = Path(__file__).parents[2] / "manifest.agent.yaml"
QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
SET_STATUS = "agents.sessions.setStatus"


def with_agents() -> WorkspaceConfig:
    manifest = yaml.safe_load(MANIFEST.read_text("utf-8"))
    return replace(quick_workspace(), manifest=manifest)


def calls(team: Team, outcome: str = "ok") -> Sequence[Any]:
    return team.workspace.calls.of(SET_STATUS, outcome)


def statuses(team: Team) -> list[str]:
    return [call.args["status"] for call in calls(team)]


async def status_is(team: Team, board: str, status: str) -> None:
    def match() -> bool:
        session = team.workspace.session(team.channel, board)
        return session is not None and session.status == status

    await team.workspace.wait_for(match)


async def test_a_debate_has_a_title_and_a_status_as_long_as_it_is_worked_on():
    models = ScriptedProvider()
    clarifying = Clarifying(enabled=True, wait_seconds=600)
    spec = BotSpec(provider=models, clarifying=clarifying)
    async with team_at_work(config=with_agents(), spec=spec) as team:
        board = await team.debate(QUESTION)
        await status_is(team, board, "suspended")  # it waits for people
        session = team.workspace.session(team.channel, board)
        assert session is not None
        assert session.title == QUESTION
        assert calls(team)[0].args["initiator_user_id"] == team.workspace.user("dana").id
        models.hold(Act.CRITIQUE)
        await team.say("1: A thousand a second.", board, user="alex")
        await status_is(team, board, "processing")
        models.let_go()
        await team.wait_for_end(board)
        await status_is(team, board, "active")
        assert statuses(team)[-3:] == ["suspended", "processing", "active"]
        # Nothing is streamed: only one person would see it, for five minutes.
        assert not team.workspace.calls.of("chat.startStream")


async def test_slacks_own_stop_stops_the_debate_for_who_may_and_says_no_to_others():
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(config=with_agents(), spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        await status_is(team, board, "processing")
        await models.wait_until_asked(Act.CRITIQUE, 1)
        await team.workspace.stop_session("alex", team.channel, board)
        await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
        assert "stop" in team.ephemeral_texts("alex")[-1]
        team.workspace.faults.double_next_events()
        await team.workspace.stop_session("dana", team.channel, board)
        debate = await team.wait_for_end(board)
        replies = [reply for reply in team.replies(board) if "stopped" in reply["text"].casefold()]
        assert len([message for message in replies if "Partial" not in message["text"]]) == 1
        assert debate.stop
        assert debate.stop.by.id == team.workspace.user("dana").id
        await status_is(team, board, "active")


async def test_a_stop_of_a_debate_whose_log_is_damaged_is_answered(tmp_path: Path):
    file, models = tmp_path / "moot.db", ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with run_workspace(with_agents()) as workspace:
        async with running_bot(workspace, database=file, spec=BotSpec(provider=models)) as team:
            board = await team.debate(QUESTION)
            await status_is(team, board, "processing")
            await models.wait_until_asked(Act.CRITIQUE, 1)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE events SET body = substr(body, 1, 9) WHERE seq = 3")
        async with running_bot(workspace, database=file) as team:
            await workspace.stop_session("alex", team.channel, board)
            await workspace.wait_for(lambda: team.ephemeral_texts("alex"))
            assert "log cannot be read: it is damaged" in team.ephemeral_texts("alex")[-1]


async def test_where_the_app_is_no_agent_slack_is_not_asked_on_and_on_and_all_is_as_before(
    tmp_path: Path,
):
    file = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        for start in (1, 2):
            async with running_bot(workspace, database=file, spec=BotSpec(rounds=1)) as team:
                board = await team.debate(QUESTION)
                debate = await team.wait_for_end(board)
                await team.wait_until_sent()
                assert debate.verdict
                assert team.verdict(board)
                assert [key for key in map(key_of, team.replies(board)) if key]
                outcomes = [call.outcome for call in workspace.calls.of(SET_STATUS)]
                # The bot tries again after it has found the channel.
                assert set(outcomes) == {"not_an_agent"}
                assert len(outcomes) <= 2 * start


async def test_an_app_that_was_made_an_agent_is_one_from_the_next_start_on(tmp_path: Path):
    file, spec = tmp_path / "moot.db", BotSpec(rounds=1)
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=file, spec=spec) as team:
            await team.wait_for_end(await team.debate(QUESTION))
            await team.wait_until_sent()
        # The bot may try again after it has found the channel.
        assert {call.outcome for call in workspace.calls.of(SET_STATUS)} == {"not_an_agent"}
        workspace.app.is_agent = True
        async with running_bot(workspace, database=file, spec=spec) as team:
            board = await team.debate(QUESTION)
            await status_is(team, board, "active")
