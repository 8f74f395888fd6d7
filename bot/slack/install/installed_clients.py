"""The bot's seats where it is installed by OAuth: tokens from the database, rotated in time."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.log import logger
from bot.slack.clients import NotInstalled, WorkspaceClient
from bot.slack.connection.greeting import who_are_we
from bot.slack.install.token_cipher import TokenUnreadable
from bot.slack.install.tokens import BotTokens
from bot.store.organisations import Organisations
from core.errors import StoreError
from core.retry import RetryPolicy, retry

_log = logger(__name__)

#: Seconds that a seat is taken as known; then another replica's rotation or removal is seen.
REMEMBERED = 30.0
#: A token with fewer minutes left is rotated. They live for twelve hours
#: (https://docs.slack.dev/authentication/using-token-rotation).
ROTATE_MINUTES = 120
#: How often it is tried to save a rotated token: for about 20 seconds.
_SAVE_RETRIES = RetryPolicy(tries=8, first_wait=0.1, longest_wait=10.0)
#: Seconds that a seat being taken may need when the bot stops.
_STOP_PATIENCE = 3.0


class _Where(NamedTuple):
    """A workspace by its organisation and its id; without the one or the other."""

    enterprise: str | None
    team: str | None


@dataclass
class InstalledClients:
    """Knows the bot's seat in every workspace that has installed it."""

    tokens: BotTokens
    organisations: Organisations
    rotator: AsyncTokenRotator
    #: Makes the client of a token.
    client: Callable[[str], AsyncWebClient]
    _known: dict[_Where, tuple[float, WorkspaceClient]] = field(
        default_factory=dict[_Where, tuple[float, WorkspaceClient]], init=False
    )
    _turns: dict[_Where, asyncio.Lock] = field(
        default_factory=lambda: defaultdict[_Where, asyncio.Lock](asyncio.Lock), init=False
    )
    _under_way: set[asyncio.Task[WorkspaceClient]] = field(
        default_factory=set[asyncio.Task[WorkspaceClient]], init=False
    )

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the bot's seat in a workspace, heard of within `REMEMBERED` seconds.

        Raises:
            NotInstalled: Moot is not installed there.
            StoreError: The database does not answer.
            SlackApiError: Slack refuses the token; an OSError if it cannot be reached.
        """
        return await self._seat(_Where(await self.organisations.of(team_id), team_id))

    async def authorize(
        self, enterprise_id: str | None, team_id: str | None
    ) -> AuthorizeResult | None:
        """Tell Bolt with which token a request is answered; None: Moot is not installed there.

        Where the app is installed for a whole organisation, an event may name no workspace.
        """
        try:
            seat = await self._seat(_Where(enterprise_id, team_id))
        except NotInstalled:
            return None
        except TokenUnreadable as error:
            _log.error("token not readable", team=team_id, reason=str(error))
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            team=seat.identity.team,
            url=seat.identity.url,
            bot_id=seat.identity.bot_id,
            bot_user_id=seat.identity.user_id,
            bot_token=seat.client.token,
        )

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the tokens of a workspace; of a whole organisation, if `team_id` is None."""
        await self.tokens.async_delete_all(enterprise_id=enterprise_id, team_id=team_id)
        self._known = {}
        _log.info("removed from a workspace", team=team_id, enterprise=enterprise_id)

    async def close(self) -> None:
        """Let seats that are being taken be taken, for a few seconds."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_STOP_PATIENCE)

    async def _seat(self, where: _Where) -> WorkspaceClient:
        """Take a seat, to the end even if who asks for it is in a hurry.

        A token that was rotated and not saved would be lost: Slack gives it away once.
        """
        if seat := self._remembered(where):
            return seat
        task = asyncio.create_task(self._in_turn(where), name=f"seat/{where.team}")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _in_turn(self, where: _Where) -> WorkspaceClient:
        async with self._turns[where]:
            if seat := self._remembered(where):
                return seat
            known = self._known  # another one if somebody leaves meanwhile
            seat = await self._taken(where)
            known[where] = (time.monotonic() + REMEMBERED, seat)
            return seat

    def _remembered(self, where: _Where) -> WorkspaceClient | None:
        until, seat = self._known.get(where, (0.0, None))
        return seat if time.monotonic() < until else None

    async def _taken(self, where: _Where) -> WorkspaceClient:
        """Take the seat: find its token, and ask Slack who we are with it unless we know."""
        bot = await self._bot(where)
        if bot is None:
            raise NotInstalled("Moot is not installed in this workspace.")
        _, seat = self._known.get(where, (0.0, None))
        if seat and seat.client.token == bot.bot_token:
            return seat
        client = self.client(bot.bot_token)
        return WorkspaceClient(client, await who_are_we(client))

    async def _bot(self, where: _Where) -> Bot | None:
        """Find the installation of a workspace, else that of its organisation; rotated in time."""
        found = await self._installed(where)
        if found is None:
            return None
        try:
            rotated = await self.rotator.perform_bot_token_rotation(
                bot=found, minutes_before_expiration=ROTATE_MINUTES
            )
        except SlackTokenRotationError as error:
            return await self._after_refusal(where, found, error)
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

    async def _after_refusal(
        self, where: _Where, found: Bot, error: SlackTokenRotationError
    ) -> Bot | None:
        """Another replica may have been faster: a refresh token is good for one rotation."""
        again = await self._installed(where)
        if again and again.bot_token != found.bot_token:
            return again
        _log.warning("token not rotated", team=where.team, reason=type(error).__name__)
        return found
