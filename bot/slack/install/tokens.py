"""Tokens of many workspaces: stored encrypted, rotated before they expire, with their clients.

Tokens are in the tables of Slack's SDK in our database, encrypted with keys that are not in it.
Only bot tokens are stored; tokens of people are discarded, because Moot never acts as a person.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.installation_store.models.installation import Installation
from slack_sdk.oauth.installation_store.sqlalchemy import AsyncSQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import MetaData, Table, Text, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.log import logger
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.client import NotInstalled, WorkspaceClient
from bot.slack.payloads import Identity
from bot.store.records import Organisations
from bot.store.sdk_tables import sdk_engine, translated_errors
from core.errors import ConfigurationBroken, StoreError
from core.retry import RetryPolicy, retry

_log = logger(__name__)

_SECRETS = ("bot_token", "bot_refresh_token")
#: Seconds after the install page until its OAuth state expires.
STATE_SECONDS = 600
#: Seconds for which an installation is cached. After that, other replicas' changes are seen.
CACHE_SECONDS = 30.0
#: A token that expires in fewer minutes is rotated. Tokens are valid for twelve hours
#: (https://docs.slack.dev/authentication/using-token-rotation).
ROTATE_MINUTES = 120
#: Tries to save a rotated token, over about 20 seconds.
_SAVE_RETRIES = RetryPolicy(tries=8, first_wait=0.1, longest_wait=10.0)
#: Seconds to wait at shutdown for rotations under way.
_STOP_SECONDS = 3.0
_KEY_BYTES = 32
#: A random key has about 28 different bytes of 32; a key that a person made up has few.
_FEWEST_DIFFERENT = 16
_KEY_HINT = (
    "Make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())'"
)


class TokenUnreadable(ConfigurationBroken):
    """No configured key decrypts a stored token."""


class Cipher:
    """Encrypts with the first key and decrypts with any. A new key is put before the old ones.

    Source: https://cryptography.io/en/latest/fernet/#cryptography.fernet.MultiFernet
    """

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises `ConfigurationBroken` if there is no key or one is invalid."""
        if not keys:
            raise ConfigurationBroken(f"MOOT_TOKEN_KEYS is missing or empty. {_KEY_HINT}")
        fernets = [_fernet(key) for key in keys]
        self._newest, self._fernet = fernets[0], MultiFernet(fernets)

    def encrypt(self, token: str) -> str:
        return self._fernet.encrypt(token.encode()).decode()

    def renew(self, encrypted: str) -> str:
        """Encrypt a token with the first key; unchanged if it is so already, or no key fits."""
        with suppress(InvalidToken):
            self._newest.decrypt(encrypted.encode())
            return encrypted
        with suppress(InvalidToken):
            return self._fernet.rotate(encrypted.encode()).decode()
        return encrypted

    def decrypt(self, encrypted: str) -> str:
        """Raises `TokenUnreadable`."""
        try:
            return self._fernet.decrypt(encrypted.encode()).decode()
        except InvalidToken:
            raise TokenUnreadable(
                "A stored token was encrypted with a key that is not among MOOT_TOKEN_KEYS. Put "
                "the old key back behind the new one, or install Moot there again."
            ) from None


def _fernet(key: str) -> Fernet:
    try:
        raw_key = base64.urlsafe_b64decode(key.encode("ascii"))
    except (binascii.Error, ValueError):
        raw_key = b""
    if len(raw_key) != _KEY_BYTES or len(set(raw_key)) < _FEWEST_DIFFERENT:
        raise ConfigurationBroken(f"A key in MOOT_TOKEN_KEYS cannot be used. {_KEY_HINT}")
    return Fernet(key)


class _WorkspaceIds(NamedTuple):
    enterprise: str | None
    team: str | None


class States(AsyncSQLAlchemyOAuthStateStore):
    """The SDK's store of OAuth states, with a purge.

    Anybody can open the install page, and the SDK deletes only states that Slack's redirect uses.
    """

    async def purge(self, before: datetime) -> None:
        table = self.oauth_states
        expired = table.c.expire_at < before.astimezone(UTC).replace(
            tzinfo=None
        )  # as the SDK stores it
        with translated_errors(self.engine):
            async with self.engine.begin() as connection:
                await connection.execute(table.delete().where(expired))


