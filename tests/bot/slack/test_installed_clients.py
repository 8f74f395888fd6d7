"""A token rotated while its client is asked for: what Slack gives out once is not lost."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.client import slack_client
from bot.slack.install.tokens import Tokens
from bot.testing import quick_workspace
from slack_on_loopback import run_workspace
from tests.bot.slack.test_token_tables import HURRIED, KEY, a_bot, open_both, tokens_of


class Rotating(AsyncTokenRotator):
    """Rotates every token but the new one; takes its time, and locks the database if told so."""

    def __init__(self) -> None:
        super().__init__(client_id="1.2", client_secret="secret")
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.locked: sqlite3.Connection | None = None

    async def perform_bot_token_rotation(
        self, *, bot: Bot, minutes_before_expiration: int = 120
    ) -> Bot | None:
        del minutes_before_expiration
        if bot.bot_token == "new":
            return None
        self.asked.set()
        await self.go_on.wait()
        if self.locked:
            self.locked.execute("BEGIN EXCLUSIVE")
            asyncio.get_running_loop().call_later(0.4, self.locked.rollback)
        return a_bot("new")


@asynccontextmanager
async def tokens_with(rotator: Rotating, folder: Path) -> AsyncGenerator[Tokens]:
    url = f"sqlite+aiosqlite:///{folder}/moot.db{HURRIED}"
    async with run_workspace(quick_workspace()) as workspace:

        def client(_token: str) -> AsyncWebClient:
            return slack_client(workspace.bot_token, workspace.api_url)

        async with open_both(url, KEY, rotator=rotator, client=client) as (tokens, _):
            await tokens.async_save_bot(a_bot("old"))
            yield tokens


async def test_a_rotated_token_is_saved_once_the_database_takes_it(tmp_path: Path):
    rotator = Rotating()
    rotator.go_on.set()
    async with tokens_with(rotator, tmp_path) as tokens:
        rotator.locked = sqlite3.connect(tmp_path / "moot.db")
        await tokens.of("T1")
        rotator.locked.close()
        assert await tokens_of(tokens) == ("new", "refresh new")


async def test_a_rotated_token_is_saved_though_who_asked_does_not_wait_for_it(tmp_path: Path):
    rotator = Rotating()
    async with tokens_with(rotator, tmp_path) as tokens:
        hurried = asyncio.create_task(tokens.of("T1"))
        await rotator.asked.wait()
        hurried.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hurried
        rotator.go_on.set()
        await tokens.close()
        assert await tokens_of(tokens) == ("new", "refresh new")


async def test_workspaces_of_an_organisation_that_installed_it_as_a_whole_are_known(tmp_path: Path):
    async with tokens_with(Rotating(), tmp_path) as tokens:
        everywhere = a_bot("new")
        everywhere.team_id, everywhere.enterprise_id = None, "E1"
        everywhere.is_enterprise_install = True
        await tokens.async_save_bot(everywhere)
        assert await tokens.teams() == ["T1"]
        await tokens._organisations.note("T7", "E1")
        await tokens._organisations.note("T8", "E2")
        assert await tokens.teams() == ["T1", "T7"]
