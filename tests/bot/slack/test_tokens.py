"""Tokens: stored encrypted, rotated by several replicas, and never lost."""

import asyncio
import sqlite3
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from bot.app import running
from bot.settings import OAuthAccess, SlackAccess
from bot.slack.client import slack_client
from bot.slack.install.tokens import (
    STATE_SECONDS,
    Cipher,
    States,
    Tokens,
    TokenUnreadable,
    token_tables,
)
from bot.store.records import Organisations
from bot.store.tables import prepare
from bot.testing import BotSpec, quick_workspace
from core.errors import ConfigurationBroken
from core.store.database import Database
from slack_on_loopback import run_workspace

KEY, NEWER_KEY = Fernet.generate_key().decode(), Fernet.generate_key().decode()
#: Parameter of the database: the longest wait for a lock, in seconds.
HURRIED = "?timeout=0.05"
ROTATE = text("UPDATE slack_bots SET bot_token = :token, bot_refresh_token = :refresh")
WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
OLD, NEW = ("old", "refresh old"), ("new", "refresh new")


def a_bot(token: str, team: str | None = "T1", organisation: str | None = None) -> Bot:
    return Bot(
        app_id="A1",
        enterprise_id=organisation,
        team_id=team,
        is_enterprise_install=team is None,
        bot_token=token,
        bot_id="B1",
        bot_user_id="U1",
        bot_scopes="chat:write",
        bot_refresh_token=f"refresh {token}",
        bot_token_expires_at=9_999_999_999,
        installed_at=1_700_000_000.0,
    )


@asynccontextmanager
async def open_tables(
    url: str,
    *keys: str,
    rotator: AsyncTokenRotator | None = None,
    client: Callable[[str], AsyncWebClient] = AsyncWebClient,
) -> AsyncGenerator[tuple[Tokens, States]]:
    async with await Database.open(url.removesuffix(HURRIED)) as database:
        await prepare(database)
        tokens_in = partial(
            Tokens,
            "1.2",
            organisations=Organisations(database),
            cipher=Cipher(keys),
            rotator=rotator or AsyncTokenRotator(client_id="1.2", client_secret="-"),
            client=client,
        )
        async with token_tables(url, tokens_in) as stores:
            yield stores


async def tokens_of(tokens: Tokens) -> tuple[str | None, str | None]:
    bot = await tokens.async_find_bot(enterprise_id=None, team_id="T1")
    return (bot.bot_token, bot.bot_refresh_token) if bot else (None, None)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(300):
        while not await is_so():  # noqa: ASYNC110 - a server tells nobody
            await asyncio.sleep(0.02)


def stored(folder: Path, query: str) -> object:
    with sqlite3.connect(folder / "moot.db") as connection:
        return connection.execute(query).fetchone()[0]


async def test_a_starting_replica_keeps_a_token_that_another_one_rotates_meanwhile(
    on_postgres: str,
) -> None:
    async def start_with_a_newer_key() -> tuple[str | None, str | None]:
        async with open_tables(on_postgres, NEWER_KEY, KEY) as (tokens, _):
            return await tokens_of(tokens)

    async def somebody_waits() -> bool:
        async with other.connect() as connection:
            return bool((await connection.execute(WAITING)).scalar_one())

    async with open_tables(on_postgres, KEY) as (tokens, _):
        await tokens.async_save_bot(a_bot("old"))
    token, refresh = map(Cipher([KEY]).encrypt, NEW)
    other = create_async_engine(on_postgres)
    async with other.begin() as rotating:
        await rotating.execute(ROTATE, {"token": token, "refresh": refresh})
        starting = asyncio.create_task(start_with_a_newer_key())
        await until(somebody_waits)  # the starting replica has read the old token
    assert await starting == NEW
    await other.dispose()


async def test_a_start_changes_only_tokens_that_are_not_under_the_newest_key(
    tmp_path: Path,
) -> None:
    url, query = f"sqlite+aiosqlite:///{tmp_path}/moot.db", "SELECT bot_token FROM slack_bots"
    async with open_tables(url, KEY) as (tokens, _):
        await tokens.async_save_bot(a_bot("old"))
    before = stored(tmp_path, query)
    async with open_tables(url, KEY):
        assert stored(tmp_path, query) == before
    async with open_tables(url, NEWER_KEY, KEY) as (tokens, _):
        assert stored(tmp_path, query) != before
        assert await tokens_of(tokens) == OLD


