"""Access to debates in large channels, with a slow Slack, and with changing members."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace

import pytest

from bot.slack.access import SlackUnavailable
from bot.slack.ids import ActionId
from bot.testing import UNHURRIED, BotSpec, Team, quick_workspace, team_at_work
from core.debate.state import Status
from core.debate.turn import Act
from core.testing import ScriptedProvider
from slack_on_loopback import ChannelSpec, UserSpec, WorkspaceConfig
from tests.scenarios.test_starting import estimated, form_values

QUESTION = "Kafka or PostgreSQL for our jobs?"
MEMBERS = 3000
#: A member on the thirteenth page of 200 members.
LATE = "u2500"
SILENT = str(SlackUnavailable())
ASKING = ("users.conversations", "conversations.members")


def crowded() -> WorkspaceConfig:
    """A workspace whose channel has thousands of members, and one person outside of it."""
    people = tuple(UserSpec(f"u{number}", f"U {number}") for number in range(MEMBERS))
    names = tuple(person.name for person in people)
    channel = ChannelSpec("everybody", members=names, with_bot=True)
    outside = UserSpec("alex", "Alex")
    return replace(quick_workspace(), users=(*people, outside), channels=(channel,))


@pytest.fixture
async def crowd() -> AsyncGenerator[Team]:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)  # so that the stop comes in time
    async with team_at_work(config=crowded(), spec=BotSpec(provider=models)) as team:
        yield replace(team, user=LATE, channel="everybody")


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        yield team


def membership_calls(team: Team) -> list[str]:
    """The calls that asked Slack for members or for a person's channels.

    Calls without user and channel are left out: they search for missed mentions.
    """
    calls = team.workspace.runtime.calls.entries
    return [
        call.method
        for call in calls
        if call.method in ASKING and {"user", "channel"} & set(call.args)
    ]


def silence(team: Team) -> None:
    """Let the calls about membership fail from now on."""
    for method in ASKING:
        team.workspace.faults.server_error(method, times=None)


async def test_any_of_thousands_can_steer_list_and_show(crowd: Team) -> None:
    for method in ASKING:
        crowd.workspace.faults.delay(method, 0.15, times=None)
    board = await crowd.debate(QUESTION)
    await crowd.type("list")
    assert QUESTION in crowd.ephemeral_texts()[-1]
    await crowd.click(board)
    debate = await crowd.wait_for_end(board)
    assert debate.stop
    await crowd.type(f"show {debate.id}")
    assert "not decided on yet" in crowd.ephemeral_texts()[-1] or debate.status is Status.FAILED


async def test_a_command_is_answered_after_more_seconds_than_bolt_waits_by_itself() -> None:
    async with team_at_work() as team:
        team.workspace.faults.delay("users.conversations", 3.2, times=None)
        await team.type("list")
        assert "No debates in this channel yet" in team.ephemeral_texts()[-1]


async def test_who_is_not_among_thousands_sees_nothing(crowd: Team) -> None:
    board = await crowd.debate(QUESTION)
    debate_id = crowd.debate_id(board)
    await crowd.type(f"show {debate_id}", user="alex")
    assert crowd.ephemeral_texts("alex")[-1].startswith(f"There is no debate `{debate_id}`")


async def test_clicks_in_a_row_ask_slack_once(crowd: Team) -> None:
    await crowd.debate(QUESTION)
    for _ in range(3):
        await crowd.type("list")
    assert membership_calls(crowd) == ["users.conversations"]


async def test_who_just_joined_is_let_in_at_once(team: Team) -> None:
    await team.workspace.channel_action(
        "dana", "create", name="plans", is_private=True, members=["dana"]
    )
    await team.workspace.channel_action("dana", "invite", channel="plans", member="moot")
    await team.type("search kafka", user="alex")
    await team.workspace.channel_action("dana", "invite", channel="plans", member="alex")
    plans = replace(team, channel="plans")
    await plans.type("list", user="alex")
    assert "No debates in this channel yet" in plans.ephemeral_texts("alex")[-1]


async def test_where_a_persons_channels_are_not_told_the_channels_own_list_counts(
    team: Team,
) -> None:
    team.workspace.faults.rate_limit("users.conversations", seconds=30, times=None)
    await team.type("list")
    assert "No debates in this channel yet" in team.ephemeral_texts()[-1]
    assert team.workspace.calls.of("users.conversations", "ratelimited")
    assert membership_calls(team) == [
        "conversations.members"
    ]  # refused calls are logged without arguments


async def test_a_channel_the_bot_is_not_in_can_be_listed_by_its_members(team: Team) -> None:
    outside = replace(team, channel="random")
    await outside.type("list")
    assert "No debates in this channel yet" in outside.ephemeral_texts()[-1]


Fault = Callable[[Team, str], object]
FAULTS: Mapping[str, Fault] = {
    "slow": lambda team, method: team.workspace.faults.delay(method, 60, times=None),
    "broken": lambda team, method: team.workspace.faults.server_error(method, times=None),
    "gone": lambda team, method: team.workspace.faults.drop_before(method, times=None),
    "busy": lambda team, method: team.workspace.faults.rate_limit(method, seconds=30, times=None),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_when_slack_does_not_say_people_are_told_so(fault: str) -> None:
    hurried = replace(UNHURRIED, call=0.2, membership=0.2)
    spec = BotSpec(rounds=1, timeouts=hurried if fault == "slow" else UNHURRIED)
    async with team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        for method in ASKING:
            FAULTS[fault](team, method)
        for words in ("list", f"show {debate.id}", "search kafka"):
            await team.type(words)
            assert team.ephemeral_texts()[-1] == SILENT


async def test_a_click_is_answered_when_slack_does_not_say(team: Team) -> None:
    board = await team.debate(QUESTION)
    await team.wait_for_end(board)
    silence(team)
    await team.click(team.verdict(board), ActionId.ACCEPT.value)
    await team.workspace.wait_for(lambda: team.ephemeral_texts()[-1] == SILENT)


async def test_a_form_keeps_what_was_typed_when_slack_does_not_say(team: Team) -> None:
    await team.type("")
    form = await estimated(team)
    silence(team)
    answer = await team.workspace.submit("dana", form["id"], form_values(question=QUESTION))
    assert answer["response_action"] == "errors"
    assert SILENT in answer["errors"].values()
    team.workspace.faults.clear()
    await team.workspace.submit("dana", form["id"], form_values(question=QUESTION))
    await team.wait_for_end(await team.new_board())


async def test_home_says_when_slack_does_not_say(team: Team) -> None:
    silence(team)
    await team.workspace.open_home("dana")
    drawn = await team.workspace.wait_for(lambda: team.workspace.home("dana"))
    assert "Slack did not say in time" in json.dumps(drawn)
