"""Checks of model names, and the default models (pure).

A misspelt name is reported before a debate starts. Names at Ollama and at compatible servers are
not checked.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from difflib import get_close_matches

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import Provider as ListedProvider

from core.capabilities import PRICE_BOOKS, Record, fits, usual_models
from core.debate.agents import ModelChoice
from core.llm.prices import NO_PRICES, Prices, price
from core.usage import Usage

#: Providers of which the price list names nearly all models.
CHECKED = ("anthropic", "openai", "openrouter", "moonshot")

#: The usual usage of a summary.
_SUMMARY = Usage(input_tokens=8000, output_tokens=300)
#: Sorts unknown prices after known ones.
_UNKNOWN = Decimal("Infinity")


def is_known(
    provider: str,
    model: str,
    records: Iterable[Record] = (),
    prices: Prices = NO_PRICES,
) -> bool:
    """Whether the model exists; true for providers that are not checked.

    A model also counts as known if a record or a price of the settings names it.
    """
    if provider not in CHECKED:
        return True
    if {model, f"{provider}/{model}"} & {*prices}:
        return True
    if any(record.get("match", "*") != "*" and fits(record, provider, model) for record in records):
        return True
    return _listed(provider).find_model(model) is not None


def nearest_model(provider: str, model: str) -> str:
    """The known model with the most similar name; empty if no name is similar."""
    names = [model.id for model in _listed(provider).models]
    return next(iter(get_close_matches(model.lower(), names, n=1, cutoff=0.6)), "")


def _listed(provider: str) -> ListedProvider:
    return get_snapshot().find_provider(None, PRICE_BOOKS.get(provider, provider), None)


def strongest(providers: Iterable[str]) -> tuple[ModelChoice, ...]:
    """The strongest model of each provider, one per maker; empty if there is only one maker.

    Different models find different mistakes; weak models beside strong ones lower the quality
    ("Rethinking Mixture-of-Agents", arXiv:2502.00674).
    """
    usual, choices = usual_models(), list[ModelChoice]()
    names = [name for name in providers if name in usual]
    # Resellers come last: a maker's own key is preferred.
    for name in sorted(names, key=lambda provider: len(usual[provider].strongest) > 1):
        models = [ModelChoice(provider=name, model=model) for model in usual[name].strongest]
        makers = {choice.maker for choice in choices}
        choices += [choice for choice in models if choice.maker not in makers][:1]
    return tuple(choices) if len(choices) > 1 else ()


def dearest(choices: Sequence[ModelChoice]) -> ModelChoice | None:
    """The most expensive model, as the vendors' measure of strength; None for no models.

    The first one if several have this price or no price is known.
    """
    costs = [price(choice.provider, choice.model, _SUMMARY) or Decimal(0) for choice in choices]
    return choices[costs.index(max(costs))] if costs else None


def cheapest(providers: Iterable[str]) -> Sequence[ModelChoice]:
    """The background model (summaries, casting, merging) of each provider, the cheapest first."""
    usual = usual_models()
    models = [
        ModelChoice(provider=name, model=usual[name].summary) for name in providers if name in usual
    ]

    def cost(choice: ModelChoice) -> Decimal:
        amount = price(choice.provider, choice.model, _SUMMARY)
        return _UNKNOWN if amount is None else amount

    return sorted(models, key=cost)
