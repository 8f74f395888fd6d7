"""Answers of a `Vendor` as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class ReplyEnding(Enum):
    """The finish reason of a reply."""

    WHOLE = 0
    #: The length limit.
    LENGTH = 1
    REFUSAL = 2


class Fault(Enum):
    """A failure within a reply."""

    NONE = auto()
    #: The connection breaks.
    CUT = auto()
    #: Nothing more is sent.
    STALL = auto()
    #: The stream ends without a finish reason.
    EARLY = auto()
    #: An event or a body that is no JSON.
    GARBAGE = auto()
    #: An event or a body that reports an overload.
    OVERLOAD = auto()
    #: One byte per pace, or per second.
    DRIP = auto()
    #: Bytes that are no UTF-8.
    NOT_UTF8 = auto()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Tokens to report; `input` includes cached and written tokens."""

    input: int = 120
    cached: int = 0
    written: int = 0
    output: int = 40
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class Say:
    """A reply."""

    text: str = "Use PostgreSQL, because the team knows it."
    #: Number of events for the text; vendors send one per token or two.
    pieces: int = 2
    #: Reasoning before the text, in protocols that have it.
    thinking: str = ""
    ending: ReplyEnding = ReplyEnding.WHOLE
    fault: Fault = Fault.NONE
    #: None: the vendor reports null.
    counts: Counts | None = field(default_factory=Counts)
    #: Seconds before the first event, and between the events.
    wait: float = 0.0
    pace: float = 0.0
    #: Whether to send a stream; None: as requested.
    streamed: bool | None = None
    #: The reported cost in US dollars; None: not reported.
    cost: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reject:
    """An error response."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    code: str = ""
    message: str = "No."
    #: Sent instead of an error with code and message.
    body: str | None = None


@dataclass(frozen=True, kw_only=True)
class VendorRequest:
    """A received request."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    #: Seconds on the event loop's clock.
    at: float
