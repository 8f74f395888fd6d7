"""Token estimates, prices and worst-case costs (pure)."""

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
from core.request import ModelRequest
from core.usage import Usage

#: Prices of the settings: by `provider/model`, or by the model's name alone.
Prices = Mapping[str, Price]

NO_PRICES: Prices = {}

#: Characters per token; the mean over English prose and code.
_CHARS_PER_TOKEN = 3.5
#: Chinese, Japanese and Korean characters: about half as many characters per token.
_CJK = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
#: Factor by which an estimate may be too low.
ESTIMATE_SLACK = 1.15
#: Weight of the newest report in a model's token factor.
_LEARNING = 0.2


def estimate_tokens(text: str, factor: float = 1.0) -> int:
    """The estimated tokens of a text, without a tokenizer; `factor` is the model's correction."""
    return tokens_of(size_of(text), factor)


def tokens_of(size: int, factor: float = 1.0) -> int:
    """The estimated tokens of texts whose sizes (`size_of`) have this sum."""
    return math.ceil(size / _CHARS_PER_TOKEN * factor)


def size_of(text: str) -> int:
    """The length of a text in characters; Chinese, Japanese and Korean ones count twice."""
    cjk_count = 0
    if not text.isascii():  # fast, and false for most texts and lines
        others = "".join(line for line in text.split("\n") if not line.isascii())
        cjk_count = len(others) - len(_CJK.sub("", others))
    return len(text) + cjk_count


def corrected_factor(factor: float, estimated_tokens: int, reported_tokens: int) -> float:
    """A model's token factor after a reported prompt size: a moving average from 0.5 to 3.0."""
    if estimated_tokens <= 0 or reported_tokens <= 0:
        return factor
    latest = factor * reported_tokens / estimated_tokens
    return min(3.0, max(0.5, factor + _LEARNING * (latest - factor)))


def price(
    provider: str,
    model: str,
    usage: Usage,
    prices: Prices = NO_PRICES,
    *,
    time: datetime | None = None,
) -> Decimal | None:
    """The cost of a usage in US dollars; None if the price is unknown ("n/a").

    Prices of the settings have precedence. Vendors change prices: `time` is the time of the call
    (None: now).
    """
    # Some servers report more cached tokens than input tokens.
    listed_usage = ListedUsage(
        input_tokens=max(usage.input_tokens, usage.cached_tokens + usage.written_tokens),
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.written_tokens,
        output_tokens=usage.output_tokens,
    )
    setting = prices.get(f"{provider}/{model}") or prices.get(model)
    if setting:
        rates = ModelPrice(
            input_mtok=setting.input,
            cache_read_mtok=setting.cached,
            cache_write_mtok=setting.written,
            output_mtok=setting.output,
        )
        return rates.calc_price(listed_usage)["total_price"]
    book = PRICE_BOOKS.get(provider, provider)
    try:
        return calc_price(
            listed_usage, model, provider_id=book, genai_request_timestamp=time
        ).total_price
    except LookupError:
        return None


def worst_cost(
    provider: str,
    model: str,
    sizes: tuple[int, int],
    prices: Prices = NO_PRICES,
    *,
    time: datetime | None = None,
) -> Decimal | None:
    """The highest possible cost of a call: no cache reads, all input written to the cache.

    `sizes` are the input tokens and the most output tokens, hidden reasoning included.
    """
    tokens_in, tokens_out = sizes
    plain = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    cold = replace(plain, written_tokens=tokens_in)
    costs = [price(provider, model, usage, prices, time=time) for usage in (plain, cold)]
    return max((cost for cost in costs if cost is not None), default=None)


def output_reserve(limits: Capability, request: ModelRequest) -> int:
    """Tokens to reserve for the longest reply, hidden reasoning included."""
    reasoning = limits.reasoning_tokens.get(request.effort, 0)
    return min(limits.output_tokens, request.max_output_tokens + reasoning)
