"""Which models are known by name, so that a misspelt one is found before it costs a debate (pure).

Names of one's own machine and of compatible servers are not checked.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import Provider as ListedProvider

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

    A record of settings with a pattern of its own names a model, and so does a price.
    """
    if provider not in CHECKED:
        return True
    priced = prices or {}
    if model in priced or f"{provider}/{model}" in priced:
        return True
    if any(record.get("match", "*") != "*" and fits(record, provider, model) for record in records):
        return True
    return _listed(provider).find_model(model) is not None


def nearest_model(provider: str, model: str) -> str:
    """The model that may have been meant; empty if no name is close."""
    names = [listed.id for listed in _listed(provider).models]
    return next(iter(get_close_matches(model.lower(), names, n=1, cutoff=0.6)), "")


def _listed(provider: str) -> ListedProvider:
    return get_snapshot().find_provider(None, PRICE_BOOKS.get(provider, provider), None)
