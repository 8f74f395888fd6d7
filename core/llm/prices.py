"""Tokens and money before they are spent: estimates, prices, worst cases (pure)."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from genai_prices import Usage as ListedUsage
from genai_prices import calc_price
from genai_prices.types import ModelPrice

from core.capabilities import PRICE_BOOKS, Capability, Price
from core.usage import Usage

#: Settings' prices: by `provider/model`, or by the model's name alone.
Prices = Mapping[str, Price]

NO_PRICES: Prices = {}

#: Characters one token stands for; the mean over English prose and code.
_CHARS_PER_TOKEN = 3.5
#: Chinese, Japanese and Korean characters: about half as many characters go into a token.
_CJK = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
#: An estimate may be too low by so much.
ESTIMATE_SLACK = 1.15
#: How fast a model's correction follows what it reports.
_LEARNING = 0.2


def estimate_tokens(text: str, factor: float = 1.0) -> int:
    """About how many tokens a text is for a model with this factor; no tokenizer is needed."""
    return tokens_of(size_of(text), factor)


def tokens_of(size: int, factor: float = 1.0) -> int:
    """About how many tokens texts of this size (`size_of`) are, together."""
    return math.ceil(size / _CHARS_PER_TOKEN * factor)


def size_of(text: str) -> int:
    """How long a text is: in characters, where Chinese, Japanese and Korean ones are two each."""
    dense = 0
    if not text.isascii():  # most texts and lines are, and that is seen at once
        odd = "".join(line for line in text.split("\n") if not line.isascii())
        dense = len(odd) - len(_CJK.sub("", odd))
    return len(text) + dense


def corrected_factor(factor: float, estimated: int, reported: int) -> float:
    """A model's token factor after a reported prompt size.

    A moving average, limited to 0.5 to 3.0 times the estimate, which bounds outliers.
    """
    if estimated <= 0 or reported <= 0:
        return factor
    latest = factor * reported / estimated
    return min(3.0, max(0.5, factor + _LEARNING * (latest - factor)))


def price(
    provider: str,
    model: str,
    usage: Usage,
    prices: Prices = NO_PRICES,
    *,
    at: datetime | None = None,
) -> Decimal | None:
    """The cost of a usage in US dollars; None: the price is unknown ("n/a").

    Settings' own prices win. Vendors change theirs: `at` is when the call was made (None: now).
    """
    # Reports may be inconsistent (more cached than input).
    listed = ListedUsage(
        input_tokens=max(usage.input_tokens, usage.cached_tokens + usage.written_tokens),
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.written_tokens,
        output_tokens=usage.output_tokens,
    )
    own = prices.get(f"{provider}/{model}") or prices.get(model)
    if own:
        rates = ModelPrice(
            input_mtok=own.input,
            cache_read_mtok=own.cached,
            cache_write_mtok=own.written,
            output_mtok=own.output,
        )
        return rates.calc_price(listed)["total_price"]
    book = PRICE_BOOKS.get(provider, provider)
    try:
        return calc_price(listed, model, provider_id=book, genai_request_timestamp=at).total_price
    except LookupError:
        return None


def worst_cost(
    provider: str,
    model: str,
    sizes: tuple[int, int],
    prices: Prices = NO_PRICES,
    *,
    at: datetime | None = None,
) -> Decimal | None:
    """The most a call can cost: no cache reads, all input written to the cache, maximal output.

    `sizes` are input tokens and output tokens, hidden reasoning included; the rest as in `price`.
    """
    tokens_in, tokens_out = sizes
    plain = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    cold = replace(plain, written_tokens=tokens_in)
    costs = [price(provider, model, usage, prices, at=at) for usage in (plain, cold)]
    return max((cost for cost in costs if cost is not None), default=None)


def output_reserve(limits: Capability, reply_tokens: int, effort: str) -> int:
    """Tokens to reserve for a reply of that size, hidden reasoning included."""
    return min(limits.output_tokens, reply_tokens + limits.reasoning_tokens.get(effort, 0))
