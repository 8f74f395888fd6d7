"""What people wrote while nobody listened is read afterwards: in threads of debates, and mentions.

Slack repeats an event at once, after one minute and after five, and never again
(https://docs.slack.dev/apis/events-api). So threads and channels are read at the start and whenever
the WebSocket was connected anew. Each message goes the way of a live one; what was taken before has
no second effect, because facts are recorded under the message's own id, and so are mentions.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Mapping
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

#: Seconds that debates wait at the start for their threads to be read: a question whose time is
#: over may have been answered meanwhile. What takes longer goes on beside them.
FIRST_SECONDS = 10.0
#: Threads of debates that ended so long ago are still read: who wrote there while nobody listened
#: may not know of the end.
ENDED_WITHIN = timedelta(hours=1)
#: An older mention is not taken any more: whoever wrote it has gone on without an answer.
TAKEN_WITHIN = timedelta(hours=1)
#: Threads that began so long ago are looked into, if somebody wrote there lately.
THREADS_WITHIN = timedelta(days=1)
#: Messages or channels of a page: https://docs.slack.dev/reference/methods/conversations.replies
PAGE = 200
#: The longest wait before something that could not be read is read again, in seconds.
_LONGEST_WAIT = 10.0


class Scope(NamedTuple):
    """What is read: a debate's thread, a channel, a workspace's channels, or (empty) all of it."""

    workspace: str = ""
    channel: str = ""
    debate_id: str = ""


class CatchUp:
    """Reads threads of debates that are open, or ended a short while ago, and looks for mentions.

    One thing is read after the other. What cannot be read now is read again by itself, after waits
    that grow, and hides nothing of the others.
    """

    def __init__(self, context: ListenerContext, pace: Pace) -> None:
        """Hand what is read to the same listeners that hear of live messages."""
        self._context = context
        self._pace = pace
        self._waits = RetryPolicy(first_wait=pace.first_pause, longest_wait=_LONGEST_WAIT)
        self._reading = KeyedTasks[Scope](self._read)
        self._looked = False
        self._threads_read = asyncio.Event()

    async def start(self) -> None:
        """Begin to read, and wait for the threads for a few seconds."""
        if not self._looked:  # else the first connection had them read, or being read
            self.look()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._threads_read.wait(), FIRST_SECONDS)

    def look(self) -> None:
        """Read all threads and channels; if they are being read, once more."""
        self._looked = True
        self._reading.wake(Scope())

    async def close(self) -> None:
        await self._reading.close(1)

    async def _read(self, what: Scope) -> None:
        if what == Scope():
            await self.read_all()
            return
        for tries in itertools.count(1):
            await self._context.clock.sleep(self._waits.wait_after(tries) or 0.0)
            if await self._is_read(what):
                return

    async def read_all(self) -> None:
        """Read every thread, then every channel; what cannot be read now is left to later."""
        store = self._context.acts.answer.facts.store
        since = self._context.clock.now() - ENDED_WITHIN
        newest = await store.find(DebateFilter(limit=PAGE))
        ended = [entry.debate_id for entry in newest if entry.ended_at and entry.ended_at >= since]
        debates = [*await store.unfinished_ids(), *ended]
        for debate_id in debates:
            await self._begin(Scope(debate_id=debate_id))
        self._threads_read.set()
        for team in await self._context.clients.teams():
            await self._begin(Scope(workspace=team))

    async def _begin(self, what: Scope) -> None:
        if not await self._is_read(what):
            self._reading.wake(what)

    async def _is_read(self, what: Scope) -> bool:
        """Read it; False if that may succeed later."""
        try:
            if what.debate_id:
                await self._read_thread(what.debate_id)
            elif what.channel:
                await self._read_channel(what.workspace, what.channel)
            else:
                await self._read_workspace(what.workspace)
        except (MootError, SlackApiError, *CONNECTION_ERRORS) as error:
            event = "thread not read" if what.debate_id else "channel not looked through"
            outcome = None if isinstance(error, MootError) else outcome_of(error)
            reason = outcome.reason if outcome else str(error)
            _log.warning(event, **{k: v for k, v in what._asdict().items() if v}, reason=reason)
            if isinstance(error, StoreError):
                return not isinstance(error, StoreDown)
            return isinstance(error, NotInstalled) or isinstance(outcome, Rejection)
        return True

    async def _read_thread(self, debate_id: str) -> None:
        """Take every reply, edit and deletion in a debate's thread that was missed."""
        debate = fold(await self._context.acts.answer.facts.store.events(debate_id))
        place = debate.setup.place
        board = await self._context.posts.row_by_key(board_key(debate_id))
        if place.surface != SLACK or board is None or not board.ts:
            return  # there is no thread
        heard, present = debate.message_ids, set[str]()
        async for message in self._messages(place.workspace, place.channel, thread=board.ts):
            origin = note_id(place.channel, message.ts)
            present.add(origin)
            incoming = IncomingMessage(self._context, place.workspace, message)
            if message.edited_at and message.is_reply:
                await record_edit(incoming)
            elif origin not in heard:
                await record_reply(incoming)
        # Withdraw the texts of deleted messages.
        for origin in heard - debate.deleted_messages - present:
            if note_ts(origin):  # others came by a form
                await self._context.acts.answer.withdraw(debate_id, origin)

    async def _read_workspace(self, team: str) -> None:
        kinds = "public_channel,private_channel"
        values = {"types": kinds, "team_id": team, "exclude_archived": True}
        pages = self._pages(team, "users.conversations", values)
        for channel in [channel.id async for page in pages for channel in page.channels]:
            await self._begin(Scope(workspace=team, channel=channel))

    async def _read_channel(self, team: str, channel: str) -> None:
        """Take every mention in a channel and its threads that was not taken before."""
        # It may have been lost and come back while nobody listened.
        await self._context.outbox.find_place(Channel(team, channel))
        now = self._context.clock.now()
        since = (now - TAKEN_WITHIN).timestamp()
        user = (await self._context.clients.of(team)).identity.user_id
        missed = list[PostedMessage]()
        async for root in self._messages(team, channel, (now - THREADS_WITHIN).timestamp()):
            if float(root.ts) >= since and root.may_be_of_person and root.mentions(user):
                missed.append(root)
            if root.latest_reply and float(root.latest_reply) >= since:
                missed += [
                    reply
                    async for reply in self._messages(team, channel, since, thread=root.ts)
                    if reply.ts != root.ts and reply.may_be_of_person and reply.mentions(user)
                ]
        for message in sorted(missed, key=lambda message: float(message.ts)):
            origin = note_id(channel, message.ts)
            if await self._context.records.deliveries.knows(MENTION, origin):
                continue
            try:
                with suppress(BoardUnknownYet):
                    await handle_mention(IncomingMessage(self._context, team, message))
            except StoreDown:
                raise
            except StoreError as error:  # it stays so, and the next mention is no part of it
                _log.warning("mention not taken", message=origin, reason=str(error))
                await self._context.records.deliveries.seen(MENTION, origin, now)

    async def _messages(
        self, team: str, channel: str, since: float = 0.0, *, thread: str = ""
    ) -> AsyncGenerator[PostedMessage]:
        """What was written since then in the channel, or in one of its threads."""
        method = "conversations.replies" if thread else "conversations.history"
        values = {"channel": channel, "ts": thread, "oldest": f"{since:.6f}" if since else ""}
        present = {name: value for name, value in values.items() if value}
        async for page in self._pages(team, method, present):
            for message in page.messages:
                yield message.model_copy(update={"channel": channel})

    async def _pages(
        self, team: str, method: str, values: Mapping[str, Any]
    ) -> AsyncGenerator[Page]:
        """The pages of a method's answer; waits where Slack limits the rate."""
        client = (await self._context.clients.of(team)).client
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
