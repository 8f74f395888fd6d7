"""A debate from the command to the decision, through real HTTP and WebSocket."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from bot.testing import BotSpec, Message, Team, key_of, team_at_work
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.testing import ScriptedProvider

QUESTION = "Should we use Kafka or PostgreSQL as our job queue? It must keep every job."


#: One debate for the tests that only look at it.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def held() -> AsyncGenerator[tuple[Team, str, Debate]]:
    """A team, the board of its debate, and the debate at its end."""
    async with team_at_work() as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        await team.wait_until_sent()
        yield team, board, debate


async def test_a_debate_goes_from_the_command_to_a_decision_in_the_channel(
    held: tuple[Team, str, Debate],
):
    team, board, debate = held
    thread = team.thread(board)
    broadcasts = [message for message in thread if message.get("subtype") == "thread_broadcast"]
    assert debate.status is Status.CONCLUDED
    assert len(broadcasts) == 1
    assert "Use PostgreSQL." in broadcasts[0]["text"]
    assert thread[-1] == broadcasts[0], "the verdict comes last"
    assert any("report" in file["name"] for file in broadcasts[0]["files"])
    assert broadcasts[0]["ts"] in [
        message["ts"] for message in team.workspace.messages(team.channel)
    ]


async def test_the_board_is_posted_once_pinned_while_it_runs_and_edited_to_the_end(
    held: tuple[Team, str, Debate],
):
    team, board, _ = held
    assert len(team.workspace.calls.of("pins.add", "ok")) == 1
    assert team.workspace.pins(team.channel) == []
    assert "Use PostgreSQL." in team.thread(board)[0]["text"]
    # How many edits there are in between is a matter of pace: only the newest state is shown.
    assert team.workspace.calls.of("chat.update", "ok")


async def test_every_agent_replies_once_a_round_under_its_name_and_icon(
    held: tuple[Team, str, Debate],
):
    team, board, debate = held
    replies = team.replies(board)
    for agent in debate.setup.agents:
        own = [reply for reply in replies if reply.get("username") == agent.name]
        assert own
        assert all(message["icons"]["emoji"] == agent.icon for message in own)
    assert all(reply["thread_ts"] == board for reply in replies)
    contributions = debate.contributions.values()
    spoken = {
        (contribution.turn.round, contribution.turn.agent)
        for contribution in contributions
        if not contribution.carried_from
    }
    own = [reply for reply in replies if reply.get("username") not in {None, "Judge"}]
    assert len(own) == len(spoken) == 6


async def test_rounds_arrive_in_reading_order(
    held: tuple[Team, str, Debate],
):
    team, board, _ = held
    words = ("Round 1", "Round 2", "*Vote*")
    first = [
        next(
            i
            for i, reply in enumerate(team.replies(board))
            if word.lower() in reply["text"].lower()
        )
        for word in words
    ]
    assert first == sorted(first)


def posted(team: Team, board: str) -> list[Message]:
    """What the bot posted with chat.postMessage: a shared file's message can carry no metadata."""
    return [
        message
        for message in team.thread(board)
        if message.get("bot_id") and message.get("subtype") != "file_share"
    ]


async def test_no_post_unfurls_links_and_every_post_carries_its_key(
    held: tuple[Team, str, Debate],
):
    team, board, _ = held
    calls = team.workspace.calls.of("chat.postMessage")
    keys = [key_of(message) for message in posted(team, board)]
    assert all(keys)
    assert len(set(keys)) == len(keys) == len(calls)
    assert {str(call.args["unfurl_links"]).lower() for call in calls} == {"false"}
    assert {str(call.args["unfurl_media"]).lower() for call in calls} == {"false"}


async def test_a_reply_becomes_a_note_that_later_turns_see():
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        note = await team.say("We have only two people for this.", board, user="alex")
        await team.wait_for_log(board, lambda debate: debate.notes)
        models.let_go()
        debate = await team.wait_for_end(board)
        assert [note.text for note in debate.notes] == ["We have only two people for this."]
        reactions = next(message for message in team.thread(board) if message["ts"] == note["ts"])[
            "reactions"
        ]
        assert [(reaction["name"], reaction["count"]) for reaction in reactions] == [("eyes", 1)]


async def test_two_debates_in_two_channels_do_not_mix(held: tuple[Team, str, Debate]):
    team, _, _ = held
    board = await team.debate("Kafka or PostgreSQL for our jobs?")
    other = Team(workspace=team.workspace, moot=team.moot, user="sam", channel="general")
    two = await other.debate("Monorepo or many repositories?")
    first, second = await team.wait_for_end(board), await other.wait_for_end(two)
    assert first.id != second.id
    assert {key_of(reply).partition("/")[0] for reply in posted(team, board)} == {first.id}
    assert {key_of(reply).partition("/")[0] for reply in posted(other, two)} == {second.id}