class Tokens(AsyncSQLAlchemyInstallationStore):
    """The tokens of all workspaces and organisations. Every method may raise `StoreError`.

    It is the installation store of the SDK's OAuth flow, and implements `WorkspaceClients`.
    """

    @classmethod
    def build_bots_table(cls, metadata: MetaData, table_name: str) -> Table:
        """The SDK's table with longer columns: encrypted tokens exceed the SDK's 200 characters."""
        table = super().build_bots_table(metadata, table_name)
        for name in _SECRETS:
            table.c[name].type = Text()
        return table

    def __init__(
        self,
        client_id: str,
        engine: AsyncEngine,
        *,
        organisations: Organisations,
        cipher: Cipher,
        rotator: AsyncTokenRotator,
        client: Callable[[str], AsyncWebClient],
    ) -> None:
        super().__init__(client_id, engine)
        self._cipher = cipher
        self._rotator = rotator
        self._client = client
        self._organisations = organisations
        #: Cached installations, each with the time it expires.
        self._cached: dict[_WorkspaceIds, tuple[float, Bot]] = {}
        #: Cached clients, each with its token: a new token needs a new client.
        self._clients: dict[_WorkspaceIds, tuple[str, WorkspaceClient]] = {}
        #: Lookups of installations under way.
        self._lookups: dict[_WorkspaceIds, asyncio.Task[Bot]] = {}

    # --- clients of workspaces ---

    async def for_workspace(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace; see `WorkspaceClients.for_workspace`."""
        ids = _WorkspaceIds(await self._organisations.of(team_id), team_id)
        token = (await self._bot(ids)).bot_token
        client_token, workspace = self._clients.get(ids, ("", None))
        if workspace is None or client_token != token:
            client = self._client(token)
            identity = Identity.model_validate((await client.auth_test()).data)
            workspace = WorkspaceClient(client, identity)
            self._clients[ids] = (token, workspace)
        return workspace

    async def authorize(
        self, enterprise_id: str | None, team_id: str | None
    ) -> AuthorizeResult | None:
        """Return the token and bot for a request of Bolt; None if Moot is not installed there.

        Slack is not called, because all of it was stored at installation. If a call failed here,
        Bolt would acknowledge the request, and Slack would not send it again. `team_id` can be None
        if the app is installed for a whole organisation.
        """
        try:
            bot = await self._bot(_WorkspaceIds(enterprise_id, team_id))
        except NotInstalled:
            return None
        except TokenUnreadable as error:
            _log.error("token not readable", team=team_id, reason=str(error))
            raise
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            team=bot.team_name,
            bot_id=bot.bot_id,
            bot_user_id=bot.bot_user_id,
            bot_token=bot.bot_token,
        )

    async def teams(self) -> Sequence[str]:
        """Return the ids of the workspaces with a token, their own or their organisation's.

        If an organisation installed the app as a whole, only the workspaces that used it are known.
        """
        table = self.bots
        with translated_errors(self.engine):
            async with self.engine.connect() as connection:
                query = select(table.c.team_id, table.c.enterprise_id).distinct()
                rows = (await connection.execute(query)).all()
        workspaces = {row.team_id for row in rows if row.team_id}
        organisations = {row.enterprise_id for row in rows if not row.team_id}
        return sorted(workspaces.union(await self._organisations.workspaces_of(organisations)))

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        with translated_errors(self.engine):
            await self.async_delete_bot(enterprise_id=enterprise_id, team_id=team_id)
        self._cached, self._clients = {}, {}
        _log.info("removed from a workspace", team=team_id, enterprise=enterprise_id)

    async def close(self) -> None:
        """Wait a few seconds until tokens that are being rotated are saved."""
        if self._lookups:
            await asyncio.wait(self._lookups.values(), timeout=_STOP_SECONDS)

    # --- a workspace's token, rotated in time ---

    async def _bot(self, ids: _WorkspaceIds) -> Bot:
        """Return an installation; the lookup goes on if the caller is cancelled.

        A rotated token that is not saved would be lost, because Slack sends it once.
        """
        expires_at, bot = self._cached.get(ids, (0.0, None))
        if bot is not None and time.monotonic() < expires_at:
            return bot
        task = self._lookups.get(ids)
        if task is None:
            task = asyncio.create_task(self._look_up(ids), name=f"installation/{ids.team}")
            self._lookups[ids] = task
            task.add_done_callback(lambda _: self._lookups.pop(ids))
        return await asyncio.shield(task)

    async def _look_up(self, ids: _WorkspaceIds) -> Bot:
        cached = self._cached  # `leave` replaces it, so that this result is not cached any more
        if (bot := await self._installation(ids)) is None:
            raise NotInstalled("Moot is not installed in this workspace.")
        bot = await self._fresh_bot(ids, bot)
        cached[ids] = (time.monotonic() + CACHE_SECONDS, bot)
        return bot

    async def _installation(self, ids: _WorkspaceIds) -> Bot | None:
        bot = await self.async_find_bot(enterprise_id=ids.enterprise, team_id=ids.team)
        if bot or not ids.enterprise:
            return bot
        return await self.async_find_bot(
            enterprise_id=ids.enterprise, team_id=None, is_enterprise_install=True
        )

    async def _fresh_bot(self, ids: _WorkspaceIds, bot: Bot) -> Bot:
        try:
            new_bot = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=ROTATE_MINUTES
            )
        except (SlackTokenRotationError, *CONNECTION_ERRORS) as error:
            # Another replica may have rotated it before: a refresh token can be used once.
            stored_bot = await self._installation(ids)
            if stored_bot and stored_bot.bot_token != bot.bot_token:
                return stored_bot
            # Rotation is tried long before the token expires, so the token is still valid.
            _log.warning("token not rotated", team=ids.team, reason=type(error).__name__)
            return bot
        if new_bot is None:
            return bot

        # Retried, because the token in the database cannot be rotated again.
        save = partial(self.async_save_bot, new_bot)
        await retry(save, _SAVE_RETRIES, asyncio.sleep, on=StoreError)
        _log.info("token rotated", team=ids.team)
        return new_bot

    # --- the SDK's interface of an installation store ---

    async def async_save(self, installation: Installation) -> None:
        if installation.enterprise_id and installation.team_id:
            await self._organisations.note(installation.team_id, installation.enterprise_id)
        await self.async_save_bot(installation.to_bot())

    async def async_save_bot(self, bot: Bot) -> None:
        with translated_errors(self.engine):
            await super().async_save_bot(_with_secrets(bot, self._cipher.encrypt))

    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """Raises `TokenUnreadable` if the key of a stored token is not configured any more."""
        with translated_errors(self.engine):
            bot = await super().async_find_bot(
                enterprise_id=enterprise_id,
                team_id=team_id,
                is_enterprise_install=is_enterprise_install,
            )
        return _with_secrets(bot, self._cipher.decrypt) if bot else None

    async def renew(self) -> None:
        """Encrypt every token with the newest key, so that older keys can be removed."""
        table = self.bots
        async with self.engine.begin() as connection:
            # In order, so that replicas that start together do not deadlock.
            result = await connection.execute(table.select().order_by(table.c.id))
            for row in result.mappings().all():
                tokens = {name: self._cipher.renew(row[name]) for name in _SECRETS if row[name]}
                # Not if another replica has rotated the token since.
                is_same = (table.c.id == row["id"]) & (table.c.bot_token == row["bot_token"])
                if any(row[name] != token for name, token in tokens.items()):
                    await connection.execute(table.update().where(is_same).values(tokens))


@asynccontextmanager
async def token_tables(
    url: str, tokens_in: Callable[[AsyncEngine], Tokens]
) -> AsyncGenerator[tuple[Tokens, States]]:
    """Open the tables of installations and of OAuth states; raises `StoreError`."""
    engine = sdk_engine(url)
    try:
        tokens, states = tokens_in(engine), States(STATE_SECONDS, engine)
        with translated_errors(engine):
            async with engine.begin() as connection:
                await connection.run_sync(tokens.metadata.create_all, tables=[tokens.bots])
                await connection.run_sync(states.metadata.create_all)
            await tokens.renew()
        yield tokens, states
        await tokens.close()
    finally:
        await engine.dispose()


def _with_secrets(bot: Bot, transform: Any) -> Bot:
    copy = Bot(**bot.to_dict_for_copying())
    for name in _SECRETS:
        value = getattr(bot, name)
        setattr(copy, name, transform(value) if value else value)
    return copy
