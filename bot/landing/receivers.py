"""The port of receivers outside Slack: its input, its result and its errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.debate.log import RecordedEvent
from core.debate.state import Debate
from core.errors import MootError


class LandingFailed(MootError):
    """A receiver did not accept a landing."""

    def __init__(
        self,
        message: str = "",
        *,
        after: float | None = None,
        is_final: bool = False,
    ) -> None:
        """Create the error.

        Args:
            message: Shown to people; must not contain secrets.
            after: Seconds to wait, if the receiver requested a pause.
            is_final: Whether further attempts are useless.
        """
        super().__init__(message)
        self.after = after
        self.is_final = is_final


class ReceiverClosed(LandingFailed):
    """The receiver wants no more landings; queued ones wait until a person retries them."""


@dataclass(frozen=True, kw_only=True)
class Landing:
    #: Unique id of the event, the same for all attempts.
    id: str
    recorded: RecordedEvent
    #: The debate right after the event.
    debate: Debate
    #: The current debate.
    newest: Debate
    #: Address of the thread; empty if it is not in Slack (yet).
    link: str
    #: Places of the receiver's records, by the debate's id.
    places: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class LandedRecord:
    #: Path of a record; empty if there is none, as with webhooks.
    place: str = ""
    #: The folder, or the address of the repository, that contains it.
    inside: str = ""
    branch: str = ""
    #: Short name of the commit.
    commit: str = ""
    #: Page for a pull request of the branch, from the server's output; empty if there is none.
    pull_link: str = ""


class Receiver(Protocol):
    """A place outside Slack. Landings are delivered in order, each at least once.

    Methods raise `LandingFailed` on failure, and if the result is unknown.
    """

    @property
    def name(self) -> str: ...

    @property
    def failure_text(self) -> str:
        """Sentence for the thread after a failure; empty: failures are not reported there."""
        ...

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        """Whether to deliver the event; `debate` is the debate right after it."""
        ...

    async def check(self) -> str:
        """Check whether it can be reached, without sending data; return the result as text."""
        ...

    async def deliver(self, landing: Landing) -> LandedRecord:
        """Deliver a landing. A repeated delivery of the same landing must have no effect."""
        ...
