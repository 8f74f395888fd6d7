"""What model calls use and cost: tokens, money, calls, and caps on money.

A full process holds tens of thousands of these values. They are dataclasses with slots: one object
each for the garbage collector, where a pydantic model is three.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What model calls have spent. Tokens of all attempts; cost None = price unknown ("n/a")."""

    #: All input tokens, cached and written ones included.
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0
    #: US dollars.
    cost: Decimal | None = Decimal(0)
    #: Attempts made, failed ones included.
    attempts: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The sum; if one cost is unknown, so is the sum's."""
        is_known = self.cost is not None and other.cost is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if is_known else None,
            attempts=self.attempts + other.attempts,
        )


@dataclass(frozen=True)
class SpendingScope:
    """Whose spending a cap bounds: what is None is not looked at."""

    #: A day in UTC.
    day: date | None = None
    workspace: str | None = None
    person: str | None = None
    #: Id of the token that debates were asked for with.
    token: str | None = None
    debate_id: str | None = None


@dataclass(frozen=True)
class Cap:
    """An upper bound on money, and what is known to be spent of it. Amounts are in US dollars."""

    #: What it bounds, unique and stable: `debate/d123`, `person/T1/U1/2026-11-20`.
    key: str
    #: Words for people: "this debate", "you today".
    words: str
    limit: Decimal
    spent: Decimal = Decimal(0)
    #: Kept back from this call, for calls that must still be possible afterwards.
    kept: Decimal = Decimal(0)
    remedy: str = ""
    #: Whether a call whose price is unknown is refused.
    stops_unpriced: bool = True
    #: What it bounds, in the database; None: only whoever asks knows what is spent.
    scope: SpendingScope | None = None

    def has_room_for(self, amount: Decimal) -> bool:
        return self.spent + amount <= self.limit - self.kept


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPart:
    """A part of a prompt as a model was sent it; its text is in the log already."""

    label: str
    #: What it is: a `core.request.PartKind`.
    kind: str
    chars: int
    #: Characters left out to fit the model's context.
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    provider: str
    model: str
    usage: Usage = Usage()
    latency_ms: int = 0
    request_id: str = ""
    temperature: float | None = None
    #: Where the prompt came from: "built-in" or the path of an override.
    prompt_source: str = "built-in"
    #: The model that was to answer, as `provider/model`, when a fallback did; else empty.
    stands_in_for: str = ""
    #: Why it could not be asked, in words for people.
    stands_in_why: str = ""
    #: The prompt of the attempt that led to it, the task left out; empty in older logs.
    sent: tuple[SentPart, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Expense:
    #: Whose turn it was; empty: several agents' calls that were given up under way.
    agent: str = ""
    call: Call | None = None
    lost: Usage = Usage()

    @property
    def usage(self) -> Usage:
        return self.call.usage + self.lost if self.call else self.lost
