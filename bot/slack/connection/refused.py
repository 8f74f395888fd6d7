"""Counts the requests that are refused, and logs once an hour per cause what to do."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from bot.log import logger

_log = logger(__name__)

#: Seconds between two lines in the log about the same cause: anybody may send anything.
TOLD_SECONDS = 3600.0


class Cause(StrEnum):
    """Why a request is refused."""

    UNSIGNED = "unsigned"
    WRONG_SIGNATURE = "wrong_signature"
    TOO_OLD = "too_old"
    MALFORMED = "malformed"


_HINTS = {
    Cause.UNSIGNED: (
        "It does not come from Slack. Something else calls this address, or a proxy takes the "
        "headers X-Slack-Signature and X-Slack-Request-Timestamp away."
    ),
    Cause.WRONG_SIGNATURE: (
        "If people say that Moot does not react, SLACK_SIGNING_SECRET is not this app's: copy it "
        "anew from Basic Information, App Credentials, Signing Secret, and restart. Else somebody "
        "poses as Slack, or a proxy changes the body."
    ),
    Cause.TOO_OLD: (
        "It was signed more than five minutes ago, or this machine's clock is wrong: compare it "
        "with the right time (`date -u`)."
    ),
    Cause.MALFORMED: "It is signed, but no request of Slack's; nothing was done.",
}


@dataclass
class RefusedRequests:
    """Counts refused requests by cause."""

    count: Callable[[str], None] = lambda _: None
    _told: dict[Cause, float] = field(default_factory=dict[Cause, float], init=False)
    _untold: dict[Cause, int] = field(default_factory=dict[Cause, int], init=False)
    _is_signed_wrong: bool = field(default=False, init=False)
    _is_any_accepted: bool = field(default=False, init=False)

    @property
    def is_secret_doubtful(self) -> bool:
        """Whether signatures were wrong and none was ever right: the secret may be another app's.

        One good request settles it: anybody who reaches the port can send wrong ones.
        """
        return self._is_signed_wrong and not self._is_any_accepted

    def accept(self) -> None:
        """Note that a request's signature was right."""
        self._is_any_accepted = True

    def note(self, cause: Cause) -> None:
        """Count one more refused request."""
        self.count(cause.value)
        self._is_signed_wrong |= cause is Cause.WRONG_SIGNATURE
        if time.monotonic() < self._told.get(cause, 0.0):
            self._untold[cause] = self._untold.get(cause, 0) + 1
            return
        more = self._untold.pop(cause, 0)
        _log.warning("request refused", cause=cause.value, more_before=more, hint=_HINTS[cause])
        self._told[cause] = time.monotonic() + TOLD_SECONDS