async def test_a_running_bot_deletes_expired_oauth_states(tmp_path: Path) -> None:
    async def only_one_is_left() -> bool:
        return stored(tmp_path, "SELECT count(*) FROM slack_oauth_states") == 1

    async with open_tables(f"sqlite+aiosqlite:///{tmp_path}/moot.db", KEY) as (_, states):
        for states.expiration_seconds in (-1, STATE_SECONDS):
            await states.async_issue()
    oauth = OAuthAccess(
        client_id="1.2", client_secret="-", token_keys=(KEY,), public_url="http://127.0.0.1"
    )
    async with run_workspace(quick_workspace()) as workspace:
        parts = BotSpec().parts(workspace, tmp_path / "moot.db")
        async with running(replace(parts, slack=SlackAccess(oauth=oauth, signing_secret="-"))):
            await until(only_one_is_left)


class Rotating(AsyncTokenRotator):
    """Rotates every token except the new one, when `go_on` is set; can lock the database."""

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

        async with open_tables(url, KEY, rotator=rotator, client=client) as (tokens, _):
            await tokens.async_save_bot(a_bot("old"))
            yield tokens


async def test_a_rotated_token_is_saved_when_the_database_is_free_again(tmp_path: Path) -> None:
    rotator = Rotating()
    rotator.go_on.set()
    async with tokens_with(rotator, tmp_path) as tokens:
        rotator.locked = sqlite3.connect(tmp_path / "moot.db")
        await tokens.for_workspace("T1")
        rotator.locked.close()
        assert await tokens_of(tokens) == NEW


async def test_a_rotated_token_is_saved_even_if_the_caller_is_cancelled(
    tmp_path: Path,
) -> None:
    rotator = Rotating()
    async with tokens_with(rotator, tmp_path) as tokens:
        hurried = asyncio.create_task(tokens.for_workspace("T1"))
        await rotator.asked.wait()
        hurried.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hurried
        rotator.go_on.set()
        await tokens.close()
        assert await tokens_of(tokens) == NEW


TOKEN = "xoxb-1234567890-abc"
#: Constant, because they are part of test ids.
OLD_KEY, NEW_KEY = (
    urlsafe_b64encode(bytes(range(first, first + 32))).decode() for first in (0, 100)
)


def test_a_new_key_in_front_encrypts_and_the_old_one_still_opens() -> None:
    stored, both = Cipher([OLD_KEY]).encrypt(TOKEN), Cipher([NEW_KEY, OLD_KEY])

    assert TOKEN not in stored
    assert both.decrypt(stored) == TOKEN
    assert Cipher([NEW_KEY]).decrypt(both.encrypt(TOKEN)) == TOKEN
    assert Cipher([NEW_KEY]).decrypt(both.renew(stored)) == TOKEN
    assert Cipher([NEW_KEY]).renew(stored) == stored, "its key may come back"


@pytest.mark.parametrize("stored", ["", "xoxb-plain", "gAAAAA", Cipher([OLD_KEY]).encrypt(TOKEN)])
def test_a_value_that_no_key_decrypts_is_no_token(stored: str) -> None:
    with pytest.raises(TokenUnreadable, match="MOOT_TOKEN_KEYS") as caught:
        Cipher([NEW_KEY]).decrypt(stored)
    assert not stored or stored not in str(caught.value)


@pytest.mark.parametrize(
    "key",
    ["", "changeme", "a" * 44, "A" * 43 + "=", NEW_KEY[:-2], NEW_KEY + "ä", "0123456789abcdef" * 2],
)
def test_an_invalid_key_is_rejected_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationBroken, match="A key in MOOT_TOKEN_KEYS") as caught:
        Cipher([OLD_KEY, key])
    assert not key or key not in str(caught.value)
    assert OLD_KEY not in str(caught.value)


async def test_workspaces_of_an_organisation_that_installed_it_as_a_whole_are_known(
    tmp_path: Path,
) -> None:
    async with tokens_with(Rotating(), tmp_path) as tokens:
        await tokens.async_save_bot(a_bot("new", team=None, organisation="E1"))
        assert await tokens.teams() == ["T1"]
        await tokens._organisations.note("T7", "E1")
        await tokens._organisations.note("T8", "E2")
        assert await tokens.teams() == ["T1", "T7"]
