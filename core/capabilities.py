"""What each model can take and what its vendor does: a table read from `capabilities.toml`.

Records that fit a model are laid over each other in the order of the file, then those of settings.
"""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import ConfigDict, Field

from core.values import Money, Value


class Price(Value):
    """US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Money = Field(description="What the model reads.")
    output: Money = Field(description="What it writes.")
    cached: Money | None = Field(
        default=None, description="Read from the cache; null: like other input."
    )
    written: Money | None = Field(
        default=None, description="Written to the cache; null: like other input."
    )


class Capability(Value):
    """What a model can take. Sizes are in tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int
    #: The most the vendor lets it write in one reply, hidden reasoning included.
    output_tokens: int
    #: Room for hidden reasoning, on top of the reply, per effort.
    reasoning_tokens: Mapping[str, int]
    sampling: bool
    #: The vendor's word for each effort; an effort that is missing is not sent.
    efforts: Mapping[str, str]
    #: The vendor's kind of thinking for each effort; an effort that is missing sends none.
    thinking: Mapping[str, str]
    #: How a structured answer is asked for. `object`: any JSON, the schema goes into the prompt.
    answers: Literal["strict", "object", "prompt"]
    #: `explicit`: only up to marked places. `automatic`: the vendor caches by itself.
    cache: Literal["explicit", "automatic", "none"]
    #: A shorter beginning is silently not cached.
    cache_min_tokens: int
    #: Seconds after which an unused entry may be gone.
    cache_seconds: float
    #: Tokens this model makes of a text, compared with the usual estimate.
    token_factor: float
    #: Tokens a second it writes, for estimates of time.
    speed: float
    #: Runs on our own machine: costs nothing.
    local: bool


#: The providers whose name in the public price list is another one.
PRICE_BOOKS: Mapping[str, str] = {"moonshot": "moonshotai"}
#: One record of the table: `provider` and `match` are patterns, the rest are fields to lay over.
Record = Mapping[str, Any]


class Retirement(Value):
    """A model its vendor takes out of service."""

    provider: str
    match: str
    #: None: the vendor has announced no day that we know of.
    on: date | None = None
    instead: str


class UsualModels(Value):
    """The models of a provider that serve where nobody names one."""

    agent: str
    judge: str
    #: Cheap, and good enough to sum up, to cast and to merge.
    summary: str
    #: The best first; of a reseller those of several makers.
    strongest: tuple[str, ...] = ()


@cache
def _table() -> Mapping[str, Any]:
    text = files("core").joinpath("capabilities.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def usual_models() -> Mapping[str, UsualModels]:
    """The models that serve where nobody names one, by provider; Ollama has what was pulled."""
    return {row["provider"]: UsualModels.model_validate(row) for row in _table()["usual"]}


def retirement(provider: str, model: str) -> Retirement | None:
    """When this model goes out of service; None if nothing is known about that."""
    for record in _table()["retiring"]:
        if fits(record, provider, model):
            return Retirement.model_validate(record)
    return None


def capability(provider: str, model: str, overrides: Sequence[Record] = ()) -> Capability:
    """The limits of a model; careful defaults for an unknown one.

    Raises:
        ValueError: An override has a field that does not exist or a value that does not fit.
    """
    values: dict[str, Any] = {}
    for record in (*_table()["models"], *overrides):
        if fits(record, provider, model):
            values.update(
                {key: value for key, value in record.items() if key not in {"provider", "match"}}
            )
    return Capability.model_validate(values)


def says_context(provider: str, model: str, overrides: Sequence[Record]) -> bool:
    records = (record for record in overrides if "context_tokens" in record)
    return any(fits(record, provider, model) for record in records)


def fits(record: Record, provider: str, model: str) -> bool:
    """Whether the record is about this model; vendors' prefixes like `openai/` do not count."""
    name = model.lower().rsplit("/", 1)[-1]
    pattern = str(record.get("match", "*")).lower()
    return fnmatchcase(provider, str(record.get("provider", "*"))) and (
        fnmatchcase(name, pattern) or fnmatchcase(model.lower(), pattern)
    )
