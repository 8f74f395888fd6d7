"""Bounds how fast the messages, commands and clicks of one person are taken.

Slack delivers them as fast as a script can make them, and waits three seconds for each
acknowledgement. What goes beyond the bound is answered at once, before anything looks at it, so
that nobody else waits.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.response import BoltResponse

from bot.log import logger
from bot.slack.origins import DELETED, installation_of, is_object, person_of
from core.values import Recent

_log = logger(__name__)

#: Events of what people do; all others are taken, whoever caused them.
_EVENTS = frozenset({"message", "app_mention", "app_home_opened"})
_TOO_MANY_COMMANDS = (
    "You typed more than {} commands at once, so this one was not done. "
    "Type it again in a few seconds."
)
_JSON: dict[str, str | Sequence[str]] = {"content-type": "application/json"}
#: People whose pace is known; seconds between two tries to tell one of them in a thread, and how
#: many are told at the same moment.
_PEOPLE_KNOWN = 1000
_TELL_SECONDS, _TOLD_AT_ONCE = 10.0, 20

Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class BurstLimits:
    """How many of each a person may send at once; then one a second."""

    events: int = 30
    commands: int = 20
    clicks: int = 60


class Bursts:
    def __init__(
        self,
        tell: Callable[[Body], Awaitable[None]],
        limits: BurstLimits,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tell` tells the author of an event that it was not taken."""
        self._tell, self._now, self._limits = tell, now, limits
        #: By kind, workspace and person, when they will have waited for all that was taken.
        self._due = Recent[tuple[str, str, str], float](_PEOPLE_KNOWN)
        #: By workspace, person and thread, when they were told.
        self._told = Recent[tuple[str, str, str], float](_PEOPLE_KNOWN)
        self._telling = set[asyncio.Task[None]]()

    def refusal(self, body: Body) -> BoltResponse | None:
        """The answer to what comes too fast; None: it is to be taken.

        A click or a form is not acknowledged: Slack says that it failed, and keeps what was typed.
        """
        event = body.get("event")
        if is_object(event):
            kind, most = "event", self._limits.events
            is_deleted = _changed(event).get("subtype") == DELETED  # and has replies
            is_deleted |= event.get("subtype") == "message_deleted"
            if event.get("type") not in _EVENTS or is_deleted:  # few can delete many messages
                return None
        elif "command" in body:
            kind, most = "command", self._limits.commands
        else:
            kind, most = "click", self._limits.clicks
        workspace, person = installation_of(body).workspace, person_of(body).id
        if not person:
            return None
        now, whose = self._now(), (kind, workspace, person)
        due = max(now, self._due.get(whose, now)) + 1
        if due <= now + most:
            self._due[whose] = due
            return None
        if is_object(event):
            thread = event.get("thread_ts") or _changed(event).get("thread_ts") or ""
            self._begin_to_tell((workspace, person, str(thread)), body)
            return BoltResponse(status=200)
        if kind == "command":
            text = _TOO_MANY_COMMANDS.format(most)
            answer = json.dumps({"response_type": "ephemeral", "text": text})
            return BoltResponse(status=200, body=answer, headers=_JSON)
        return BoltResponse(status=429)

    async def check(
        self, body: dict[str, Any], next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """As a middleware of Bolt."""
        if refused := self.refusal(body):
            return refused
        await next_()
        return None

    async def close(self) -> None:
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    def _begin_to_tell(self, who: tuple[str, str, str], body: Body) -> None:
        now = self._now()
        is_told = self._told.get(who, -_TELL_SECONDS) + _TELL_SECONDS > now
        if is_told or len(self._telling) >= _TOLD_AT_ONCE:
            return
        self._told[who] = now

        async def tell() -> None:
            try:
                await self._tell(body)
            except Exception as error:  # noqa: BLE001 - the next one tells it
                _log.warning("a person was not told", reason=type(error).__name__)

        task = asyncio.create_task(tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _changed(event: Body) -> Body:
    """The message that an event tells a change of."""
    changed = event.get("message")
    return changed if is_object(changed) else {}
