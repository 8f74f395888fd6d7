"""Limits the rate of messages, commands and clicks per person.

Slack delivers as many as a script sends, and waits three seconds for each acknowledgement. Requests
over the limit are rejected at once, before any listener runs, so that other people do not wait.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.response import BoltResponse

from bot.log import logger
from bot.slack.ids import message_version
from bot.slack.origins import DELETED, installation_of, is_object, person_of, text_at
from core.values import Recent

_log = logger(__name__)

#: Types of events that count; events of all other types pass.
_EVENTS = frozenset({"message", "app_mention", "app_home_opened"})
_TOO_MANY_COMMANDS = (
    "You typed more than {} commands at once, so this one was not done. "
    "Type it again in a few seconds."
)
_JSON: dict[str, str | Sequence[str]] = {"content-type": "application/json"}
#: Entries that are kept: rates of people, and times of their notices.
_CACHED_PEOPLE = 1000
#: Versions of rejected messages that are kept.
_REJECTED_MESSAGES = 10_000
#: Seconds between two notices to a person in a thread, and notices that are sent in parallel.
_NOTICE_SECONDS, _PARALLEL_NOTICES = 10.0, 20

Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class BurstLimits:
    """Requests of each kind that a person may send in a burst; after that one per second."""

    events: int = 30
    commands: int = 20
    clicks: int = 60


class Bursts:
    def __init__(
        self,
        notify: Callable[[Body], Awaitable[None]],
        limits: BurstLimits,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`notify` tells the author of an event that the event was rejected."""
        self._notify, self._now, self._limits = notify, now, limits
        #: By kind, workspace and person: when the person can send a full burst again.
        self._full_burst_at = Recent[tuple[str, str, str], float](_CACHED_PEOPLE)
        #: By workspace, person and thread: the time of the last notice.
        self._notice_times = Recent[tuple[str, str, str], float](_CACHED_PEOPLE)
        self._notices = set[asyncio.Task[None]]()
        #: Versions of rejected messages: their authors know, so they are not read later.
        self.rejected = Recent[str, None](_REJECTED_MESSAGES)

    def refusal(self, body: Body) -> BoltResponse | None:
        """The response to a request over the limit; None if the request is within it.

        A click or a form gets an error, so Slack shows the person that it failed, and keeps the
        form open with its text.
        """
        event = body.get("event")
        if is_object(event):
            kind, most = "event", self._limits.events
            # Deletions pass: few people can delete many messages. A deleted message that has
            # replies arrives as a change.
            is_deleted = _changed_message(event).get("subtype") == DELETED
            is_deleted |= event.get("subtype") == "message_deleted"
            if event.get("type") not in _EVENTS or is_deleted:
                return None
        elif "command" in body:
            kind, most = "command", self._limits.commands
        else:
            kind, most = "click", self._limits.clicks
        workspace, person = installation_of(body).workspace, person_of(body).id
        if not person:
            return None
        now, sender = self._now(), (kind, workspace, person)
        full_burst_at = max(now, self._full_burst_at.get(sender, now)) + 1
        if full_burst_at <= now + most:
            self._full_burst_at[sender] = full_burst_at
            return None
        if is_object(event):
            message = _changed_message(event) or event
            version = message_version(
                text_at(event, "channel"), text_at(message, "ts"), text_at(message, "edited", "ts")
            )
            self.rejected[version] = None
            self._start_notice((workspace, person, text_at(message, "thread_ts")), body)
            return BoltResponse(status=200)
        if kind == "command":
            text = _TOO_MANY_COMMANDS.format(most)
            answer = json.dumps({"response_type": "ephemeral", "text": text})
            return BoltResponse(status=200, body=answer, headers=_JSON)
        return BoltResponse(status=429)

    async def check(
        self, body: dict[str, Any], next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of Bolt."""
        if response := self.refusal(body):
            return response
        await next_()
        return None

    async def close(self) -> None:
        for task in self._notices:
            task.cancel()
        await asyncio.gather(*self._notices, return_exceptions=True)

    def _start_notice(self, thread: tuple[str, str, str], body: Body) -> None:
        now = self._now()
        is_recent = self._notice_times.get(thread, -_NOTICE_SECONDS) + _NOTICE_SECONDS > now
        if is_recent or len(self._notices) >= _PARALLEL_NOTICES:
            return
        self._notice_times[thread] = now

        async def notify() -> None:
            try:
                await self._notify(body)
            except Exception as error:  # noqa: BLE001 - the next rejected event sends a notice
                _log.warning("a person was not told", reason=type(error).__name__)

        task = asyncio.create_task(notify())
        self._notices.add(task)
        task.add_done_callback(self._notices.discard)


def _changed_message(event: Body) -> Body:
    """The new state of the message, if the event reports an edit; else empty."""
    message = event.get("message")
    return message if is_object(message) else {}
