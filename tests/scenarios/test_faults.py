"""A debate through Slack's and the models' bad moments: nothing lost, nothing twice."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.listeners.answers import FORM_TOO_LATE
from bot.queue.rows import NewPost
from bot.testing import UNHURRIED, BotSpec, Team, key_of, quick_workspace, running_bot, team_at_work
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import KeyRefused, ProviderError, ReplyUnusable
from core.ports import DebateFilter
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply
from slack_on_loopback import run_workspace
from tests.security.sending import without_socket_mode

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


async def assert_nothing_lost_or_doubled(team: Team, board: str) -> None:
    """Every row of the outbox is in the thread, once, in the order of the queue."""
    debate = await team.wait_for_end(board)
    rows = await team.moot.context.posts.rows_of_debate(debate.id)
    queued = [row.key for row in rows if row.method == "post"]
    posted = [key_of(message) for message in team.thread(board) if key_of(message)]
    assert posted == queued
    assert len(set(posted)) == len(posted)


async def test_rate_limits_slow_a_debate_down_and_lose_nothing():
    async with team_at_work() as team:
        board = await team.debate(QUESTION)
        for _ in range(3):
            team.workspace.faults.rate_limit("chat.postMessage", seconds=1)
            await asyncio.sleep(0.3)
        team.workspace.faults.rate_limit("chat.update", seconds=1)
        await assert_nothing_lost_or_doubled(team, board)


async def test_answers_that_are_dropped_do_not_double_posts():
    async with team_at_work() as team:
        team.workspace.faults.drop_after("chat.postMessage", times=None, probability=0.3)
        team.workspace.faults.drop_before("chat.postMessage", times=None, probability=0.2)
        team.workspace.faults.server_error("chat.postMessage", times=2)
        board = await team.debate(QUESTION)
        await team.wait_for_end(board, seconds=100)
        team.workspace.faults.clear()
        await assert_nothing_lost_or_doubled(team, board)


async def test_slack_may_send_the_bot_to_another_socket_while_it_debates():
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        await team.workspace.disconnect()
        await team.workspace.wait_for(lambda: team.workspace.connected)
        await team.say("Still there?", board)
        await team.wait_for_log(board, lambda debate: debate.notes)
        models.let_go()
        debate = await team.wait_for_end(board)
        assert [note.text for note in debate.notes] == ["Still there?"]


def failing(*roles: str, error: ProviderError) -> ScriptedProvider:
    def script(request: ModelRequest) -> str | ProviderError:
        return error if request.role in roles else plausible_reply(request)

    return ScriptedProvider(script)


async def test_with_the_quorum_kept_a_failing_agent_is_named_and_the_debate_decided():
    provider = failing("security", error=ReplyUnusable("The reply is not JSON."))
    async with team_at_work(spec=BotSpec(provider=provider)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert debate.status is Status.CONCLUDED
        texts = [reply["text"] for reply in team.replies(board)]
        assert any("*Security* failed" in text for text in texts)
        assert any("Use PostgreSQL." in text for text in texts)


async def test_with_the_quorum_lost_people_are_told_and_nothing_hangs():
    error = KeyRefused("The provider refuses the key.")
    provider = failing("security", "architect", "simplicity", error=error)
    async with team_at_work(spec=BotSpec(provider=provider)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert debate.status is Status.FAILED
        assert "ended without a decision" in team.replies(board)[-1]["text"]
        assert provider.requests


async def test_a_channel_that_cannot_be_checked_in_time_does_not_lose_the_command():
    async with team_at_work(spec=BotSpec(timeouts=replace(UNHURRIED, call=0.2))) as team:
        team.workspace.faults.delay("conversations.info", 60.0)
        board = await team.debate(QUESTION)
        assert await team.status(board) is not Status.FAILED


async def test_who_asked_for_a_form_is_told_when_the_connection_to_slack_breaks():
    async with team_at_work() as team:
        team.workspace.faults.drop_before("views.open")
        await team.type("")
        assert team.ephemeral_texts() == [FORM_TOO_LATE]


async def test_a_bot_thrown_out_in_the_middle_ends_the_debate_and_tells_its_starter():
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        team.workspace.remove_bot(team.channel)
        models.let_go()  # so that there is something to post
        models.hold(Act.REFINEMENT)
        direct = await team.workspace.wait_for(
            lambda: [
                message
                for channel in team.workspace.state.channels.values()
                if channel.is_im
                for message in team.workspace.messages(channel.id)
            ],
            timeout=300,
        )
        assert "cannot go on" in direct[0]["text"]
        assert await team.status(board) is Status.FAILED


async def test_a_post_whose_form_slack_refuses_comes_as_bare_text():
    async with team_at_work() as team:
        board = await team.debate(QUESTION)
        root = team.thread(board)[0]
        debate_id = key_of(root).partition("/")[0]
        odd = NewPost(
            key=f"{debate_id}/odd",
            workspace=team.workspace.state.team_id,
            channel=root["channel"],
            debate_id=debate_id,
            thread_key=f"{debate_id}/board",
            method="post",
            payload={"text": "the words", "blocks": [{"type": "no such block"}]},
        )
        await team.moot.context.outbox.post([odd])
        await team.wait_for_end(board)
        posts = [message for message in team.thread(board) if key_of(message) == f"{debate_id}/odd"]
        assert [message["text"] for message in posts] == ["the words"]
        assert await team.status(board) is Status.CONCLUDED


async def test_a_reply_under_a_board_still_in_doubt_is_delivered_again_and_kept():
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    # Over HTTP it is sent again as soon as it was refused.
    spec = BotSpec(provider=models, http=True)
    async with team_at_work(spec=spec, config=without_socket_mode()) as team:
        workspace = team.workspace
        workspace.faults.server_error("conversations.history", times=None)  # so it stays in doubt
        workspace.faults.drop_after("chat.postMessage")
        board = await team.debate(QUESTION)
        await team.say("We are only two people.", board)
        await workspace.wait_for(
            lambda: any(delivery.attempt > 0 for delivery in workspace.deliveries)
        )
        workspace.faults.clear()
        debate = await team.wait_for_log(board, lambda debate: debate.notes)
        assert [note.text for note in debate.notes] == ["We are only two people."]
        models.let_go()
        await team.wait_for_end(board)


@pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])
async def test_what_people_do_first_after_a_start_is_taken_though_slack_does_not_know_us(
    *, http: bool, tmp_path: Path
):
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models, http=http)
    config = without_socket_mode() if http else quick_workspace()
    async with run_workspace(config) as workspace:
        async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
            board = await team.debate(QUESTION)
        async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
            workspace.faults.server_error("auth.test", times=None)
            await team.say("Two people only.", board)
            await team.type("Go or Rust?", user="alex")
            debate = await team.wait_for_log(board, lambda debate: debate.notes)
            assert [note.text for note in debate.notes] == ["Two people only."]
            models.let_go()
            await team.wait_for_end(board)
            assert len(await team.moot.store.find(DebateFilter())) == 2
            assert not any("reinstall" in words for words in team.ephemeral_texts("alex"))
