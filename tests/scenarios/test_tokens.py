"""Tokens for programs: made, listed and revoked in Slack; valid while their owner is active."""

import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import pytest_asyncio

from bot.mcp.in_slack import TokenCallers
from bot.operations.backup import purge
from bot.slack.access import WorkspaceDirectories
from bot.testing import BotSpec, Team, quick_workspace, running_bot, team_at_work
from core.store.upkeep import PurgeFilter
from core.usage import SpendingScope
from core.use_cases.limits import Bounds
from slack_on_loopback import run_workspace

pytestmark = pytest.mark.asyncio(loop_scope="module")
SPEC = BotSpec(token_lifetime=timedelta(days=90), bounds=Bounds(tokens_per_person=2))
TOKEN = re.compile(r"moot_[0-9a-f]{16}_[0-9a-f]{64}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=SPEC) as team:
        yield team


def callers(team: Team, day_cost: Decimal | None = None) -> TokenCallers:
    context = team.moot.context
    return TokenCallers(
        tokens=context.records.tokens,
        directories=context.directories,
        spending=team.moot.store,
        clock=context.clock,
        day_cost=day_cost,
    )


async def typed(team: Team, words: str, user: str) -> str:
    """Type a command; return the private answer."""
    before = len(team.ephemeral_texts(user))
    await team.type(words, user=user)
    return "\n".join(await team.workspace.wait_for(lambda: team.ephemeral_texts(user)[before:]))


async def a_token(team: Team, user: str) -> str:
    match = TOKEN.search(await typed(team, "token", user))
    assert match
    return match[0]


async def test_a_token_is_shown_once_to_who_asked_and_to_nobody_else(team: Team) -> None:
    text = await typed(team, "token new my *laptop*", "dana")
    token = TOKEN.findall(text)[0]
    assert "ends in `/mcp`" in text
    listed = await typed(team, "token list", "dana")
    assert "my *laptop*" in listed
    assert "never used" in listed
    assert token.rpartition("_")[2] not in listed
    assert token not in str(team.workspace.messages(team.channel)) + str(
        team.ephemeral_texts("alex")
    )
    caller = await callers(team).caller(token)
    assert caller
    assert caller.person.id == team.workspace.user("dana").id
    assert caller.workspace == team.workspace.state.team_id
    assert "never used" not in await typed(team, "token list", "dana")


async def test_nobody_has_more_tokens_than_they_may_and_can_end_each(team: Team) -> None:
    first, second = await a_token(team, "alex"), await a_token(team, "alex")
    assert "as many as one person may" in await typed(team, "token", "alex")
    assert "1 token ended" in await typed(team, "token revoke 1", "alex")
    assert await callers(team).caller(first) is None
    assert await callers(team).caller(second)
    assert "You have no token 1" in await typed(team, "token revoke 1", "alex")
    assert "1 token ended" in await typed(team, "token revoke all", "alex")
    assert await callers(team).caller(second) is None
    assert "You have no tokens" in await typed(team, "token list", "alex")


async def test_a_slip_is_told_and_a_question_about_tokens_is_a_question(team: Team) -> None:
    assert "What did you mean?" in await typed(team, "token lst", "dana")
    assert "What did you mean?" in await typed(team, "token revoke me", "dana")
    board = await team.debate("Rotate the token every day or every week for our API?")
    await team.wait_for_end(board)


async def test_a_mention_makes_no_token_because_what_it_is_told_is_kept(team: Team) -> None:
    before = len(team.ephemeral_texts())
    await team.say("@Moot token")
    answers = await team.workspace.wait_for(lambda: team.ephemeral_texts()[before:])
    assert "A mention cannot do that" in answers[0]
    assert not TOKEN.search(str(answers))


async def test_money_that_is_left_today_comes_with_the_caller(team: Team) -> None:
    token = await a_token(team, "dana")
    caller = await callers(team, Decimal("2.00")).caller(token)
    assert caller
    assert caller.cap == Decimal("2.00")


async def test_tokens_of_who_was_deactivated_are_dead(team: Team) -> None:
    token = await a_token(team, "sam")
    assert await callers(team).caller(token)
    await team.workspace.deactivate("sam")
    # A directory without the cached profile, as in another process.
    directories = WorkspaceDirectories(team.moot.context.clients)
    fresh = replace(callers(team), directories=directories)
    assert await fresh.caller(token) is None
    person = team.workspace.user("sam").id
    context = team.moot.context
    now = context.clock.now()
    assert not await context.records.tokens.of(team.workspace.state.team_id, person, now)


async def test_where_programs_may_not_call_there_are_no_tokens() -> None:
    async with team_at_work() as team:
        assert "has not switched MCP on" in await typed(team, "token", "dana")


async def test_tokens_go_with_the_app() -> None:
    async with team_at_work(spec=SPEC) as team:
        token = await a_token(team, "dana")
        team.workspace.uninstall()
        tokens, clock = team.moot.context.records.tokens, team.moot.context.clock
        while await tokens.find(token, clock.now()):
            await clock.sleep(0.02)


@pytest.mark.parametrize("whose", ["person", "workspace"])
async def test_tokens_go_when_what_is_known_of_somebody_is_deleted(
    tmp_path: Path, whose: str
) -> None:
    database = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=SPEC) as team:
            token, others = await a_token(team, "dana"), await a_token(team, "alex")
        dana = workspace.user("dana").id
        only = PurgeFilter(person=dana) if whose == "person" else PurgeFilter()
        await purge(str(database), workspace.state.team_id, None, only)
        content = database.read_bytes()
        assert token.split("_")[1].encode() not in content
        assert (others.split("_")[1].encode() in content) is (whose == "person")


class Spent:
    """Reports this amount as spent today with any token."""

    def __init__(self, amount: str) -> None:
        self._amount = Decimal(amount)

    async def total_cost(self, scope: SpendingScope) -> Decimal:
        del scope
        return self._amount


@pytest.mark.parametrize(("spent", "remainder"), [("1.25", "0.75"), ("2.50", "0.00")])
async def test_what_was_spent_with_a_token_today_is_not_left(
    team: Team, spent: str, remainder: str
) -> None:
    await typed(team, "token revoke all", "dana")
    token = await a_token(team, "dana")
    caller = await replace(callers(team, Decimal("2.00")), spending=Spent(spent)).caller(token)

    assert caller
    assert caller.cap == Decimal(remainder)
