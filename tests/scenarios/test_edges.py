"""Edge cases: double clicks, stale buttons, forms sent twice, a channel that is lost."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bot.queue.rows import PostState
from bot.slack.ids import ActionId, board_key
from bot.testing import WAIT_SECONDS, Message, Team
from core.debate.log import fold
from core.debate.message_events import NoteAdded
from core.debate.people_events import DebatePaused, DebateResumed, VoteCalled
from core.debate.state import Status
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import posting
from slack_on_loopback.delivery import Acknowledgement, Envelope
from tests.scenarios.test_board import board_saying, buttons
from tests.scenarios.test_starting import form_of, form_values

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


@pytest.fixture
def models() -> ScriptedProvider:
    """Models that answer no critique until `let_go`, so that debates stay in their first round."""
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    return models


async def submit_again(
    team: Team, view: Mapping[str, Any], values: Mapping[str, Any]
) -> Acknowledgement:
    """Submit a form again, like a client that got no answer."""
    payload = {
        "type": "view_submission",
        "trigger_id": "1.2.again",
        "team": {"id": team.workspace.state.team_id},
        "user": {"id": team.workspace.user("dana").id, "name": "dana"},
        "view": {**view, "state": {"values": dict(values)}},
    }
    dispatcher = team.workspace.runtime.dispatcher
    return await dispatcher.ask(Envelope("interactive", payload))


async def stale_click(team: Team, board: str, action: ActionId) -> str:
    """Click a button that the board does not have any more; return the answer."""
    payload = {
        "type": "block_actions",
        "trigger_id": "1.2.stale",
        "team": {"id": team.workspace.state.team_id},
        "user": {"id": team.workspace.user("dana").id, "name": "dana"},
        "container": {"type": "message", "message_ts": board},
        "actions": [{"action_id": action.value, "value": team.debate_id(board)}],
    }
    dispatcher = team.workspace.runtime.dispatcher
    acknowledgement = await dispatcher.ask(Envelope("interactive", payload))
    assert acknowledgement.acked
    await team.wait_until_sent()
    return json.dumps(team.workspace.views("dana"))


async def test_two_clicks_on_vote_now_are_one_vote(team: Team, models: ScriptedProvider):
    models.hold(Act.REFINEMENT)
    board = await team.debate(QUESTION)
    await team.workspace.wait_for(lambda: "Vote now" in buttons(team, board), timeout=300)
    await team.click(board, ActionId.VOTE_NOW.value)
    await stale_click(team, board, ActionId.VOTE_NOW)
    models.let_go()
    debate = await team.wait_for_end(board)
    log = await team.moot.store.events(debate.id)
    assert len([entry for entry in log if isinstance(entry.event, VoteCalled)]) == 1


async def test_two_clicks_on_pause_are_one_pause(team: Team, models: ScriptedProvider):
    board = await team.debate(QUESTION)
    await team.click(board, ActionId.PAUSE.value)
    await stale_click(team, board, ActionId.PAUSE)
    await board_saying(team, board, "Paused")
    assert "Resume" in buttons(team, board)
    assert "Pause" not in buttons(team, board)
    models.let_go()
    await team.moot.context.clock.sleep(0.6)
    assert not models.requests_of(Act.REFINEMENT)
    await team.click(board, ActionId.RESUME.value)
    debate = await team.wait_for_end(board)
    assert debate.verdict
    assert not debate.verdict.partial
    log = await team.moot.store.events(debate.id)
    kinds = [type(entry.event) for entry in log]
    assert (kinds.count(DebatePaused), kinds.count(DebateResumed)) == (1, 1)


async def test_a_stale_button_on_a_finished_debate_changes_nothing(team: Team):
    board = await team.debate(QUESTION)
    await team.click(board)
    debate = await team.wait_for_end(board)
    for action in (ActionId.STOP, ActionId.VOTE_NOW, ActionId.PAUSE, ActionId.RESUME):
        await stale_click(team, board, action)
    assert (await team.debate_at(board)).seq == debate.seq


async def test_a_form_to_start_sent_twice_starts_one_debate(team: Team):
    await team.type("")
    view = await form_of(team)
    values = form_values(question=QUESTION, rounds="1")
    await team.workspace.submit("dana", view["id"], values)
    acknowledgement = await submit_again(team, view, values)
    assert acknowledgement.acked
    assert len(await team.moot.store.find(DebateFilter())) == 1


async def test_context_sent_twice_is_one_note(team: Team, models: ScriptedProvider):
    board = await team.debate(QUESTION)
    await team.click(board, ActionId.ADD_CONTEXT.value)
    view = await form_of(team)
    await team.workspace.submit("dana", view["id"], form_values(context="Two people."))
    await submit_again(team, view, form_values(context="Two people."))
    models.let_go()
    debate = await team.wait_for_end(board)
    log = await team.moot.store.events(debate.id)
    assert len([entry for entry in log if isinstance(entry.event, NoteAdded)]) == 1
    assert [note.text for note in debate.notes] == ["Two people."]
    assert team.has_replied(board, "adds for the agents:\nTwo people")


async def test_agents_read_a_note_as_it_was_edited_and_none_that_was_deleted(
    team: Team, models: ScriptedProvider
):
    board = await team.debate(QUESTION)
    edited = await team.say("We are three people.", board)
    deleted = await team.say("The lilac plan is secret.", board)
    await team.wait_for_log(board, lambda debate: len(debate.notes) == 2)
    now = "We are four people."
    await team.workspace.edit(team.user, team.channel, edited["ts"], now)
    await team.workspace.delete(team.user, team.channel, deleted["ts"])
    await team.wait_for_log(board, lambda debate: [note.text for note in debate.notes] == [now])
    models.let_go()
    debate = await team.wait_for_end(board)
    report = [team.workspace.file(reply["id"]) for reply in team.replies(board)[-1]["files"]]
    assert [note.text for note in debate.notes] == [now]
    (judged,) = models.requests_of(Act.SYNTHESIS)
    notes = [part.text for part in judged.parts if "four people" in part.text]
    assert notes
    assert not [
        part for part in judged.parts if "three people" in part.text or "lilac" in part.text
    ]
    assert b"four people" in report[0]
    assert not [body for body in report if b"lilac" in body]


async def test_context_for_a_debate_that_ended_meanwhile_is_answered_with_a_clear_word(team: Team):
    board = await team.debate(QUESTION)
    await team.click(board, ActionId.ADD_CONTEXT.value)
    view = await form_of(team)
    await team.click(board)
    await team.wait_for_end(board)
    await team.workspace.submit("dana", view["id"], form_values(context="Too late."))
    assert "has ended already" in json.dumps(team.workspace.views("dana"))


def answer_critiques_only(models: ScriptedProvider) -> None:
    """Answer the critiques and nothing after them, so that posts are due."""
    models.let_go()
    models.hold(Act.REFINEMENT)


async def fails(team: Team, debate_id: str) -> None:
    """Wait until the debate has ended without a verdict."""
    async with asyncio.timeout(WAIT_SECONDS):
        while (status := fold(await team.moot.store.events(debate_id)).status) is Status.RUNNING:
            await team.moot.context.clock.sleep(0.05)
    assert status is Status.FAILED


async def channel_given_up(team: Team, debate_id: str) -> None:
    """Wait until the bot has given up the channel."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            board = await team.moot.context.posts.row_by_key(board_key(debate_id))
            if board and board.state is PostState.GONE:
                return
            await team.moot.context.clock.sleep(0.05)


