"""What a `Vendor` shall answer, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class ReplyEnding(Enum):
    """What the reply says about itself at its end."""

    WHOLE = 0
    #: It reached its length limit.
    LENGTH = 1
    REFUSAL = 2


class Fault(Enum):
    """What goes wrong in the middle of the reply."""

    NONE = auto()
    #: The connection breaks.
    CUT = auto()
    #: Nothing more comes.
    STALL = auto()
    #: The reply ends properly, without what says that it is complete.
    EARLY = auto()
    #: An event, or a body, that is no JSON.
    GARBAGE = auto()
    #: An event, or a body, that says that the server is overloaded.
    OVERLOAD = auto()
    #: A byte after each pace, or a second.
    DRIP = auto()
    #: Bytes that are no text.
    NOT_UTF8 = auto()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Tokens to report. `input` counts cached and written ones too."""

    input: int = 120
    cached: int = 0
    written: int = 0
    output: int = 40
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class Say:
    """A reply."""

    text: str = "Use PostgreSQL, because the team knows it."
    #: Events that the text comes in; vendors send one for each token or two.
    pieces: int = 2
    #: Comes before the text where the protocol has such a thing.
    thinking: str = ""
    ending: ReplyEnding = ReplyEnding.WHOLE
    fault: Fault = Fault.NONE
    #: None: the vendor reports null.
    counts: Counts | None = field(default_factory=Counts)
    #: Seconds before the first event, and between the events.
    wait: float = 0.0
    pace: float = 0.0
    #: Whether it is streamed, whatever was asked for; None: as asked.
    streamed: bool | None = None
    #: What it costs in US dollars, where the vendor says so.
    cost: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reject:
    """An HTTP answer that is no reply."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    code: str = ""
    message: str = "No."
    #: Sent as it is instead of an error made of code and message.
    body: str | None = None


@dataclass(frozen=True, kw_only=True)
class VendorRequest:
    """One request that arrived."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    #: Seconds on the event loop's clock.
    at: float
