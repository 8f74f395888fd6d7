"""Which models are known, which one was meant, and which go out of service."""

from datetime import date
from decimal import Decimal

import pytest

from core.capabilities import Price, retirement
from core.llm.known_models import is_known, nearest_model
from core.llm.providers.factory import DEFAULT_MODELS


@pytest.mark.parametrize("provider", DEFAULT_MODELS)
def test_every_default_model_is_known_and_stays(provider: str) -> None:
    models = DEFAULT_MODELS[provider]
    for model in (models.agent, models.summary, models.judge):
        assert is_known(provider, model)
        assert retirement(provider, model) is None


@pytest.mark.parametrize(
    ("provider", "model", "nearest"),
    [
        ("anthropic", "claude-sonet-5-5", "claude-sonnet-5-5"),
        ("openai", "gpt-6.1-tera", "gpt-6.1-terra"),
        ("moonshot", "kimi-k31-pro", "kimi-k3.1-pro"),
        ("openrouter", "anthropic/claude-sonet-5.5", "anthropic/claude-sonnet-5.5"),
        ("openai", "zzz", ""),
    ],
)
def test_a_misspelt_model_is_unknown_and_the_nearest_one_is_found(
    provider: str, model: str, nearest: str
) -> None:
    assert not is_known(provider, model)
    assert nearest_model(provider, model) == nearest


def test_what_settings_describe_or_price_is_known() -> None:
    price = Price(input=Decimal(1), output=Decimal(2))

    assert is_known("openai", "ours", records=[{"match": "our*"}])
    assert not is_known("openai", "ours", records=[{"match": "*", "speed": 5}])
    assert is_known("openai", "ours", prices={"ours": price})
    assert is_known("openai", "ours", prices={"openai/ours": price})
    assert not is_known("openai", "ours", prices={"anthropic/ours": price})


def test_a_model_that_goes_out_of_service_is_told_with_its_successor() -> None:
    notice = retirement("anthropic", "claude-sonnet-4-0")
    going = retirement("openai", "gpt-4o-mini")

    assert notice
    assert (notice.on, notice.instead) == (date(2026, 6, 15), "claude-sonnet-5-5")
    assert going
    assert (going.on, going.instead) == (None, "gpt-6-luna")
