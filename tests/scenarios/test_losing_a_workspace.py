"""Moot is removed from a workspace during a debate, and gets no event about it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.app import running
from bot.testing import WAIT_SECONDS, BotSpec, Team
from core.debate.state import Status
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import run_oauth_server
from tests.scenarios.test_installing import (
    QUESTION,
    Hall,
    a_workspace,
    access,
    bot_of,
    free_port,
    tokens_in,
)


@asynccontextmanager
async def a_slow_hall(
    database: Path, provider: ScriptedProvider, *, enterprise_id: str, is_org_wide: bool
) -> AsyncGenerator[Hall]:
    """Run a bot with one workspace, installed, and debates of three rounds."""
    config = a_workspace("Riverside", enterprise_id=enterprise_id, is_org_wide=is_org_wide)
    async with run_oauth_server(config) as oauth_server:
        port = free_port()
        parts = BotSpec(provider=provider, rounds=3).parts(oauth_server.workspaces[0], database)
        parts = replace(
            parts,
            slack=access(oauth_server, port),
            environment=parts.environment.model_copy(update={"moot_port": port}),
        )
        async with running(parts) as moot:
            hall = Hall(oauth_server, moot)
            await hall.connect()
            yield hall


async def status_after(team: Team, status: Status) -> str:
    """Wait until the status of the only debate changes; return the new one."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            [entry] = await team.moot.store.find(DebateFilter())
            if entry.status != status:
                return entry.status
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("enterprise_id", "is_org_wide"), [("", False), ("E0GRID", False), ("E0GRID", True)]
)
async def test_a_debate_that_nobody_can_read_any_more_ends_and_asks_no_more_models(
    tmp_path: Path, enterprise_id: str, *, is_org_wide: bool
) -> None:
    provider = ScriptedProvider()
    provider.hold(Act.CRITIQUE)
    async with a_slow_hall(
        tmp_path / "moot.db", provider, enterprise_id=enterprise_id, is_org_wide=is_org_wide
    ) as hall:
        team = hall.team()
        await team.debate(QUESTION)
        await provider.wait_until_asked(Act.CRITIQUE)
        await team.wait_until_sent()
        # As if another replica had got the event of the removal.
        team_id = None if is_org_wide else team.workspace.state.team_id
        await hall.moot.context.clients.leave(enterprise_id or None, team_id)
        provider.let_go()  # the next edit of the board is refused
        provider.hold(Act.REFINEMENT)

        assert await status_after(team, Status.RUNNING) == Status.FAILED
        assert not provider.requests_of(Act.SYNTHESIS)


async def test_after_a_restart_removal_is_heard_though_the_token_is_worthless_by_then(
    tmp_path: Path,
) -> None:
    database = tmp_path / "moot.db"
    async with run_oauth_server(a_workspace("Riverside")) as oauth_server:
        async with bot_of(oauth_server, database) as hall:
            await hall.connect()
        async with bot_of(oauth_server, database) as hall:
            assert tokens_in(database)
            hall.team().workspace.uninstall()
            await hall.team().workspace.wait_for(lambda: not tokens_in(database))
