"""What people wrote while nobody listened is read afterwards: in threads of debates, and mentions.

Slack repeats an event at once, after one minute and after five, and never again
(https://docs.slack.dev/apis/events-api). So threads and channels are read at the start and whenever
the WebSocket was connected anew. Each message goes the way of a live one; what was taken before has
no second effect, because facts are recorded under the message's own id.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from bot.listeners.context import ListenerContext
from bot.listeners.messages import take_edit, take_reply
from bot.listeners.missed_mentions import MissedMentions
from bot.listeners.pages import PAGE, SlackAway, SlackRefuses, pages, slack_time
from bot.log import logger
from bot.presenter.sink import SLACK
from bot.running.debate_runner import unfinished
from bot.running.keyed_tasks import KeyedTasks
from bot.slack.clients import NotInstalled
from bot.slack.ids import board_key, note_id, note_ts
from bot.slack.outbox.pace import Pace
from bot.slack.payloads import MessageEvent, PostedMessage, ThreadPage
from core.errors import StoreDown, StoreError
from core.events import fold
from core.models import Debate
from core.ports import DebateFilter

_log = logger(__name__)

#: Seconds that debates wait at the start for their threads to be read: a question whose time is
#: over may have been answered meanwhile. What takes longer goes on beside them.
FIRST_SECONDS = 10.0
#: A thread that was read before is read again from this many seconds before its newest message:
#: events of one thread may come late and in any order.
_OVERLAP = 600.0
#: Threads of debates that ended so long ago are still read: who wrote there while nobody listened
#: may not know of the end.
ENDED_WITHIN = timedelta(hours=1)
_THREADS = "threads"
_CHANNELS = "channels"

#: Makes sure that the database takes writes; raises `StoreDown` if it does not.
TakesWrites = Callable[[], Awaitable[None]]


class MissedReplies:
    """Reads the threads of debates that are open, or ended a short while ago, and mentions."""

    def __init__(self, context: ListenerContext, pace: Pace, takes_writes: TakesWrites) -> None:
        """Hand what is found to the same listeners that hear of live messages.

        Args:
            context: What listeners work with.
            pace: How fast Slack lets us read.
            takes_writes: Asked while the database does not record what was read.
        """
        self._context = context
        self._pace = pace
        self._takes_writes = takes_writes
        #: The newest message read, by debate.
        self._upto: dict[str, float] = {}
        self._mentions = MissedMentions(context, pace)
        self._reading = KeyedTasks[str](self._read_what)
        self._read_once = asyncio.Event()
        #: Whether anything was ever read, or is being read.
        self._looks = False
        #: Somebody wants all threads read, and not only those that are left.
        self._asked_again = asyncio.Event()

    async def start(self) -> None:
        """Read all threads, and wait for that for a few seconds."""
        if not self._looks:  # else the first connection had them read, or being read
            self.look()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._read_once.wait(), FIRST_SECONDS)

    def look(self) -> None:
        """Read all threads and channels; if they are being read, once more."""
        self._looks = True
        self._asked_again.set()
        self._reading.wake(_THREADS)
        self._reading.wake(_CHANNELS)

    async def close(self) -> None:
        """Stop reading."""
        await self._reading.close(1)

    async def _read_what(self, what: str) -> None:
        if what == _THREADS:
            await self._read_all()
            return
        tries = 0
        while not await self._mentions.read():
            tries += 1
            await self._until_recorded(tries)

    async def _read_all(self) -> None:
        """Read every thread; those that Slack does not show now once more a minute later.

        What the database did not record is read again as soon as it takes writes: the debate goes
        on at that moment, too, and what people wrote meanwhile belongs into it.
        """
        self._asked_again.clear()
        store, clock = self._context.answer.facts.store, self._context.clock
        since = clock.now() - ENDED_WITHIN
        left = [
            *await unfinished(store, clock),
            *[
                one.debate_id
                for one in await store.find(DebateFilter(limit=PAGE))
                if one.ended_at is not None and one.ended_at >= since
            ],
        ]
        # How far the threads of other debates were read matters no more.
        self._upto = {one: upto for one, upto in self._upto.items() if one in left}
        tries = 0
        while left:
            faults = {one: await self._fault_in(one) for one in left}
            self._read_once.set()
            left = [one for one, fault in faults.items() if fault]
            if any(isinstance(fault, StoreDown) for fault in faults.values()):
                tries += 1
                await self._until_recorded(tries)
            elif left:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._asked_again.wait(), self._pace.longest_pause)
                    return  # all of them are read again at once
        self._read_once.set()

    async def _until_recorded(self, tries: int) -> None:
        """Wait until the database takes writes; longer after each try that it refused even so."""
        clock = self._context.clock
        await clock.sleep(self._pace.after_errors(tries))
        while True:
            with suppress(StoreDown):
                return await self._takes_writes()
            await clock.sleep(self._pace.first_pause)

    async def _fault_in(self, debate_id: str) -> StoreDown | SlackAway | None:
        """Read a thread; return what hinders that now and may not later."""
        try:
            await self._read(debate_id)
        except (StoreError, NotInstalled, SlackAway, SlackRefuses) as error:
            _log.warning("thread not read", debate=debate_id, reason=str(error))
            return error if isinstance(error, StoreDown | SlackAway) else None
        return None

    async def _read(self, debate_id: str) -> None:
        """Take every reply in a debate's thread that was not taken before."""
        debate = fold(await self._context.answer.facts.store.events(debate_id))
        place = debate.setup.place
        if place.surface != SLACK:
            return
        board = await self._context.posts.row_by_key(board_key(debate_id))
        if board is None or not board.ts:
            return  # nobody can have replied
        known = {origin for origin, _ in debate.heard} | {note.id for note in debate.all_notes}
        seen, newest = set[str](), 0.0
        async for message in self._replies(debate, board.ts):
            origin = note_id(place.channel, message.ts)
            seen.add(origin)
            newest = max(newest, float(message.ts))
            here = message.model_copy(update={"channel": place.channel})
            if message.edited_at and message.is_reply:
                await take_edit(self._context, place.workspace, here)
            elif origin not in known | debate.withdrawn:
                event = {
                    "team_id": place.workspace,
                    "event_id": f"missed/{origin}",
                    "event": here,
                }
                await take_reply(self._context, MessageEvent.model_validate(event))
        # What a message said that is not there any more was taken back.
        since = self._upto.get(debate_id, 0.0)
        for origin in known - debate.withdrawn:
            ts = note_ts(origin)
            if ts and origin not in seen and since <= float(ts):
                await self._context.answer.withdraw(debate_id, origin)
        self._upto[debate_id] = newest - _OVERLAP

    async def _replies(self, debate: Debate, thread_ts: str) -> AsyncGenerator[PostedMessage]:
        place, upto = debate.setup.place, self._upto.get(debate.id)
        wanted: dict[str, Any] = {"channel": place.channel, "ts": thread_ts}
        if upto:
            wanted["oldest"] = slack_time(upto)
        async for page in pages(
            self._context.clients,
            place.workspace,
            lambda client, asked: client.conversations_replies(**asked),
            ThreadPage,
            clock=self._context.clock,
            pace=self._pace,
            **wanted,
        ):
            for message in page.messages:
                yield message
