"""Which models there are, and which serve where nobody named one (pure).

A misspelt name is found before it costs a debate; names of one's own machine and of compatible
servers are not checked.
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

#: Providers whose models the price list names completely enough.
CHECKED = ("anthropic", "openai", "openrouter", "moonshot")

#: What a summary takes, about.
_SUMMARY = Usage(input_tokens=8000, output_tokens=300)
#: An unknown price comes after every known one.
_UNKNOWN = Decimal("Infinity")


def is_known(
    provider: str,
    model: str,
    records: Iterable[Record] = (),
    prices: Prices = NO_PRICES,
) -> bool:
    """Whether there is such a model, as far as anybody can tell.

    A record of settings with a pattern of its own names a model, and so does a price.
    """
    if provider not in CHECKED:
        return True
    if {model, f"{provider}/{model}"} & {*prices}:
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


def strongest(providers: Iterable[str]) -> tuple[ModelChoice, ...]:
    """The strongest model of each provider with a key, each maker's once; empty for one maker.

    Different models find different mistakes; weak ones beside strong ones only cost money
    ("Rethinking Mixture-of-Agents", arXiv:2502.00674).
    """
    usual, choices = usual_models(), list[ModelChoice]()
    keyed = [name for name in providers if name in usual]
    # A reseller comes last: a maker's own key is preferred.
    for name in sorted(keyed, key=lambda provider: len(usual[provider].strongest) > 1):
        models = [ModelChoice(provider=name, model=model) for model in usual[name].strongest]
        makers = {choice.maker for choice in choices}
        choices += [choice for choice in models if choice.maker not in makers][:1]
    return tuple(choices) if len(choices) > 1 else ()


def dearest(choices: Sequence[ModelChoice], prices: Prices = NO_PRICES) -> ModelChoice | None:
    """The model that costs most among those: what vendors take their strongest to be.

    Of several at one price, and where none is known, the first; None for no models.
    """
    costs = [
        price(choice.provider, choice.model, _SUMMARY, prices) or Decimal(0) for choice in choices
    ]
    return choices[costs.index(max(costs))] if costs else None


def cheapest(providers: Iterable[str], prices: Prices = NO_PRICES) -> Sequence[ModelChoice]:
    """The background model (summaries, casting, merging) of each provider, cheapest first."""
    usual = usual_models()
    models = [
        ModelChoice(provider=name, model=usual[name].summary) for name in providers if name in usual
    ]

    def cost(choice: ModelChoice) -> Decimal:
        amount = price(choice.provider, choice.model, _SUMMARY, prices)
        return _UNKNOWN if amount is None else amount

    return sorted(models, key=cost)
