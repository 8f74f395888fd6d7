"""Slack's rate limits: the seconds between two calls of a lane. Callers do the waiting."""

import time
from dataclasses import dataclass, field

from core.retry import RetryPolicy


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds between two calls. Source: https://docs.slack.dev/apis/web-api/rate-limits.

    Posts count per channel; the other kinds per workspace.
    """

    #: chat.postMessage and chat.postEphemeral: about one a second.
    post: float = 1.0
    whisper: float = 1.0
    #: chat.update and conversations.replies: Tier 3, 50 a minute.
    edit: float = 1.2
    look: float = 1.2
    react: float = 1.2
    #: pins.add and pins.remove: Tier 2, 20 a minute.
    pin: float = 3.0
    #: The pause after an edit of a living post, unless somebody waits for the next one.
    rest: float = 3.0
    #: The time from an attempt to the search for its post in doubt, as Slack may accept late.
    grace: float = 5.0
    #: A call is sent within this time of its record, or not at all. Less than `grace`, after which
    #: the post is searched for and sent again.
    lease: float = 2.0
    #: The same for an upload, which is several calls. Added to `grace` for uploads.
    upload_lease: float = 30.0
    #: The first and the longest pause after a temporary error.
    first_pause: float = 1.0
    longest_pause: float = 60.0
    #: How long a failing post is tried, and then how long as bare text.
    fails: float = 90.0

    def between(self, lane: str) -> float:
        return float(getattr(self, lane.partition("/")[0], 0.0))

    def lease_of(self, method: str) -> float:
        return self.upload_lease if method == "upload" else self.lease

    def grace_of(self, method: str) -> float:
        """Return the seconds from the beginning of a call until the search for its post."""
        return self.grace + (self.upload_lease if method == "upload" else 0.0)

    def after_errors(self, errors: int) -> float:
        """Return the pause after this number of consecutive errors: doubling, with a limit."""
        policy = RetryPolicy(first_wait=self.first_pause, longest_wait=self.longest_pause)
        return policy.wait_after(max(1, errors)) or 0.0


#: For demonstrations and tests against the local workspace.
FAST = Pace(
    post=0.02,
    whisper=0.02,
    edit=0.02,
    look=0.02,
    react=0.02,
    pin=0.02,
    rest=0.02,
    grace=0.2,
    upload_lease=2.0,
    first_pause=0.1,
    longest_pause=1,
)


@dataclass
class RateLimits:
    pace: Pace
    _free_at: dict[str, float] = field(default_factory=dict[str, float])

    def seconds_left(self, lane: str) -> float:
        return max(0.0, self._free_at.get(lane, 0.0) - time.monotonic())

    def count_call(self, lane: str) -> None:
        self.hold(lane, self.pace.between(lane))

    def hold(self, lane: str, seconds: float) -> None:
        """Pause a lane, for example after Retry-After."""
        free_at = time.monotonic() + seconds
        self._free_at[lane] = max(free_at, self._free_at.get(lane, 0.0))
