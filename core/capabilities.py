"""Capabilities of models and their vendors, from the table `capabilities.toml`.

Later records that match a model override earlier ones; records of the settings come last.
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
    """Limits and features of a model. Sizes are in tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int
    #: The vendor's limit for one reply, hidden reasoning included.
    output_tokens: int
    #: Tokens for hidden reasoning, in addition to the reply, by effort.
    reasoning_tokens: Mapping[str, int]
    sampling: bool
    #: The vendor's word for each effort; an effort that is missing is not sent.
    efforts: Mapping[str, str]
    #: The vendor's kind of thinking for each effort; an effort that is missing sends none.
    thinking: Mapping[str, str]
    #: How to request a structured answer. `object`: any JSON, the schema goes into the prompt.
    answers: Literal["strict", "object", "prompt"]
    #: `explicit`: up to marked places only. `automatic`: the vendor caches by itself.
    cache: Literal["explicit", "automatic", "none"]
    #: A shorter prefix of a prompt is not cached.
    cache_min_tokens: int
    #: Seconds after which an unused cache entry may expire.
    cache_seconds: float
    #: Tokens of this model per token of the usual estimate.
    token_factor: float
    #: Output tokens per second, for estimates of time.
    speed: float
    #: Runs on this machine and costs nothing.
    local: bool


#: Providers that need a key, in order of preference, and the environment variable of each key.
KEYED = ("anthropic", "openai", "openrouter", "moonshot")
KEY_VARIABLES = {name: f"{name.upper()}_API_KEY" for name in KEYED}
#: Providers that have another name in the public price list.
PRICE_BOOKS: Mapping[str, str] = {"moonshot": "moonshotai"}
#: A record of the table: `provider` and `match` are patterns, the other keys override fields.
Record = Mapping[str, Any]


class Retirement(Value):
    """A model that its vendor retires."""

    provider: str
    match: str
    #: None: no known date.
    on: date | None = None
    instead: str


class UsualModels(Value):
    """The default models of a provider."""

    agent: str
    judge: str
    #: A cheap model for summaries, casting and merging.
    summary: str
    #: The best model first; for a reseller, models of several makers.
    strongest: tuple[str, ...] = ()


@cache
def _table() -> Mapping[str, Any]:
    text = files("core").joinpath("capabilities.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def usual_models() -> Mapping[str, UsualModels]:
    """Return the default models by provider. Ollama has no entry: its models are those pulled."""
    return {row["provider"]: UsualModels.model_validate(row) for row in _table()["usual"]}


def retirement(provider: str, model: str) -> Retirement | None:
    """Return the retirement of a model; None if none is known."""
    for record in _table()["retiring"]:
        if fits(record, provider, model):
            return Retirement.model_validate(record)
    return None


def capability(provider: str, model: str, overrides: Sequence[Record] = ()) -> Capability:
    """Return the capabilities of a model; conservative defaults for an unknown model.

    Raises:
        ValueError: An override has an unknown field or an invalid value.
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
    """Whether the record matches this model. A vendor's prefix like `openai/` is ignored."""
    name = model.lower().rsplit("/", 1)[-1]
    pattern = str(record.get("match", "*")).lower()
    return fnmatchcase(provider, str(record.get("provider", "*"))) and (
        fnmatchcase(name, pattern) or fnmatchcase(model.lower(), pattern)
    )
