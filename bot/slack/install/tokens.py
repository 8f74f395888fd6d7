"""The app in many workspaces: its tokens, kept encrypted and rotated in time, and their clients.

Tokens are in the tables of Slack's SDK, in our database, encrypted with keys that are not. Only
those of bots are kept: Moot never acts as a person, so a person's token is thrown away.
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
#: Seconds between the install page and Slack's redirect after which the state no longer holds.
STATE_SECONDS = 600
#: Seconds that an installation is cached: after them, rotations and removals by others are seen.
CACHE_SECONDS = 30.0
#: A token with fewer minutes left is rotated. They live for twelve hours
#: (https://docs.slack.dev/authentication/using-token-rotation).
ROTATE_MINUTES = 120
#: How often it is tried to save a rotated token: for about 20 seconds.
_SAVE_RETRIES = RetryPolicy(tries=8, first_wait=0.1, longest_wait=10.0)
#: Seconds that a rotation under way may need when the bot stops.
_STOP_SECONDS = 3.0
_KEY_BYTES = 32
#: A key made by a generator has about 28 different bytes among 32; one made up has few.
_FEWEST_DIFFERENT = 16
_HOW = (
    "Make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())'"
)


class TokenUnreadable(ConfigurationBroken):
    """No key that is configured opens a stored token."""


class Cipher:
    """Encrypts with the first key and decrypts with any: a new key goes in front of the old ones.

    Source: https://cryptography.io/en/latest/fernet/#cryptography.fernet.MultiFernet
    """

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises `ConfigurationBroken` where there is no key, or one cannot be used."""
        if not keys:
            raise ConfigurationBroken(f"MOOT_TOKEN_KEYS is missing or empty. {_HOW}")
        fernets = [_fernet(key) for key in keys]
        self._newest, self._fernet = fernets[0], MultiFernet(fernets)

    def encrypt(self, token: str) -> str:
        return self._fernet.encrypt(token.encode()).decode()

    def renew(self, stored: str) -> str:
        """Encrypt it with the first key; unchanged where the first opens it, or none does."""
        with suppress(InvalidToken):
            self._newest.decrypt(stored.encode())
            return stored
        with suppress(InvalidToken):
            return self._fernet.rotate(stored.encode()).decode()
        return stored

    def decrypt(self, stored: str) -> str:
        """Raises `TokenUnreadable`."""
        try:
            return self._fernet.decrypt(stored.encode()).decode()
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
        raise ConfigurationBroken(f"A key in MOOT_TOKEN_KEYS cannot be used. {_HOW}")
    return Fernet(key)


class _WorkspaceIds(NamedTuple):
    enterprise: str | None
    team: str | None


class States(AsyncSQLAlchemyOAuthStateStore):
    """The SDK's store of what is between the install page and Slack's redirect.

    Anybody may open the page, and the SDK deletes only what comes back.
    """

    async def purge(self, before: datetime) -> None:
        table = self.oauth_states
        expired = table.c.expire_at < before.astimezone(UTC).replace(tzinfo=None)  # as the SDK does
        with translated_errors(self.engine):
            async with self.engine.begin() as connection:
                await connection.execute(table.delete().where(expired))


