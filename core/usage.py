"""Usage and cost of model calls, and caps on money.

A busy process has tens of thousands of these values in memory. A dataclass with slots is one object
for the garbage collector; a pydantic model is three.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Usage of model calls: tokens of all attempts, and cost (None: price unknown)."""

    #: All input tokens, including those read from and written to the cache.
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0
    #: US dollars.
    cost: Decimal | None = Decimal(0)
    #: Attempts made, failed ones included.
    attempts: int = 0
    #: Attempts of which the server reported no tokens, so that they are estimated. It is written
    #: only if there are any.
    estimated_attempts: Annotated[int, Field(exclude_if=lambda count: not count)] = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum. Its cost is unknown if one of the two is."""
        is_known = self.cost is not None and other.cost is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if is_known else None,
            attempts=self.attempts + other.attempts,
            estimated_attempts=self.estimated_attempts + other.estimated_attempts,
        )


@dataclass(frozen=True)
class SpendingScope:
    """Selects spending by day, workspace, person, token and debate. None does not restrict."""

    #: A day in UTC.
    day: date | None = None
    workspace: str | None = None
    person: str | None = None
    #: Id of the token that debates were asked for with.
    token: str | None = None
    debate_id: str | None = None


@dataclass(frozen=True)
class Cap:
    """An upper bound on money, and the amount spent of it. Amounts are in US dollars."""

    #: Unique, stable id: `debate/d123`, `person/T1/U1/2026-11-20`.
    key: str
    #: What it bounds, for people: "this debate", "you today".
    words: str
    limit: Decimal
    spent: Decimal = Decimal(0)
    #: Amount that this call must leave for later calls, such as the verdict.
    kept: Decimal = Decimal(0)
    remedy: str = ""
    #: Whether a call whose price is unknown is refused.
    stops_unpriced: bool = True
    #: The spending in the database that counts; None: only `spent` counts.
    scope: SpendingScope | None = None

    def has_room_for(self, amount: Decimal) -> bool:
        return self.spent + amount <= self.limit - self.kept


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPart:
    """A part of a sent prompt, without its text, which the log already has."""

    label: str
    #: A `core.request.PartKind`.
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
    #: Source of the prompt: "built-in" or the path of an override.
    prompt_source: str = "built-in"
    #: If a fallback replied: the model it replaced, as `provider/model`; else empty.
    stands_in_for: str = ""
    #: The reason why that model could not be used, for people.
    stands_in_why: str = ""
    #: The parts of the successful attempt's prompt, without the task; empty in older logs.
    sent: tuple[SentPart, ...] = ()

    @property
    def model_name(self) -> str:
        """The model that replied, as `provider/model`."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Expense:
    #: The agent of the turn; empty: cancelled calls of several agents.
    agent: str = ""
    call: Call | None = None
    lost: Usage = Usage()

    @property
    def usage(self) -> Usage:
        return self.call.usage + self.lost if self.call else self.lost
