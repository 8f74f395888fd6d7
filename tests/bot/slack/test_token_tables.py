"""The tables of tokens: replicas do not undo each other's work, and failures have words."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.app import running
from bot.settings import OAuthAccess, SlackAccess
from bot.slack.install.token_cipher import Cipher
from bot.slack.install.tokens import STATE_SECONDS, States, Tokens, token_tables
from bot.store.records import Organisations
from bot.store.tables import prepare
from bot.testing import BotSpec, quick_workspace
from core.errors import StoreDown, StoreError
from core.store.database import Database
from slack_on_loopback import run_workspace

KEY, NEWER_KEY = Fernet.generate_key().decode(), Fernet.generate_key().decode()
#: Wait for a lock no longer than these seconds.
HURRIED = "?timeout=0.05"
ROTATE = text("UPDATE slack_bots SET bot_token = :token, bot_refresh_token = :refresh")
WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


def a_bot(token: str) -> Bot:
    return Bot(
        app_id="A1",
        enterprise_id=None,
        team_id="T1",
        bot_token=token,
        bot_id="B1",
        bot_user_id="U1",
        bot_scopes="chat:write",
        bot_refresh_token=f"refresh {token}",
        bot_token_expires_at=9_999_999_999,
        installed_at=1_700_000_000.0,
    )


@asynccontextmanager
async def open_tables(url: str, *keys: str) -> AsyncGenerator[Tokens]:
    async with open_both(url, *keys) as (tokens, _):
        yield tokens


@asynccontextmanager
async def open_both(
    url: str,
    *keys: str,
    rotator: AsyncTokenRotator | None = None,
    client: Callable[[str], AsyncWebClient] = AsyncWebClient,
) -> AsyncGenerator[tuple[Tokens, States]]:
    async with await Database.open(url.removesuffix(HURRIED)) as database:
        await prepare(database)
        async with token_tables(
            url,
            "1.2",
            organisations=Organisations(database),
            cipher=Cipher(keys),
            rotator=rotator or AsyncTokenRotator(client_id="1.2", client_secret="-"),
            client=client,
        ) as stores:
            yield stores


async def tokens_of(tokens: Tokens) -> tuple[str | None, str | None]:
    bot = await tokens.async_find_bot(enterprise_id=None, team_id="T1")
    return (bot.bot_token, bot.bot_refresh_token) if bot else (None, None)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(300):
        while not await is_so():  # noqa: ASYNC110 - a server tells nobody
            await asyncio.sleep(0.02)


async def read_by(url: str, *keys: str) -> tuple[str | None, str | None]:
    async with open_tables(url, *keys) as tokens:
        return await tokens_of(tokens)


async def somebody_waits(engine: AsyncEngine) -> bool:
    async with engine.connect() as connection:
        return bool((await connection.execute(WAITING)).scalar_one())


async def test_a_starting_replica_leaves_alone_what_another_one_rotates_meanwhile(on_postgres: str):
    async with open_tables(on_postgres, KEY) as tokens:
        await tokens.async_save_bot(a_bot("old"))
    encrypt = Cipher([KEY]).encrypt
    rotated = {"token": encrypt("new"), "refresh": encrypt("refresh new")}
    other = create_async_engine(on_postgres)
    async with other.begin() as rotating:
        await rotating.execute(ROTATE, rotated)
        starting = asyncio.create_task(read_by(on_postgres, NEWER_KEY, KEY))
        await until(lambda: somebody_waits(other))  # it has read the old token

    assert await starting == ("new", "refresh new")
    await other.dispose()


async def test_a_start_changes_no_token_that_is_under_the_newest_key(tmp_path: Path):
    url = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with open_tables(url, KEY) as tokens:
        await tokens.async_save_bot(a_bot("old"))
    before = stored(tmp_path)
    async with open_tables(url, KEY):
        assert stored(tmp_path) == before
    async with open_tables(url, NEWER_KEY, KEY) as tokens:
        assert stored(tmp_path) != before
        assert await tokens_of(tokens) == ("old", "refresh old")


def stored(folder: Path) -> str:
    with sqlite3.connect(folder / "moot.db") as connection:
        return str(connection.execute("SELECT bot_token FROM slack_bots").fetchone()[0])


async def test_a_database_that_fails_is_the_stores_error(tmp_path: Path):
    async with open_tables(f"sqlite+aiosqlite:///{tmp_path}/moot.db{HURRIED}", KEY) as tokens:
        with sqlite3.connect(tmp_path / "moot.db") as elsewhere:
            elsewhere.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreDown, match=r"moot\.db is locked"):
                await tokens.async_save_bot(a_bot("old"))
        with sqlite3.connect(tmp_path / "moot.db") as elsewhere:
            elsewhere.execute("DROP TABLE slack_bots")
        with pytest.raises(StoreError, match="refused"):
            await tokens_of(tokens)


async def test_a_running_bot_forgets_visits_that_came_to_nothing(tmp_path: Path):
    url = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with open_both(url, KEY) as (_, states):
        states.expiration_seconds = -1
        await states.async_issue()
        states.expiration_seconds = STATE_SECONDS
        await states.async_issue()
    oauth = OAuthAccess(
        client_id="1.2", client_secret="-", token_keys=(KEY,), public_url="http://127.0.0.1"
    )
    async with run_workspace(quick_workspace()) as workspace:
        parts = BotSpec().parts(workspace, tmp_path / "moot.db")
        async with running(replace(parts, slack=SlackAccess(oauth=oauth, signing_secret="-"))):
            await until(lambda: is_left(tmp_path, 1))


async def is_left(folder: Path, count: int) -> bool:
    with sqlite3.connect(folder / "moot.db") as connection:
        row = connection.execute("SELECT count(*) FROM slack_oauth_states").fetchone()
    return row == (count,)
