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
from core.recent import Recent

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
class AtOnce:
    """How many of each a person may send at once; then one a second."""

    events: int = 30
    commands: int = 20
    clicks: int = 60


class Bursts:
    """Counts what people send, by person and kind."""

    def __init__(
        self,
        tell: Callable[[Body], Awaitable[None]] | None = None,
        at_once: AtOnce | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nobody known.

        Args:
            tell: Tells the author of an event that it was not taken.
            at_once: How many are taken; as `AtOnce` has it if None.
            now: Seconds of a clock that never goes back.
        """
        self._tell, self._now, self._at_once = tell, now, at_once or AtOnce()
        #: By kind and person, when they will have waited for all that was taken.
        self._due = Recent[tuple[str, str, str], float](_PEOPLE_KNOWN)
        self._told = Recent[tuple[str, str, str], float](_PEOPLE_KNOWN)
        self._telling = set[asyncio.Task[None]]()

    def refusal(self, body: Body) -> BoltResponse | None:
        """Return the answer to what comes too fast; None: it is to be taken.

        A click or a form is not acknowledged: Slack says that it failed, and keeps what was typed.
        """
        event = body.get("event")
        if is_object(event):
            kind, most = "events", self._at_once.events
            if event.get("type") not in _EVENTS or _takes_away(event):
                return None
        else:
            is_command = "command" in body
            kind, most = "", self._at_once.clicks
            if is_command:
                kind, most = "commands", self._at_once.commands
        who = installation_of(body).workspace, person_of(body).id
        if not who[1] or self._is_within((kind, *who), most):
            return None
        if is_object(event):
            self._begin_to_tell((*who, _thread(event)), body)
            return BoltResponse(status=200)
        if kind == "commands":
            text = _TOO_MANY_COMMANDS.format(most)
            answer = json.dumps({"response_type": "ephemeral", "text": text})
            return BoltResponse(status=200, body=answer, headers=_JSON)
        return BoltResponse(status=429)

    async def check(
        self, body: dict[str, Any], next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """Answer for Bolt, as a middleware, what comes too fast."""
        if refused := self.refusal(body):
            return refused
        await next_()
        return None

    async def close(self) -> None:
        """Stop telling people."""
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    def _is_within(self, whose: tuple[str, str, str], most: int) -> bool:
        now = self._now()
        due = max(now, self._due.get(whose, now)) + 1
        if due > now + most:
            return False
        self._due[whose] = due
        return True

    def _begin_to_tell(self, who: tuple[str, str, str], body: Body) -> None:
        now = self._now()
        if self._tell is None or len(self._telling) >= _TOLD_AT_ONCE:
            return
        if self._told.get(who, -_TELL_SECONDS) + _TELL_SECONDS > now:
            return
        self._told[who] = now
        task = asyncio.create_task(self._told_by(self._tell, body))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _told_by(self, tell: Callable[[Body], Awaitable[None]], body: Body) -> None:
        try:
            await tell(body)
        except Exception as error:  # noqa: BLE001 - the next one tells it
            _log.warning("a person was not told", reason=type(error).__name__)


def _thread(event: Mapping[str, Any]) -> str:
    """The thread in which something was written or changed; empty: in none."""
    changed = event.get("message")
    return str(event.get("thread_ts") or (is_object(changed) and changed.get("thread_ts")) or "")


def _takes_away(event: Mapping[str, Any]) -> bool:
    """Whether an event tells that a message is gone: few can make many of those."""
    changed = event.get("message")
    is_left = is_object(changed) and changed.get("subtype") == DELETED
    return is_left or event.get("subtype") == "message_deleted"
