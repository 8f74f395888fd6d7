"""Mentions that nobody heard are found in the channels afterwards, and taken like live ones.

Each is taken once: it is remembered by channel and message, whatever became of it.
"""

from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta

from slack_sdk.errors import SlackApiError

from bot.listeners.context import ListenerContext
from bot.listeners.messages import MENTION, BoardUnknownYet, take_mention
from bot.listeners.pages import SlackAway, SlackRefuses, pages, slack_time
from bot.log import logger
from bot.slack.access import UNREACHED
from bot.slack.clients import NotInstalled
from bot.slack.ids import note_id
from bot.slack.outbox.pace import Pace
from bot.slack.payloads import ChannelsPage, MessageEvent, PostedMessage, ThreadPage
from core.errors import StoreDown, StoreError

_log = logger(__name__)

#: An older mention is not taken any more: whoever wrote it has gone on without an answer.
TAKEN_WITHIN = timedelta(hours=1)
#: Threads that began so long ago are looked into, if somebody wrote there lately.
THREADS_WITHIN = timedelta(days=1)


class MissedMentions:
    """Looks through the channels that the bot is in."""

    def __init__(self, context: ListenerContext, pace: Pace) -> None:
        """Hand what is found to the listener that hears of live mentions.

        Args:
            context: What listeners work with.
            pace: How fast Slack lets us read.
        """
        self._context = context
        self._pace = pace

    async def read(self) -> bool:
        """Look through all channels of all workspaces; what cannot be read is left out.

        Returns:
            Whether everything that was found is recorded; if not, look once more when the database
            takes writes.
        """
        is_recorded = True
        for team in await self._context.clients.teams():
            found = pages(
                self._context.clients,
                team,
                lambda client, asked: client.users_conversations(**asked),
                ChannelsPage,
                clock=self._context.clock,
                pace=self._pace,
                types="public_channel,private_channel",
                team_id=team,
                exclude_archived=True,
            )
            try:
                channels = [channel.id async for page in found for channel in page.channels]
            except (SlackApiError, SlackAway, SlackRefuses, NotInstalled) as error:
                _log.warning("channels not looked through", team=team, reason=str(error))
                continue
            for channel in channels:
                try:
                    await self._read(team, channel)
                except (SlackAway, SlackRefuses, NotInstalled, StoreError) as error:
                    _log.warning("channel not looked through", channel=channel, reason=str(error))
                    is_recorded &= not isinstance(error, StoreDown)
        return is_recorded

    async def _read(self, team: str, channel: str) -> None:
        """Take every mention in a channel and its threads that was not taken before."""
        now = self._context.clock.now()
        since = (now - TAKEN_WITHIN).timestamp()
        user = (await self._context.clients.of(team)).identity.user_id
        missed = list[PostedMessage]()
        async for root in self._messages(team, channel, (now - THREADS_WITHIN).timestamp()):
            if float(root.ts) >= since and root.mentions(user):
                missed.append(root)
            if root.latest_reply and float(root.latest_reply) >= since:
                missed += [
                    reply
                    async for reply in self._messages(team, channel, since, thread=root.ts)
                    if reply.ts != root.ts and reply.mentions(user)
                ]
        for message in sorted(missed, key=lambda one: float(one.ts)):
            origin = note_id(channel, message.ts)
            if await self._context.deliveries.knows(MENTION, origin):
                continue
            here = message.model_copy(update={"channel": channel})
            event = {"team_id": team, "event_id": f"missed/{origin}", "event": here}
            try:
                with suppress(BoardUnknownYet, *UNREACHED):
                    await take_mention(self._context, MessageEvent.model_validate(event))
            except StoreDown:
                raise
            except StoreError as error:  # it stays so, and the next mention is no part of it
                _log.warning("mention not taken", message=origin, reason=str(error))
                await self._context.deliveries.seen(MENTION, origin, now)

    async def _messages(
        self, team: str, channel: str, since: float, *, thread: str = ""
    ) -> AsyncGenerator[PostedMessage]:
        """What was written since then in the channel, or in one of its threads."""
        context, place = self._context, {"channel": channel, **({"ts": thread} if thread else {})}
        async for page in pages(
            context.clients,
            team,
            lambda client, asked: (
                client.conversations_replies(**asked)
                if thread
                else client.conversations_history(**asked)
            ),
            ThreadPage,
            clock=context.clock,
            pace=self._pace,
            oldest=slack_time(since),
            **place,
        ):
            for message in page.messages:
                yield message
