"""Which models are known by name, so that a misspelt one is found before it costs a debate (pure).

Known are the models of the public price list that comes with `genai-prices`, and those that
settings describe or price. Names of one's own machine and of compatible servers are not checked.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache

from genai_prices.data_snapshot import get_snapshot

from core.capabilities import PRICE_BOOKS, Price, Record, fits

#: Providers whose models the price list names completely enough.
CHECKED = ("anthropic", "openai", "openrouter", "moonshot")


def is_known(
    provider: str,
    model: str,
    records: Iterable[Record] = (),
    prices: Mapping[str, Price] | None = None,
) -> bool:
    """Whether there is such a model, as far as anybody can tell.

    Args:
        provider: The provider's name in settings.
        model: The model's name at that provider.
        records: Settings' records of capabilities; one with a pattern of its own names a model.
        prices: Settings' prices.
    """
    if provider not in CHECKED:
        return True
    priced = prices or {}
    if model in priced or f"{provider}/{model}" in priced:
        return True
    if any(record.get("match", "*") != "*" and fits(record, provider, model) for record in records):
        return True
    catalogue = get_snapshot().find_provider(None, PRICE_BOOKS.get(provider, provider), None)
    return catalogue.find_model(model) is not None


def nearest_model(provider: str, model: str) -> str:
    """The model that may have been meant; empty if no name is close."""
    matches = get_close_matches(model.lower(), _names(provider), n=1, cutoff=0.6)
    return matches[0] if matches else ""


@cache
def _names(provider: str) -> Sequence[str]:
    """The models the price list has for a provider."""
    book = PRICE_BOOKS.get(provider, provider)
    return [
        model.id
        for provider in get_snapshot().providers
        if provider.id == book
        for model in provider.models
    ]
