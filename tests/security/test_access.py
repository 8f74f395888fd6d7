"""Whoever guesses an id sees and changes nothing: every command, button and form, both ways."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.testing import Team
from core.models import Status
from tests.security.sending import a_command, example, http_team, send

#: One bot and one debate for all tests: whatever they try, nothing changes.
pytestmark = pytest.mark.asyncio(loop_scope="module")
#: Said in the private channel only.
SECRET = "wombat"
QUESTION = f"Should we sell the {SECRET} project or keep it for our job queue?"


@dataclass(frozen=True)
class Intruder:
    """Somebody with the id of a debate, and what they pretend to be."""

    team: Team
    debate_id: str
    private: str
    user: str
    workspace: str

    async def events(self) -> int:
        return len(await self.team.moot.store.events(self.debate_id))

    async def clicks(self, action: str, value: str) -> str:
        body = example("block_actions") | self._who()
        body["actions"] = [{"action_id": action, "block_id": "b", "type": "button", "value": value}]
        body["channel"] = {"id": self.team.workspace.channel(self.team.channel).id}
        return (await send(self.team, "block_actions", body))[1]

    async def submits(self, callback: str, kept: dict[str, str]) -> str:
        body = example("view_submission") | self._who()
        body["view"] |= {
            "id": f"V{callback}",
            "callback_id": callback,
            "private_metadata": json.dumps(kept),
            "state": {"values": FILLED},
        }
        return (await send(self.team, "view_submission", body))[1]

    async def types(self, words: str, channel: str = "") -> str:
        changes = {"user_id": self.user, "team_id": self.workspace}
        body = a_command(
            self.team, words, **changes, **({"channel_id": channel} if channel else {})
        )
        return (await send(self.team, "command", body))[1]

    def _who(self) -> dict[str, Any]:
        return {"team": {"id": self.workspace}, "user": {"id": self.user, "name": "x"}}


FILLED: dict[str, Any] = {
    field.value: {
        field.value: {
            "value": "2" if field is FieldId.COST_CAP else "Should we do it or not?",
            "selected_option": {"value": "reject"},
            "selected_options": [],
            "selected_date": "2999-01-01",
        }
    }
    for field in FieldId
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def team() -> AsyncGenerator[Team]:
    async with http_team() as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outsider(team: Team) -> Intruder:
    """alex, who is not in the private channel of the debate."""
    await team.workspace.channel_action(
        "dana", "create", name="board-room", is_private=True, members=["dana"]
    )
    await team.workspace.channel_action("dana", "invite", channel="board-room", member="moot")
    room = replace(team, channel="board-room")
    board = await room.debate(QUESTION)
    debate = await room.wait_for_end(board)
    assert debate.status is Status.CONCLUDED
    return Intruder(
        team,
        debate.id,
        team.workspace.channel("board-room").id,
        team.workspace.user("alex").id,
        team.workspace.state.team_id,
    )


@pytest.fixture
def stranger(outsider: Intruder) -> Intruder:
    """The starter's own id, in another workspace."""
    dana = outsider.team.workspace.user("dana").id
    return replace(outsider, user=dana, workspace="T0STRANGE")


async def try_buttons(who: Intruder) -> None:
    before = await who.events()
    for action in ActionId:
        for value in (who.debate_id, f"{who.debate_id}/1", f"{who.debate_id}/good"):
            assert SECRET not in await who.clicks(action.value, value)
    assert await who.events() == before


async def try_forms(who: Intruder) -> None:
    before = await who.events()
    for callback in CallbackId:
        for kind in ("accept", "reject", "revisit", "supersede", "nonsense"):
            kept = {"debate": who.debate_id, "kind": kind, "channel": who.private}
            assert SECRET not in await who.submits(callback.value, kept)
    assert await who.events() == before
    stored = await who.team.moot.store.unfinished()
    assert not stored


async def try_commands(who: Intruder) -> None:
    before = await who.events()
    words = ("show {0}", "stop {0}", "show `{0}`", "list", "search project", "search sell keep")
    for word in words:
        assert SECRET not in await who.types(word.format(who.debate_id))
    assert await who.events() == before


async def test_no_button_opens_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_buttons(outsider)
    opened = [one for one in outsider.team.workspace.calls.entries if one.method == "views.open"]
    assert SECRET not in json.dumps([one.args for one in opened])


async def test_no_form_reaches_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_forms(outsider)


async def test_no_command_shows_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_commands(outsider)


async def test_no_button_works_from_another_workspace(stranger: Intruder) -> None:
    await try_buttons(stranger)


async def test_no_form_works_from_another_workspace(stranger: Intruder) -> None:
    await try_forms(stranger)


async def test_no_command_works_from_another_workspace(stranger: Intruder) -> None:
    await try_commands(stranger)


async def test_an_unknown_id_and_a_forbidden_one_are_answered_alike(outsider: Intruder) -> None:
    forbidden = await outsider.types(f"show {outsider.debate_id}")
    unknown = await outsider.types("show dzzzzzz2")

    assert forbidden.replace(outsider.debate_id, "dzzzzzz2") == unknown


async def test_who_is_in_the_channel_does_see_it(outsider: Intruder) -> None:
    insider = replace(outsider, user=outsider.team.workspace.user("dana").id)

    assert SECRET in await insider.types(f"show {outsider.debate_id}")


async def test_settings_of_a_channel_one_is_not_in_stay(outsider: Intruder) -> None:
    answer = await outsider.submits("settings_form", {"channel": outsider.private})

    assert "Not done" in answer
    assert not await outsider.team.moot.posts.channels_with_work()
