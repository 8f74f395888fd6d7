"""Through Slack: what a channel accepted stands in its canvas of decisions."""

from bot.slack.ids import ActionId
from bot.testing import CHANNEL, WAIT_SECONDS, BotSpec, Team, team_at_work
from core.landing import LandingPlaces, RegisterPlace
from tests.scenarios.test_deciding import chosen_why, decide, ended
from tests.scenarios.test_missing_scopes import a_workspace_without, said

UNDONE = "The canvas with this channel's decisions could not be brought up to date."


def spec() -> BotSpec:
    places = LandingPlaces(registers=(RegisterPlace(name="register"),))
    return BotSpec(rounds=1, landing=places)


async def line_with(team: Team, words: str) -> str:
    """Wait until the only canvas of the channel has one line, with these words; return it."""

    def found() -> str:
        text = "\n".join(one.markdown for one in team.workspace.canvases(CHANNEL))
        lines = [line for line in text.splitlines() if line.startswith("- ")]
        return lines[0] if len(lines) == 1 and words in lines[0] else ""

    return str(await team.workspace.wait_for(found, timeout=WAIT_SECONDS))


async def test_an_accepted_verdict_stands_in_the_canvas_until_it_is_rejected_again() -> None:
    async with team_at_work(spec=spec()) as team:
        board, _ = await ended(team)
        await decide(team, board, ActionId.ACCEPT)
        line = await line_with(team, "accepted by dana")
        await decide(team, board, ActionId.REJECT, chosen_why("Too slow."))
        await line_with(team, "rejected (said by dana")
    channel = team.workspace.channel(CHANNEL).id
    assert f"/archives/{channel}/p" in line
    assert [one.title for one in team.workspace.canvases(CHANNEL)] == ["Decisions"]
    assert UNDONE not in str(team.thread(board))


async def test_where_the_scope_lacks_the_first_who_accepts_is_told_and_all_else_goes_on() -> None:
    async with team_at_work(spec=spec(), config=a_workspace_without("canvases:write")) as team:
        board, _ = await ended(team)
        await decide(team, board, ActionId.ACCEPT)
        why = await said(team, board, UNDONE)
        second, debate = await ended(team, "Tabs or spaces?")
        await decide(team, second, ActionId.ACCEPT)
        while (await team.moot.landing.landings.backlog()).dead < 2:
            await team.moot.landing.clock.sleep(0.02)
        await team.wait_until_sent()
        accepted = (await team.moot.store.events(debate.id))[-1]
    assert "Moot lacks the permission canvases:write" in why
    assert "Your decision itself is recorded." in why
    assert "decision_recorded" in str(accepted.event)
    assert UNDONE not in str(team.thread(second))
