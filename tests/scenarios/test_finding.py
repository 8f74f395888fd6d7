"""Lists, search and Home show what one may see and nothing else; nor do guessed ids."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.slack.ids import ActionId, FieldId
from bot.testing import BotSpec, Team, team_at_work
from tests.scenarios.test_board import board_saying
from tests.scenarios.test_deciding import chosen_why, decide, ended

SECRET = "Shall we sell the company to Globex?"
PUBLIC = "Kafka or PostgreSQL for our jobs?"


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        yield team


async def in_private(team: Team) -> Team:
    """A private channel of dana and the bot."""
    await team.workspace.channel_action(
        "dana", "create", name="board-room", is_private=True, members=["dana"]
    )
    await team.workspace.channel_action("dana", "invite", channel="board-room", member="moot")
    return replace(team, channel="board-room")


async def home_of(team: Team, user: str, words: str) -> str:
    await team.workspace.open_home(user)

    def drawn() -> Any:
        view = team.workspace.home(user)
        return view if view and words in json.dumps(view) else None

    return json.dumps(await team.workspace.wait_for(drawn))


# --- what they show -------------------------------------------------------------------------------


async def test_the_list_shows_where_debates_stand_and_leads_to_them(team: Team):
    board, debate = await ended(team, PUBLIC)
    await decide(team, board, ActionId.ACCEPT, chosen_why("Yes."))
    await board_saying(team, board, "*Accepted*")
    await team.type("list")
    text = team.ephemeral_texts()[-1]
    assert f"`{debate.id}`" in text
    assert ":white_check_mark: accepted" in text
    assert "> Use PostgreSQL." in text
    assert f"/p{board.replace('.', '')}|{PUBLIC}>" in text


async def test_search_finds_all_words_cut_short_in_any_case_and_what_was_decided(team: Team):
    board, debate = await ended(team, PUBLIC)
    await decide(team, board, ActionId.REJECT, chosen_why("Licences are too expensive."))
    await board_saying(team, board, "*Rejected*")
    for words in ("postg", "KAFKA jobs", "licences"):
        await team.type(f"search {words}")
        assert debate.id in team.ephemeral_texts()[-1]
    for words in ("kafka unicorns", '"* OR NEAR('):
        await team.type(f"search {words}")
        assert debate.id not in team.ephemeral_texts()[-1]
        assert "Nothing in your channels holds" in team.ephemeral_texts()[-1]


async def test_what_only_reads_writes_nothing_before_its_answer(team: Team):
    for words in ("list", "search kafka", "help", "thanks"):
        await team.type(words)
    deliveries, later = team.moot.context.records.deliveries, timedelta(days=1)
    assert await deliveries.purge(team.moot.context.clock.now() + later) == 0
    await team.type("doctor")
    assert await deliveries.purge(team.moot.context.clock.now() + later) == 1


async def test_an_empty_list_and_an_empty_home_teach(team: Team):
    await team.type("list")
    assert "No debates in this channel yet" in team.ephemeral_texts()[-1]
    assert "`/debate` opens a form" in team.ephemeral_texts()[-1]
    text = await home_of(team, "dana", "Nothing here yet")
    assert "/invite @Moot" in text


async def test_a_debate_can_be_started_from_home_in_a_chosen_channel(team: Team):
    await home_of(team, "dana", "Start a debate")
    view = team.workspace.home("dana")
    assert view is not None
    await team.workspace.click_view("dana", view["id"], ActionId.START.value)
    form = (await team.workspace.wait_for(lambda: team.workspace.views("dana")))[-1]
    channel = team.workspace.channel(team.channel).id
    values = {
        FieldId.CHANNEL.value: {FieldId.CHANNEL.value: {"selected_conversation": channel}},
        FieldId.QUESTION.value: {FieldId.QUESTION.value: {"value": PUBLIC}},
    }
    await team.workspace.submit("dana", form["id"], values)
    boards = await team.workspace.wait_for(lambda: team.workspace.messages(team.channel))
    await team.wait_for_end(boards[-1]["ts"])


async def test_home_shows_debates_as_they_are_when_it_is_opened(team: Team):
    await home_of(team, "alex", "Nothing here yet")
    board = await team.debate(PUBLIC)
    await team.wait_for_end(board)
    text = await home_of(team, "alex", "Waiting for your team's decision")
    assert f"/p{board.replace('.', '')}|{PUBLIC}" in text
    await decide(team, board, ActionId.ACCEPT, chosen_why(""))
    assert "Use PostgreSQL." in await home_of(team, "alex", ":white_check_mark: accepted")


# --- what they hide -------------------------------------------------------------------------------


async def test_home_shows_nothing_of_channels_one_is_not_in(team: Team):
    secret = await in_private(team)
    await ended(secret, SECRET)
    await home_of(team, "dana", "Globex")
    await home_of(team, "alex", "Nothing here yet")
    assert "Globex" not in json.dumps(team.workspace.home("alex"))
