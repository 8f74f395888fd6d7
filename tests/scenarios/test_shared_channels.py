"""Channels shared with another company: who may start debates and answer."""

import pytest

from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team, key_of, team_at_work
from core.debate.rules import Clarifying
from core.debate.state import Status
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from tests.scenarios.test_quiet import choose

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
REFUSED = "Only people of the workspace"


def of_another_company(team: Team) -> str:
    """Move Sam to another company; return his name."""
    team.workspace.user("sam").home = "T0ELSEWHERE"
    return "sam"


async def count(team: Team) -> int:
    return len(await team.moot.store.find(DebateFilter(limit=100)))


async def refused(team: Team, user: str, times: int = 1) -> None:
    await team.workspace.wait_for(
        lambda: sum(REFUSED in words for words in team.ephemeral_texts(user)) >= times or None
    )


async def test_a_stranger_starts_no_debate_by_mention_command_or_button():
    async with team_at_work() as team:
        sam = of_another_company(team)
        await team.say(f"@Moot {QUESTION}", user=sam)
        await refused(team, sam)
        await team.type(QUESTION, user=sam)
        await refused(team, sam, 2)
        assert await count(team) == 0
        assert not [message for message in team.workspace.messages(team.channel) if key_of(message)]


async def test_a_strangers_words_reach_no_model_and_answer_nothing():
    models = ScriptedProvider()
    clarifying = Clarifying(enabled=True, wait_seconds=600)
    async with team_at_work(spec=BotSpec(provider=models, clarifying=clarifying)) as team:
        sam = of_another_company(team)
        board = await team.debate(QUESTION)
        card = await team.wait_for_card(board)
        await team.say("1: A thousand a second.", board, user=sam)
        await team.say("The budget is CUCKOO.", board, user=sam)
        await refused(team, sam)
        before = len(team.ephemeral_texts(sam))
        await team.click(card["ts"], ActionId.SKIP_ALL.value, user=sam)
        await team.workspace.wait_for(lambda: len(team.ephemeral_texts(sam)) > before or None)
        assert REFUSED in team.ephemeral_texts(sam)[-1]
        assert sum(REFUSED in words for words in team.ephemeral_texts(sam)) == 2
        await team.say("1: Ten a second.", board, user="alex")
        debate = await team.wait_for_end(board)
        assert debate.status is Status.CONCLUDED
        assert [answer.text for answer in debate.answers.values()] == ["Ten a second."]
        assert not debate.notes
        requests = "".join(str(request) for request in models.requests)
        assert "CUCKOO" not in requests
        assert "A thousand a second" not in requests


async def test_a_stranger_asks_nothing_about_a_decision():
    models = ScriptedProvider()
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        sam = of_another_company(team)
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.say("@Moot why not Kafka?", board, user=sam)
        await refused(team, sam)
        assert not [request for request in models.requests if request.act is Act.FOLLOW_UP]


@pytest.mark.parametrize("by_channel", [True, False])
async def test_a_channel_or_workspace_can_be_open_to_everybody(*, by_channel: bool):
    async with team_at_work() as probe:
        workspace_id = probe.workspace.state.team_id
    is_open = frozenset[str]() if by_channel else frozenset({workspace_id})
    async with team_at_work(spec=BotSpec(open_workspaces=is_open)) as team:
        sam = of_another_company(team)
        if by_channel:
            await choose(team, open_to_others="on")
        board = await team.debate(QUESTION, user=sam)
        assert (await team.wait_for_end(board)).setup.asked_by.name == sam


async def test_a_channel_can_be_closed_where_its_workspace_is_open():
    async with team_at_work() as probe:
        workspace_id = probe.workspace.state.team_id
    async with team_at_work(spec=BotSpec(open_workspaces=frozenset({workspace_id}))) as team:
        sam = of_another_company(team)
        await choose(team, open_to_others="off")
        await team.type(QUESTION, user=sam)
        await refused(team, sam)
        assert await count(team) == 0
