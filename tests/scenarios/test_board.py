"""The board's buttons: who may press them, what they do, and what the board shows."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from bot.slack.ids import ActionId
from bot.testing import BotSpec, Message, Team, team_at_work
from core.debate.turn import Act
from core.testing import ScriptedProvider
from tests.scenarios.test_starting import form_of, form_values

QUESTION = "Should we use Kafka or PostgreSQL? It must keep every job. At most 30 seconds."


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
async def team(provider: ScriptedProvider) -> AsyncGenerator[Team]:
    async with team_at_work(spec=BotSpec(provider=provider, rounds=3)) as team:
        yield team


def buttons(team: Team, board: str) -> Sequence[str]:
    """What can be pressed on the board now."""
    root = team.thread(board)[0]
    rows = (block["elements"] for block in root["blocks"] if block["type"] == "actions")
    return [element["text"]["text"] for elements in rows for element in elements]


async def board_saying(team: Team, board: str, *words: str) -> Message:
    """Wait until the board has all these words at once; return its message."""

    def match() -> Any:
        root = team.thread(board)[0]
        return root if all(text in root["text"] for text in words) else None

    return await team.workspace.wait_for(match, timeout=300)


async def test_others_are_refused_told_why_and_what_they_can_do(
    team: Team, provider: ScriptedProvider
):
    provider.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    dana = team.workspace.user("dana").id
    for count, action in enumerate((ActionId.PAUSE, ActionId.STOP, ActionId.ADD_CONTEXT), 1):
        await team.click(board, action.value, user="alex")
        await team.workspace.wait_for(
            lambda least=count: len(team.ephemeral_texts("alex")) >= least
        )
        assert f"Only <@{dana}>, who started debate" in team.ephemeral_texts("alex")[-1]
        assert "A reply in its thread always reaches the agents" in team.ephemeral_texts("alex")[-1]
        assert team.workspace.views("alex") == []
    await team.click(board)
    await team.wait_for_end(board)


async def test_people_the_channels_settings_name_may_steer(team: Team, provider: ScriptedProvider):
    provider.hold(Act.CRITIQUE)
    await team.type("settings")
    view = await form_of(team)
    alex = team.workspace.user("alex").id
    await team.workspace.submit("dana", view["id"], form_values(stewards=[alex]))
    board = await team.debate(QUESTION)
    await team.click(board, user="alex")
    debate = await team.wait_for_end(board)
    assert debate.stop is not None
    assert debate.stop.by.id == alex


async def test_the_board_links_to_the_end(team: Team):
    board = await team.debate(QUESTION)
    await team.wait_for_end(board)
    root = team.thread(board)[0]
    text = json.dumps(root["blocks"])
    assert f"/archives/{team.workspace.channel(team.channel).id}/p" in text
    assert "moot.invalid" not in text
    assert "*Summary up to round 3*" in text, "the last one stands"
    headline = next(
        message for message in team.thread(board) if message.get("subtype") == "thread_broadcast"
    )
    assert headline["ts"].replace(".", "") in text
    assert buttons(team, board) == []  # the team's are below the verdict


async def test_the_board_is_unpinned_at_the_end_unless_the_channel_keeps_it():
    async with team_at_work() as team:
        first = await team.debate(QUESTION)
        await team.wait_for_end(first)
        await team.type("settings")
        view = await form_of(team)
        await team.workspace.submit("dana", view["id"], form_values(keep_pinned=["yes"]))
        second = await team.debate("And which cloud?")
        await team.wait_for_end(second)
        await team.wait_until_sent()  # pins give way to what people read
        assert team.workspace.pins(team.channel) == [second]


async def test_the_board_itself_says_that_it_could_not_be_pinned(
    team: Team, provider: ScriptedProvider
):
    provider.hold(Act.CRITIQUE)
    team.workspace.fill_pins(team.channel)
    board = await team.debate(QUESTION)
    await team.wait_until_sent()
    provider.let_go()  # the board changes
    provider.hold(Act.REFINEMENT)
    await board_saying(team, board, "The board could not be pinned: This channel has 100 pins")
    await team.click(board)
    await team.wait_for_end(board)
