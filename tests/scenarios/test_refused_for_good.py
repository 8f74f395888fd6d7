"""What Slack refuses for good is settled: the debate ends or goes on, and people hear which."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.queue.rate_limits import FAST
from bot.slack.ids import ActionId
from bot.testing import BotSpec, Message, Team, team_at_work
from core.debate.log import fold
from core.debate.state import Status
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


def direct_messages(team: Team) -> Sequence[Message]:
    channels = team.workspace.state.channels.values()
    return [
        message
        for channel in channels
        if channel.is_im
        for message in team.workspace.messages(channel.id)
    ]


@pytest.mark.parametrize(
    "code", ["restricted_action_thread_locked", "restricted_action_read_only_channel"]
)
async def test_where_no_message_may_be_posted_any_more_the_debate_ends_and_its_asker_hears(
    code: str,
) -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        team.workspace.faults.refuse("chat.postMessage", code, containing="thread_ts")
        models.let_go()
        models.hold(Act.SYNTHESIS)
        (message,) = await team.workspace.wait_for(lambda: direct_messages(team), timeout=60)
        await team.workspace.wait_for(
            lambda: "ended without a decision" in team.thread(board)[0]["text"], timeout=60
        )
        assert "cannot go on" in message["text"]
        assert ActionId.STOP.value not in str(team.thread(board)[0])
        assert await team.status(board) is Status.FAILED


async def test_in_a_thread_that_takes_no_replies_who_asked_learns_where_the_debate_is() -> None:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        root = await team.say("Alex has joined.", user="alex")
        await team.say("Welcome!", str(root["ts"]))
        team.workspace.faults.refuse(
            "chat.postMessage", "cannot_reply_to_message", containing=str(root["ts"])
        )
        await team.say(f"@Moot {QUESTION}", str(root["ts"]))
        texts = await team.workspace.wait_for(
            lambda: [
                text for text in team.ephemeral_texts() if "verdict" in text and "Read it" in text
            ],
            timeout=60,
        )
        assert team.has_told("the agents debate this now")
        assert team.boards()[0] in texts[0]


async def test_a_board_whose_blocks_slack_refuses_comes_bare_and_the_debate_goes_on() -> None:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        team.workspace.faults.refuse("chat.postMessage", "invalid_blocks", containing="blocks")
        team.workspace.faults.refuse("chat.update", "invalid_blocks", containing="blocks")
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board, seconds=60)
        assert debate.status is Status.CONCLUDED
        assert "blocks" not in team.thread(board)[0]


async def test_a_post_that_always_fails_is_given_up_with_a_line_and_the_rest_goes_on() -> None:
    pace = replace(FAST, fails=0.5)
    async with team_at_work(spec=BotSpec(rounds=1, pace=pace)) as team:
        team.workspace.faults.refuse("chat.postMessage", "fatal_error", containing='/headline"')
        board = await team.debate(QUESTION)
        await team.workspace.wait_for(lambda: team.posts(board, "refused"), timeout=60)
        second = await team.debate("Go or Rust for the gateway?")
        await team.workspace.wait_for(lambda: len(team.thread(second)) > 1, timeout=60)
        first, *_ = await team.moot.store.find(DebateFilter(limit=9))
        assert fold(await team.moot.store.events(first.debate_id)).status is not Status.FAILED


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message"])
async def test_where_nothing_can_be_edited_one_line_says_so_and_the_verdict_comes(
    code: str,
) -> None:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        team.workspace.faults.refuse("chat.update", code)
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board, seconds=60)
        lines = [
            message["text"]
            for message in team.replies(board)
            if "brought up to date" in message["text"]
        ]
        assert debate.status is Status.CONCLUDED
        assert len(lines) == 1
        assert "`stop`" in lines[0]
