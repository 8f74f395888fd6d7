"""Lists, search and Home show what one may see and nothing else; nor do guessed ids."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.testing import BotSpec, Team, team_at_work
from core.debate.log import fold
from core.debate.state import Debate
from core.ports import DebateFilter
from slack_on_loopback.delivery import Acknowledgement, Envelope
from slack_on_loopback.json_values import child
from tests.scenarios.test_board import board_saying
from tests.scenarios.test_deciding import chosen_why, decide, ended
from tests.scenarios.test_starting import form_of, form_values

SECRET = "Shall we sell the company to Globex?"
PUBLIC = "Kafka or PostgreSQL for our jobs?"


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        yield team


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded() -> AsyncGenerator[tuple[Team, Debate]]:
    """A debate in a private channel, for all tests that try in vain to do something about it."""
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        _, _, debate = await with_secret(team)
        yield team, debate


async def with_secret(team: Team) -> tuple[Team, str, Debate]:
    """A private channel of dana and the bot, with a debate in it."""
    secret = await in_private(team)
    board, debate = await ended(secret, SECRET)
    return secret, board, debate


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
    await team.type("")
    view = await form_of(team)
    typed = form_values(question=PUBLIC, context="The budget is small.")
    await team.workspace.submit("dana", view["id"], typed)
    board = await team.new_board()
    debate = await team.wait_for_end(board)
    await decide(team, board, ActionId.REJECT, chosen_why("Licences are too expensive."))
    await board_saying(team, board, "*Rejected*")
    for words in ("postg", "KAFKA jobs", "licences", "budget"):
        await team.type(f"search {words}")
        text = team.ephemeral_texts()[-1]
        assert f"`{debate.id}`" in text
        # What was found in the question is not quoted again below it.
        assert ("> _" in text) == (words in {"licences", "budget"})
        assert (words == "budget") == ("The budget is small." in text)
    for words in ("kafka unicorns", '"* OR NEAR('):
        await team.type(f"search {words}")
        assert debate.id not in team.ephemeral_texts()[-1]
        assert "Nothing in your channels holds" in team.ephemeral_texts()[-1]


async def test_search_finds_what_was_decided_too(team: Team):
    board, debate = await ended(team, "Which queue is best?")
    await decide(team, board, ActionId.REJECT, chosen_why("Licences are too expensive."))
    await board_saying(team, board, "*Rejected*")
    await team.type("search licences")
    assert debate.id in team.ephemeral_texts()[-1]


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


async def test_lists_search_and_home_hide_the_debates_of_channels_one_is_not_in(team: Team):
    await ended(team, PUBLIC)
    _, _, debate = await with_secret(team)
    for words in ("list", "search globex", "search sell company", f"search {debate.id}"):
        await team.type(words, user="alex")
        assert "Globex" not in team.ephemeral_texts("alex")[-1]
        assert f"`{debate.id}`" not in team.ephemeral_texts("alex")[-1]
    assert "Globex" not in await home_of(team, "alex", PUBLIC)
    await team.type("search globex")
    assert debate.id in team.ephemeral_texts()[-1]
    assert "Globex" in await home_of(team, "dana", PUBLIC)


async def test_home_shows_nothing_of_channels_one_is_not_in(team: Team):
    secret = await in_private(team)
    await ended(secret, SECRET)
    await home_of(team, "dana", "Globex")
    await home_of(team, "alex", "Nothing here yet")
    assert "Globex" not in json.dumps(team.workspace.home("alex"))


@pytest.mark.asyncio(loop_scope="module")
async def test_a_guessed_id_is_told_from_no_id_by_nobody_who_may_not_see_it(
    guarded: tuple[Team, Debate],
):
    team, debate = guarded
    for command in ("show", "stop"):
        await team.type(f"{command} {debate.id}", user="alex")
        await team.type(f"{command} dzzzzzz2", user="alex")
        guessed, unknown = team.ephemeral_texts("alex")[-2:]
        assert guessed == unknown.replace("dzzzzzz2", debate.id)


def base(team: Team, user: str) -> dict[str, Any]:
    return {
        "trigger_id": "1.2.forged",
        "team": {"id": team.workspace.state.team_id},
        "user": {"id": team.workspace.user(user).id, "name": user},
    }


async def forged_click(team: Team, action: ActionId, value: str) -> Acknowledgement:
    """A click of alex on a button whose value was made up."""
    url = f"{team.workspace.url}nowhere"
    payload = base(team, "alex") | {
        "type": "block_actions",
        "channel": {"id": team.workspace.channel(team.channel).id},
        "container": {"type": "message", "message_ts": "1.2"},
        "response_url": url,
        "actions": [{"action_id": action.value, "block_id": "x", "value": value, "type": "button"}],
    }
    return await sent(team, payload)


async def forged_form(
    team: Team, callback: CallbackId, metadata: Mapping[str, str]
) -> Acknowledgement:
    """A form of alex whose hidden part was made up."""
    view: dict[str, Any] = {
        "id": "V0FORGED",
        "type": "modal",
        "callback_id": callback.value,
        "private_metadata": json.dumps(metadata),
        "state": {"values": {}},
    }
    return await sent(team, base(team, "alex") | {"type": "view_submission", "view": view})


async def sent(team: Team, payload: Mapping[str, Any]) -> Acknowledgement:
    dispatcher = team.workspace.runtime.dispatcher
    return await dispatcher.ask(Envelope("interactive", dict(payload)))


@pytest.mark.parametrize(
    "action",
    [
        ActionId.STOP,
        ActionId.ANSWER,
        ActionId.SKIP_ALL,
        ActionId.BALLOT,
        ActionId.OPTIONS,
        ActionId.DEBATE_ANYWAY,
        ActionId.ACCEPT,
        ActionId.ADD_CONTEXT,
        ActionId.SAY_WHY,
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_made_up_button_opens_and_changes_nothing(
    guarded: tuple[Team, Debate], action: ActionId
):
    team, debate = guarded
    receipt = await forged_click(team, action, debate.id)
    assert receipt.acked
    assert team.workspace.views("alex") == []
    assert fold(await team.moot.store.events(debate.id)).seq == debate.seq


@pytest.mark.parametrize(
    ("callback", "more"),
    [
        (CallbackId.ANSWER_FORM, {}),
        (CallbackId.BALLOT_FORM, {}),
        (CallbackId.OPTIONS_FORM, {"edits": "many"}),
        (CallbackId.DECISION_FORM, {"kind": "reject"}),
        (CallbackId.ADD_CONTEXT_FORM, {}),
        (CallbackId.COMMENT_FORM, {"helpful": "no"}),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_made_up_form_changes_nothing_and_says_no_more_than_an_unknown_id(
    guarded: tuple[Team, Debate], callback: CallbackId, more: Mapping[str, str]
):
    team, debate = guarded
    receipt = await forged_form(team, callback, {"debate": debate.id, **more})
    text = json.dumps(child(receipt.body, "view"))
    assert f"There is no debate `{debate.id}`" in text
    assert "Globex" not in text
    assert fold(await team.moot.store.events(debate.id)).seq == debate.seq


async def test_made_up_settings_and_a_made_up_start_for_a_foreign_channel_do_nothing(team: Team):
    secret, _, _ = await with_secret(team)
    channel = team.workspace.channel(secret.channel).id
    before = len(secret.workspace.messages(secret.channel))
    for callback in (CallbackId.SETTINGS_FORM, CallbackId.START_FORM):
        await forged_form(team, callback, {"channel": channel, "source": ""})
    await team.wait_until_sent()
    assert len(secret.workspace.messages(secret.channel)) == before
    assert len(await team.moot.store.find(DebateFilter())) == 1
