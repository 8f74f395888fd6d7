"""The SDK's tables of installations in our database, with the tokens encrypted.

Only bot tokens are kept: Moot never acts as a person, so a person's token is thrown away.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.installation_store.models.installation import Installation
from slack_sdk.oauth.installation_store.sqlalchemy import AsyncSQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from sqlalchemy import MetaData, RowMapping, Table, Text, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.slack.install.token_cipher import Cipher
from bot.store.organisations import Organisations
from bot.store.sdk_tables import explained, sdk_engine

_SECRETS = ("bot_token", "bot_refresh_token")
#: Seconds between the install page and Slack's redirect after which the state no longer holds.
STATE_SECONDS = 600


class _WideTokens(AsyncSQLAlchemyInstallationStore):
    """The SDK's store, with room for encrypted tokens: they are longer than its 200 characters."""

    @classmethod
    def build_bots_table(cls, metadata: MetaData, table_name: str) -> Table:
        """Return the SDK's table with tokens as long as they need to be."""
        table = super().build_bots_table(metadata, table_name)
        for name in _SECRETS:
            table.c[name].type = Text()
        return table


class States(AsyncSQLAlchemyOAuthStateStore):
    """The SDK's store of what is between the install page and Slack's redirect.

    Anybody may open the page, and the SDK deletes only what comes back.
    """

    async def purge(self, before: datetime) -> None:
        """Delete what expired before that.

        Raises:
            StoreError: The database failed.
        """
        table = self.oauth_states
        expired = table.c.expire_at < before.astimezone(UTC).replace(tzinfo=None)  # as the SDK does
        with explained(self.engine):
            async with self.engine.begin() as connection:
                await connection.execute(table.delete().where(expired))


class BotTokens(AsyncInstallationStore):
    """Installations by workspace or organisation. Every method may raise `StoreError`."""

    def __init__(
        self,
        inner: AsyncSQLAlchemyInstallationStore,
        cipher: Cipher,
        organisations: Organisations,
    ) -> None:
        """Wrap the SDK's store."""
        self._inner = inner
        self._cipher = cipher
        self._organisations = organisations

    async def async_save(self, installation: Installation) -> None:
        """Keep the bot's part of an installation."""
        if installation.enterprise_id and installation.team_id:
            await self._organisations.note(installation.team_id, installation.enterprise_id)
        await self.async_save_bot(installation.to_bot())

    async def async_save_bot(self, bot: Bot) -> None:
        """Keep a bot, its tokens encrypted with the newest key. Doing it twice does no harm."""
        with explained(self._inner.engine):
            await self._inner.async_save_bot(_with_secrets(bot, self._cipher.encrypt))

    async def renew(self) -> None:
        """Encrypt every token with the newest key, so that the older ones can be retired."""
        table = self._inner.bots
        with explained(self._inner.engine):
            async with self._inner.engine.begin() as connection:
                # In order: replicas that start together must not lock rows crosswise.
                stored = await connection.execute(table.select().order_by(table.c.id))
                for row in stored.mappings().all():
                    await self._renew(connection, row)

    async def _renew(self, connection: AsyncConnection, row: RowMapping) -> None:
        """Encrypt the tokens of a row anew, unless another replica has rotated them since."""
        renewed = {name: self._cipher.renew(row[name]) for name in _SECRETS if row[name]}
        if all(row[name] == token for name, token in renewed.items()):
            return
        table = self._inner.bots
        unchanged = (table.c.id == row["id"]) & (table.c.bot_token == row["bot_token"])
        await connection.execute(table.update().where(unchanged).values(renewed))

    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """Return the newest bot of a workspace, or of a whole organisation.

        Raises:
            TokenUnreadable: Its key is not here any more.
        """
        with explained(self._inner.engine):
            found = await self._inner.async_find_bot(
                enterprise_id=enterprise_id,
                team_id=team_id,
                is_enterprise_install=is_enterprise_install,
            )
        return _with_secrets(found, self._cipher.decrypt) if found else None

    async def teams(self) -> Sequence[str]:
        """Return the ids of the workspaces that have a token of their own."""
        table = self._inner.bots
        with explained(self._inner.engine):
            async with self._inner.engine.connect() as connection:
                of_team = select(table.c.team_id).where(table.c.team_id.is_not(None)).distinct()
                return tuple((await connection.execute(of_team)).scalars())

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget every token of a workspace, or of an organisation (`team_id` None)."""
        with explained(self._inner.engine):
            await self._inner.async_delete_bot(enterprise_id=enterprise_id, team_id=team_id)

    async def async_delete_installation(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None = None
    ) -> None:
        """Do nothing: people's tokens are not kept."""


@asynccontextmanager
async def token_tables(
    url: str, client_id: str, cipher: Cipher, organisations: Organisations
) -> AsyncGenerator[tuple[BotTokens, States]]:
    """Open the tables of installations and of states, made if they are not there.

    Args:
        url: The database as SQLAlchemy writes it.
        client_id: The app's.
        cipher: What tokens are encrypted with.
        organisations: Told which organisation a workspace belongs to.

    Raises:
        StoreError: The database does not answer.
    """
    engine = sdk_engine(url)
    try:
        bots = _WideTokens(client_id, engine)
        states = States(STATE_SECONDS, engine)
        with explained(engine):
            async with engine.begin() as connection:
                await connection.run_sync(bots.metadata.create_all, tables=[bots.bots])
                await connection.run_sync(states.metadata.create_all)
        tokens = BotTokens(bots, cipher, organisations)
        await tokens.renew()
        yield tokens, states
    finally:
        await engine.dispose()


def _with_secrets(bot: Bot, turn: Any) -> Bot:
    """A copy of the bot with its tokens turned into something else."""
    copied = Bot(**bot.to_dict_for_copying())
    for name in _SECRETS:
        value = getattr(bot, name)
        setattr(copied, name, turn(value) if value else value)
    return copied
