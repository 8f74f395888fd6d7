"""The port of places outside Slack: what one gets, and what it may answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.debate.log import RecordedEvent
from core.debate.state import Debate
from core.errors import MootError


class LandingFailed(MootError):
    """A place outside did not take what it was sent."""

    def __init__(
        self,
        message: str = "",
        *,
        after: float | None = None,
        is_final: bool = False,
    ) -> None:
        """`message` has no secrets; `after` are seconds the place asks us to wait."""
        super().__init__(message)
        self.after = after
        self.is_final = is_final


class ReceiverClosed(LandingFailed):
    """It wants nothing more, ever; what is queued for it stays until somebody asks for it."""


@dataclass(frozen=True, kw_only=True)
class Landing:
    #: The same for every attempt, and for no other event.
    id: str
    recorded: RecordedEvent
    #: The debate right after the event.
    debate: Debate
    #: The debate as it is now.
    newest: Debate
    #: Address of the thread; empty where Slack does not have it (yet).
    link: str
    #: Where the receiver has records of debates, by the debate's id.
    places: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class LandedRecord:
    #: Path of a record; empty where there is none, as with webhooks.
    place: str = ""
    #: What it is in: a folder, or the address of a repository.
    inside: str = ""
    branch: str = ""
    #: Short name of the commit.
    commit: str = ""
    #: Where a pull request for the branch is opened, as the server says; empty: it does not say.
    pull_link: str = ""


class Receiver(Protocol):
    """A place outside Slack. Gets what it wants one after the other, each at least once.

    Where it cannot be reached, or nobody knows, methods raise `LandingFailed`.
    """

    @property
    def name(self) -> str: ...

    @property
    def failure_text(self) -> str:
        """Tells the thread what could not be done; empty: it is told nothing."""
        ...

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        """`debate` is the debate right after the event."""
        ...

    async def check(self) -> str:
        """Look whether it can be reached, sending nothing; words about what was seen."""
        ...

    async def deliver(self, landing: Landing) -> LandedRecord:
        """Send it; what arrived already by an earlier attempt is not to count twice."""
        ...