async def board_after_return(team: Team, board: str) -> Message:
    """Wait until the board shows the end of the debate, without buttons to steer it."""

    def is_true() -> bool:
        text = str(team.thread(board)[0])
        return "ended without a decision" in text and ActionId.STOP.value not in text

    await team.workspace.wait_for(is_true, timeout=300)
    return team.thread(board)[0]


@pytest.mark.parametrize(("loss", "return_"), [("kick", "invite"), ("archive", "unarchive")])
async def test_a_board_is_brought_up_to_date_when_the_bot_is_back_in_the_channel(
    team: Team, models: ScriptedProvider, loss: str, return_: str
):
    board = await team.debate(QUESTION)
    debate_id = (await team.debate_at(board)).id
    member = {"member": team.workspace.app.bot_user} if loss == "kick" else {}
    await team.workspace.channel_action("dana", loss, channel=team.channel, **member)
    answer_critiques_only(models)
    await fails(team, debate_id)
    await channel_given_up(team, debate_id)
    assert ActionId.STOP.value in str(team.thread(board)[0])
    assert not models.requests_of(Act.SYNTHESIS)
    await team.workspace.channel_action("dana", return_, channel=team.channel, **member)
    await board_after_return(team, board)


async def test_a_removed_app_ends_what_runs(team: Team):
    board = await team.debate(QUESTION)
    debate_id = (await team.debate_at(board)).id
    team.workspace.uninstall()
    await fails(team, debate_id)


async def test_when_its_board_is_deleted_the_thread_goes_on_and_says_how_to_stop_it(
    team: Team, models: ScriptedProvider
):
    board = await team.debate(QUESTION)
    await team.say("We are two.", board)  # a deleted message without replies has no thread
    await team.wait_for_log(board, lambda debate: debate.notes)
    await team.wait_until_sent()
    posting.delete(team.workspace.runtime, team.workspace.channel(team.channel), board)

    def notices() -> Sequence[Message]:
        return [reply for reply in team.replies(board) if "The board" in reply["text"]]

    (notice,) = await team.workspace.wait_for(notices, timeout=300)
    assert "`stop` alone in a line here ends it" in notice["text"]
    answer_critiques_only(models)
    await team.say("stop", board)
    await team.workspace.wait_for(lambda: team._has_ending(board), timeout=300)
    await team.wait_until_sent()
    assert len(notices()) == 1
    assert not team.workspace.calls.of("chat.update", "cant_update_message")
