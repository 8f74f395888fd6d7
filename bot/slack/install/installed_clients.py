"""Slack clients for an app installed by OAuth: tokens from the database, rotated in time."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.log import logger
from bot.slack.access import UNREACHED
from bot.slack.clients import NotInstalled, WorkspaceClient
from bot.slack.install.token_cipher import TokenUnreadable
from bot.slack.install.tokens import BotTokens
from bot.slack.payloads import Identity
from bot.store.organisations import Organisations
from core.errors import StoreError
from core.retry import RetryPolicy, retry

_log = logger(__name__)

#: Seconds that an installation is cached: after them, rotations and removals by others are seen.
CACHE_SECONDS = 30.0
#: A token with fewer minutes left is rotated. They live for twelve hours
#: (https://docs.slack.dev/authentication/using-token-rotation).
ROTATE_MINUTES = 120
#: How often it is tried to save a rotated token: for about 20 seconds.
_SAVE_RETRIES = RetryPolicy(tries=8, first_wait=0.1, longest_wait=10.0)
#: Seconds that a rotation under way may need when the bot stops.
_STOP_SECONDS = 3.0


class _Where(NamedTuple):
    """A workspace: its organisation's id and its own, either of which may be missing."""

    enterprise: str | None
    team: str | None


@dataclass
class InstalledClients:
    """The client of every workspace that has installed the app."""

    tokens: BotTokens
    organisations: Organisations
    rotator: AsyncTokenRotator
    #: Makes the client of a token.
    client: Callable[[str], AsyncWebClient]
    #: Installations, and until when they are cached.
    _known: dict[_Where, tuple[float, Bot]] = field(
        default_factory=dict[_Where, tuple[float, Bot]], init=False
    )
    #: The clients made so far, each with its token: another token needs another client.
    _clients: dict[_Where, tuple[str, WorkspaceClient]] = field(
        default_factory=dict[_Where, tuple[str, WorkspaceClient]], init=False
    )
    _turns: dict[_Where, asyncio.Lock] = field(
        default_factory=lambda: defaultdict[_Where, asyncio.Lock](asyncio.Lock), init=False
    )
    _under_way: set[asyncio.Task[Bot]] = field(default_factory=set[asyncio.Task[Bot]], init=False)

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace, its token cached for `CACHE_SECONDS` seconds at most.

        Raises:
            NotInstalled: Moot is not installed there.
            StoreError: The database does not answer.
            SlackApiError: Slack refuses the token; an OSError if it cannot be reached.
        """
        where = _Where(await self.organisations.of(team_id), team_id)
        token = (await self._bot(where)).bot_token
        known, workspace = self._clients.get(where, ("", None))
        if workspace is None or known != token:
            client = self.client(token)
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

        Raises:
            TokenUnreadable: Its key is not here.
            StoreError: The database does not answer.
        """
        try:
            bot = await self._bot(_Where(enterprise_id, team_id))
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
        """Return the ids of the workspaces that have installed the app for themselves."""
        return await self.tokens.teams()

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the tokens of a workspace; of a whole organisation, if `team_id` is None."""
        await self.tokens.async_delete_all(enterprise_id=enterprise_id, team_id=team_id)
        self._known, self._clients = {}, {}
        _log.info("removed from a workspace", team=team_id, enterprise=enterprise_id)

    async def close(self) -> None:
        """Let tokens that are being rotated be saved, for a few seconds."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_STOP_SECONDS)

    async def _bot(self, where: _Where) -> Bot:
        """Find an installation, to the end even if who asks for it is in a hurry.

        A token that was rotated and not saved would be lost: Slack gives it away once.
        """
        if bot := self._remembered(where):
            return bot
        task = asyncio.create_task(self._in_turn(where), name=f"installation/{where.team}")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _in_turn(self, where: _Where) -> Bot:
        async with self._turns[where]:
            if bot := self._remembered(where):
                return bot
            known = self._known  # another one if somebody leaves meanwhile
            bot = await self._rotated(where)
            if bot is None:
                raise NotInstalled("Moot is not installed in this workspace.")
            known[where] = (time.monotonic() + CACHE_SECONDS, bot)
            return bot

    def _remembered(self, where: _Where) -> Bot | None:
        until, bot = self._known.get(where, (0.0, None))
        return bot if time.monotonic() < until else None

    async def _rotated(self, where: _Where) -> Bot | None:
        """Find the installation of a workspace, else that of its organisation; rotated in time."""
        found = await self._installed(where)
        if found is None:
            return None
        try:
            rotated = await self.rotator.perform_bot_token_rotation(
                bot=found, minutes_before_expiration=ROTATE_MINUTES
            )
        except SlackTokenRotationError as error:
            # Another replica may have been faster: a refresh token is good for one rotation.
            again = await self._installed(where)
            if again and again.bot_token != found.bot_token:
                return again
            _log.warning("token not rotated", team=where.team, reason=type(error).__name__)
            return found
        except UNREACHED as error:
            # It is rotated long before it expires: this one is still good.
            _log.warning("token not rotated", team=where.team, reason=type(error).__name__)
            return found
        if rotated is None:
            return found
        await self._save(rotated)
        _log.info("token rotated", team=where.team)
        return rotated

    async def _save(self, rotated: Bot) -> None:
        """Keep a rotated token, patiently: the one in the database cannot be rotated any more."""

        def again(error: StoreError, wait: float) -> float:
            _log.warning("rotated token not saved yet", reason=str(error))
            return wait

        await retry(
            lambda: self.tokens.async_save_bot(rotated),
            _SAVE_RETRIES,
            asyncio.sleep,
            on=StoreError,
            again=again,
        )

    async def _installed(self, where: _Where) -> Bot | None:
        own = await self.tokens.async_find_bot(enterprise_id=where.enterprise, team_id=where.team)
        if own or not where.enterprise:
            return own
        return await self.tokens.async_find_bot(
            enterprise_id=where.enterprise, team_id=None, is_enterprise_install=True
        )
