"""How fast Slack lets us go: seconds between two calls of a kind (the waiting is the caller's)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.store.posts import Channel
from core.retry import RetryPolicy


class CallKind(StrEnum):
    """Calls that Slack limits separately."""

    POST = "post"
    EDIT = "edit"
    PIN = "pin"
    LOOK = "look"
    REACT = "react"


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds between two calls. Source: https://docs.slack.dev/apis/web-api/rate-limits.

    Posts count per channel; the other kinds per workspace.
    """

    #: chat.postMessage: about one a second in a channel.
    post: float = 1.0
    #: chat.update and conversations.replies: Tier 3, 50 a minute.
    edit: float = 1.2
    look: float = 1.2
    react: float = 1.2
    #: pins.add and pins.remove: Tier 2, 20 a minute.
    pin: float = 3.0
    #: A post in doubt is looked for this long after its attempt: Slack may accept late.
    grace: float = 5.0
    #: The bytes of a call leave within so many seconds of the mark that it begins, or not at all:
    #: fewer than `grace`, after which another process looks for the post and sends it again.
    lease: float = 2.0
    #: The same of an upload, which is several calls. Who looks for one in doubt waits for it, too.
    upload_lease: float = 30.0
    #: The first and the longest pause after a passing error.
    first_pause: float = 1.0
    longest_pause: float = 60.0

    def between(self, kind: CallKind) -> float:
        """Return the seconds between two calls of this kind."""
        pauses: Mapping[CallKind, float] = {
            CallKind.POST: self.post,
            CallKind.EDIT: self.edit,
            CallKind.PIN: self.pin,
            CallKind.LOOK: self.look,
            CallKind.REACT: self.react,
        }
        return pauses[kind]

    def lease_of(self, method: str) -> float:
        """Return the seconds in which the bytes of a call by this method leave."""
        return self.upload_lease if method == "upload" else self.lease

    def grace_of(self, method: str, errors: int) -> float:
        """Return the seconds from the mark of a call until its post is looked for.

        Args:
            method: Of the call.
            errors: Attempts to look for it that failed, in a row.
        """
        own = self.upload_lease if method == "upload" else 0.0
        return self.grace + own + (self.after_errors(errors) if errors else 0.0)

    def after_errors(self, errors: int) -> float:
        """Return the pause after so many passing errors in a row: doubling, with a ceiling."""
        policy = RetryPolicy(first_wait=self.first_pause, longest_wait=self.longest_pause)
        return policy.wait_after(max(1, errors)) or 0.0


#: For demonstrations and tests against the local workspace.
FAST = Pace(
    post=0.02,
    edit=0.02,
    look=0.02,
    react=0.02,
    pin=0.02,
    grace=0.2,
    upload_lease=2.0,
    first_pause=0.1,
    longest_pause=1,
)


@dataclass
class Turnstile:
    """When the next call of each kind may begin. Times are seconds of a steady clock."""

    pace: Pace
    _free_at: dict[tuple[CallKind, str, str], float] = field(
        default_factory=dict[tuple[CallKind, str, str], float]
    )
    _held_until: dict[tuple[CallKind, str, str], float] = field(
        default_factory=dict[tuple[CallKind, str, str], float]
    )

    def reserve(self, kind: CallKind, channel: Channel, now: float) -> float:
        """Take the next place in line and return how many seconds to wait for it.

        Afterwards ask `is_held`: a line that is held meanwhile needs a new place.
        """
        line = _line(kind, channel)
        begins = max(now, self._free_at.get(line, 0.0))
        self._free_at[line] = begins + self.pace.between(kind)
        return begins - now

    def left(self, kind: CallKind, channel: Channel, now: float) -> float:
        """Return how many seconds to wait at least; somebody else may go first meanwhile."""
        return max(0.0, self._free_at.get(_line(kind, channel), 0.0) - now)

    def passed(self, kind: CallKind, channel: Channel, now: float) -> None:
        """Count from now: who had a place may have been held up on the way to the call."""
        self._move(_line(kind, channel), now + self.pace.between(kind))

    def hold(self, kind: CallKind, channel: Channel, until: float) -> None:
        """Let nobody through before this time, as when Slack said Retry-After."""
        line = _line(kind, channel)
        self._held_until[line] = max(until, self._held_until.get(line, 0.0))
        self._move(line, until)

    def is_held(self, kind: CallKind, channel: Channel, now: float) -> bool:
        """Whether nobody may go yet, not even who has a place in line."""
        return now < self._held_until.get(_line(kind, channel), 0.0)

    def _move(self, line: tuple[CallKind, str, str], until: float) -> None:
        """Begin the next place in line no earlier than this."""
        self._free_at[line] = max(until, self._free_at.get(line, 0.0))


def _line(kind: CallKind, channel: Channel) -> tuple[CallKind, str, str]:
    """The calls that count together: never those of two workspaces."""
    return kind, channel.workspace, channel.channel if kind is CallKind.POST else ""
