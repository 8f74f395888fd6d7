"""Reads replies and mentions that were missed while the bot was not connected.

Slack repeats an event at once, after one minute and after five, and then no more
(https://docs.slack.dev/apis/events-api). So threads and channels are read at the start and after
each new connection of the WebSocket. Each message is handled like a live one. Messages that were
handled before have no second effect, because facts and mentions are recorded by the message's id.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Container, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

from slack_sdk.errors import SlackApiError

from bot.listeners.context import ListenerContext
from bot.listeners.mentions import MENTION, handle_mention
from bot.listeners.messages import BoardUnknownYet, IncomingMessage, record_edit, record_reply
from bot.log import logger
from bot.presenter.sink import SLACK
from bot.queue.rate_limits import Pace
from bot.running.keyed_tasks import KeyedTasks
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.client import NotInstalled
from bot.slack.ids import board_key, note_id, note_ts
from bot.slack.outcomes import Rejection, Retry, outcome_of
from bot.slack.payloads import Page, PostedMessage
from bot.store.tables import Channel
from core.debate.log import fold
from core.errors import MootError, StoreDown, StoreError
from core.ports import DebateFilter
from core.retry import RetryPolicy

_log = logger(__name__)

#: Seconds for which debates wait at the start until their threads are read, because a clarification
#: that is due may have been answered. If reading takes longer, it goes on while debates run.
FIRST_SECONDS = 10.0
#: Threads of debates that ended less than this ago are read, too: people who wrote there may not
#: know that the debate has ended.
MAX_AGE_OF_ENDED_DEBATE = timedelta(hours=1)
#: Older mentions are ignored: their authors do not wait for an answer any more.
MAX_AGE_OF_MENTION = timedelta(hours=1)
#: Threads that began less than this ago are searched for mentions, if they have a recent reply.
MAX_AGE_OF_THREAD = timedelta(days=1)
#: Messages or channels per page: https://docs.slack.dev/reference/methods/conversations.replies
PAGE = 200
#: The longest wait before another try to read a thread or channel, in seconds.
_LONGEST_WAIT = 10.0


class Scope(NamedTuple):
    """One unit of work: a debate's thread, a channel, a workspace's channels, or (empty) all."""

    workspace: str = ""
    channel: str = ""
    debate_id: str = ""


class CatchUp:
    """Reads the threads of open and recently ended debates, and searches channels for mentions.

    Threads and channels are read one after another. One that cannot be read is tried again in a
    task of its own, with growing waits, while the others go on.
    """

    def __init__(
        self, context: ListenerContext, pace: Pace, rejected: Container[str] = frozenset()
    ) -> None:
        """`rejected` has the versions of replies that were rejected; they are not recorded."""
        self._context = context
        self._rejected = rejected
        self._pace = pace
        self._waits = RetryPolicy(first_wait=pace.first_pause, longest_wait=_LONGEST_WAIT)
        self._tasks = KeyedTasks[Scope](self._read)
        self._has_begun = False
        self._threads_read = asyncio.Event()

    async def start(self) -> None:
        """Begin to read, and wait a few seconds for the threads."""
        if not self._has_begun:  # the first connection may have begun it
            self.look()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._threads_read.wait(), FIRST_SECONDS)

    def look(self) -> None:
        """Read all threads and channels; if they are being read, read them again afterwards."""
        self._has_begun = True
        self._tasks.wake(Scope())

    async def close(self) -> None:
        await self._tasks.close(1)

    async def _read(self, scope: Scope) -> None:
        if scope == Scope():
            await self.read_all()
            return
        for tries in itertools.count(1):
            await self._context.clock.sleep(self._waits.wait_after(tries) or 0.0)
            if await self._try_to_read(scope):
                return

    async def read_all(self) -> None:
        """Read every thread, then every channel; those that fail are tried again later."""
        store = self._context.acts.answer.facts.store
        oldest = self._context.clock.now() - MAX_AGE_OF_ENDED_DEBATE
        newest = await store.find(DebateFilter(limit=PAGE))
        recent = [
            entry.debate_id for entry in newest if entry.ended_at and entry.ended_at >= oldest
        ]
        for debate_id in [*await store.unfinished_ids(), *recent]:
            await self._begin(Scope(debate_id=debate_id))
        self._threads_read.set()
        for team in await self._context.clients.teams():
            await self._begin(Scope(workspace=team))

    async def _begin(self, scope: Scope) -> None:
        if not await self._try_to_read(scope):
            self._tasks.wake(scope)

    async def _try_to_read(self, scope: Scope) -> bool:
        """Read a thread, a channel or a workspace; False if it failed and may succeed later."""
        try:
            if scope.debate_id:
                await self._read_thread(scope.debate_id)
            elif scope.channel:
                await self._read_channel(scope.workspace, scope.channel)
            else:
                kinds = "public_channel,private_channel"
                values = {"types": kinds, "team_id": scope.workspace, "exclude_archived": True}
                pages = self._pages(scope.workspace, "users.conversations", values)
                for channel in [channel.id async for page in pages for channel in page.channels]:
                    await self._begin(Scope(workspace=scope.workspace, channel=channel))
        except (MootError, SlackApiError, *CONNECTION_ERRORS) as error:
            event = "thread not read" if scope.debate_id else "channel not looked through"
            outcome = None if isinstance(error, MootError) else outcome_of(error)
            reason = outcome.reason if outcome else str(error)
            _log.warning(event, **{k: v for k, v in scope._asdict().items() if v}, reason=reason)
            if isinstance(error, StoreError):
                return not isinstance(error, StoreDown)
            return isinstance(error, NotInstalled) or isinstance(outcome, Rejection)
        return True

    async def _read_thread(self, debate_id: str) -> None:
        """Record every missed reply, edit and deletion in a debate's thread."""
        debate = fold(await self._context.acts.answer.facts.store.events(debate_id))
        place = debate.setup.place
        board = await self._context.posts.row_by_key(board_key(debate_id))
        if place.surface != SLACK or board is None or not board.ts:
            return  # there is no thread
        known, present = debate.message_ids, set[str]()
        async for message in self._messages(place.workspace, place.channel, thread=board.ts):
            origin = note_id(place.channel, message.ts)
            present.add(origin)
            incoming = IncomingMessage(self._context, place.workspace, message)
            if incoming.version in self._rejected:
                continue
            if message.edited_at and message.is_reply:
                await record_edit(incoming)
            elif origin not in known:
                await record_reply(incoming)
        # Withdraw the texts of deleted messages.
        for origin in known - debate.deleted_messages - present:
            if note_ts(origin):  # None for notes from forms
                await self._context.acts.answer.withdraw(debate_id, origin)

    async def _read_channel(self, team: str, channel: str) -> None:
        """Handle every mention in a channel and its threads that was not handled before."""
        # The bot may have left the channel and joined again while it was not connected.
        await self._context.outbox.find_place(Channel(team, channel))
        now = self._context.clock.now()
        oldest = (now - MAX_AGE_OF_MENTION).timestamp()
        user = (await self._context.clients.for_workspace(team)).identity.user_id
        mentions = list[PostedMessage]()
        async for root in self._messages(team, channel, (now - MAX_AGE_OF_THREAD).timestamp()):
            if float(root.ts) >= oldest and root.may_be_of_person and root.mentions(user):
                mentions.append(root)
            if root.latest_reply and float(root.latest_reply) >= oldest:
                mentions += [
                    reply
                    async for reply in self._messages(team, channel, oldest, thread=root.ts)
                    if reply.ts != root.ts and reply.may_be_of_person and reply.mentions(user)
                ]
        for message in sorted(mentions, key=lambda message: float(message.ts)):
            origin = note_id(channel, message.ts)
            if await self._context.records.deliveries.knows(MENTION, origin):
                continue
            try:
                with suppress(BoardUnknownYet):
                    await handle_mention(IncomingMessage(self._context, team, message))
            except StoreDown:
                raise
            except StoreError as error:  # it would fail again; go on with the next mention
                _log.warning("mention not taken", message=origin, reason=str(error))
                await self._context.records.deliveries.seen(MENTION, origin, now)

    async def _messages(
        self, team: str, channel: str, oldest: float = 0.0, *, thread: str = ""
    ) -> AsyncGenerator[PostedMessage]:
        """Messages of the channel, or of one of its threads, from the timestamp `oldest` on."""
        method = "conversations.replies" if thread else "conversations.history"
        values = {"channel": channel, "ts": thread, "oldest": f"{oldest:.6f}" if oldest else ""}
        arguments = {name: value for name, value in values.items() if value}
        async for page in self._pages(team, method, arguments):
            for message in page.messages:
                yield message.model_copy(update={"channel": channel})

    async def _pages(
        self, team: str, method: str, values: Mapping[str, Any]
    ) -> AsyncGenerator[Page]:
        """The pages of a method's response; waits if Slack limits the rate."""
        client = (await self._context.clients.for_workspace(team)).client
        arguments, clock = {"limit": PAGE, **values}, self._context.clock
        while True:
            await clock.sleep(self._pace.look)
            try:
                answer = await client.api_call(method, http_verb="GET", params=arguments)
            except SlackApiError as error:
                outcome = outcome_of(error)
                if not isinstance(outcome, Retry) or outcome.after is None:
                    raise
                await clock.sleep(outcome.after)
                continue
            page = Page.model_validate(answer.data)
            yield page
            if not page.next_cursor:
                return
            arguments["cursor"] = page.next_cursor