class Tokens(AsyncSQLAlchemyInstallationStore):
    """The tokens of all workspaces and organisations. Every method may raise `StoreError`.

    The SDK's OAuth flow saves here what somebody installs; `WorkspaceClients` for all others.
    """

    @classmethod
    def build_bots_table(cls, metadata: MetaData, table_name: str) -> Table:
        """With room for encrypted tokens: they are longer than the SDK's 200 characters."""
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
        #: Installations, and until when they are cached.
        self._cached: dict[_WorkspaceIds, tuple[float, Bot]] = {}
        #: The clients made so far, each with its token: another token needs another client.
        self._clients: dict[_WorkspaceIds, tuple[str, WorkspaceClient]] = {}
        #: Installations that are being looked up.
        self._under_way: dict[_WorkspaceIds, asyncio.Task[Bot]] = {}

    # --- clients of workspaces ---

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace; see `WorkspaceClients.of`."""
        where = _WorkspaceIds(await self._organisations.of(team_id), team_id)
        token = (await self._bot(where)).bot_token
        client_token, workspace = self._clients.get(where, ("", None))
        if workspace is None or client_token != token:
            client = self._client(token)
            identity = Identity.model_validate((await client.auth_test()).data)
            workspace = WorkspaceClient(client, identity)
            self._clients[where] = (token, workspace)
        return workspace

    async def authorize(
        self, enterprise_id: str | None, team_id: str | None
    ) -> AuthorizeResult | None:
        """Tell Bolt with which token a request is answered; None: Moot is not installed there.

        Slack is not asked: everything was kept when the app was installed. What Bolt hears from
        here as a refusal of Slack's, it acknowledges, and Slack never sends it again.
        Where the app is installed for a whole organisation, an event may name no workspace.
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

        Of an organisation that has the app as a whole, those are known that it was used in.
        """
        table = self.bots
        with translated_errors(self.engine):
            async with self.engine.connect() as connection:
                query = select(table.c.team_id, table.c.enterprise_id).distinct()
                rows = (await connection.execute(query)).all()
        own = {row.team_id for row in rows if row.team_id}
        whole = {row.enterprise_id for row in rows if not row.team_id}
        return sorted(own.union(await self._organisations.workspaces_of(whole)))

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        with translated_errors(self.engine):
            await self.async_delete_bot(enterprise_id=enterprise_id, team_id=team_id)
        self._cached, self._clients = {}, {}
        _log.info("removed from a workspace", team=team_id, enterprise=enterprise_id)

    async def close(self) -> None:
        """Let tokens that are being rotated be saved, for a few seconds."""
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=_STOP_SECONDS)

    # --- a workspace's token, rotated in time ---

    async def _bot(self, where: _WorkspaceIds) -> Bot:
        """Find an installation, to the end even if who asks for it is in a hurry.

        A token that was rotated and not saved would be lost: Slack gives it away once.
        """
        until, bot = self._cached.get(where, (0.0, None))
        if bot is not None and time.monotonic() < until:
            return bot
        task = self._under_way.get(where)
        if task is None:
            task = asyncio.create_task(self._looked_up(where), name=f"installation/{where.team}")
            self._under_way[where] = task
            task.add_done_callback(lambda _: self._under_way.pop(where))
        return await asyncio.shield(task)

    async def _looked_up(self, where: _WorkspaceIds) -> Bot:
        cached = self._cached  # another one if somebody leaves meanwhile
        if (bot := await self._installation_of(where)) is None:
            raise NotInstalled("Moot is not installed in this workspace.")
        bot = await self._fresh_bot(where, bot)
        cached[where] = (time.monotonic() + CACHE_SECONDS, bot)
        return bot

    async def _installation_of(self, where: _WorkspaceIds) -> Bot | None:
        own = await self.async_find_bot(enterprise_id=where.enterprise, team_id=where.team)
        if own or not where.enterprise:
            return own
        return await self.async_find_bot(
            enterprise_id=where.enterprise, team_id=None, is_enterprise_install=True
        )

    async def _fresh_bot(self, where: _WorkspaceIds, bot: Bot) -> Bot:
        try:
            rotated = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=ROTATE_MINUTES
            )
        except (SlackTokenRotationError, *CONNECTION_ERRORS) as error:
            # Another replica may have been faster: a refresh token is good for one rotation.
            again = await self._installation_of(where)
            if again and again.bot_token != bot.bot_token:
                return again
            # It is rotated long before it expires: this one is still good.
            _log.warning("token not rotated", team=where.team, reason=type(error).__name__)
            return bot
        if rotated is None:
            return bot

        # Patiently: the one in the database cannot be rotated any more.
        save = partial(self.async_save_bot, rotated)
        await retry(save, _SAVE_RETRIES, asyncio.sleep, on=StoreError)
        _log.info("token rotated", team=where.team)
        return rotated

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
        """Raises `TokenUnreadable` where its key is not here any more."""
        with translated_errors(self.engine):
            bot = await super().async_find_bot(
                enterprise_id=enterprise_id,
                team_id=team_id,
                is_enterprise_install=is_enterprise_install,
            )
        return _with_secrets(bot, self._cipher.decrypt) if bot else None

    async def renew(self) -> None:
        """Encrypt every token with the newest key, so that the older ones can be retired."""
        table = self.bots
        async with self.engine.begin() as connection:
            # In order: replicas that start together must not lock rows crosswise.
            stored = await connection.execute(table.select().order_by(table.c.id))
            for row in stored.mappings().all():
                renewed = {name: self._cipher.renew(row[name]) for name in _SECRETS if row[name]}
                # Unless another replica has rotated them since.
                is_same = (table.c.id == row["id"]) & (table.c.bot_token == row["bot_token"])
                if any(row[name] != token for name, token in renewed.items()):
                    await connection.execute(table.update().where(is_same).values(renewed))


@asynccontextmanager
async def token_tables(
    url: str,
    client_id: str,
    *,
    organisations: Organisations,
    cipher: Cipher,
    rotator: AsyncTokenRotator,
    client: Callable[[str], AsyncWebClient],
) -> AsyncGenerator[tuple[Tokens, States]]:
    """Open the tables of installations and of states; raises `StoreError`."""
    engine = sdk_engine(url)
    try:
        tokens = Tokens(
            client_id,
            engine,
            organisations=organisations,
            cipher=cipher,
            rotator=rotator,
            client=client,
        )
        states = States(STATE_SECONDS, engine)
        with translated_errors(engine):
            async with engine.begin() as connection:
                await connection.run_sync(tokens.metadata.create_all, tables=[tokens.bots])
                await connection.run_sync(states.metadata.create_all)
            await tokens.renew()
        yield tokens, states
        await tokens.close()
    finally:
        await engine.dispose()


def _with_secrets(bot: Bot, turn: Any) -> Bot:
    copied = Bot(**bot.to_dict_for_copying())
    for name in _SECRETS:
        value = getattr(bot, name)
        setattr(copied, name, turn(value) if value else value)
    return copied
