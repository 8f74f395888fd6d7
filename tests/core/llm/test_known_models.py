"""Known models, similar names, default models and models that will be shut down."""

from datetime import date

import pytest

from core.capabilities import Price, retirement, usual_models
from core.debate.agents import ModelChoice
from core.llm.known_models import cheapest, is_known, nearest_model, strongest

OPUS = ModelChoice(provider="anthropic", model="claude-opus-5-5")
SOL = ModelChoice(provider="openai", model="gpt-6.1-sol")
KIMI = ModelChoice(provider="moonshot", model="kimi-k3.1-pro")
PRICE = Price.model_validate({"input": 0, "output": 0})


@pytest.mark.parametrize("provider", usual_models())
def test_all_models_of_the_table_are_known(provider: str) -> None:
    models = usual_models()[provider]
    for model in (models.agent, models.judge, models.summary, *models.strongest):
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


def test_models_in_the_settings_are_known() -> None:
    assert is_known("openai", "ours", records=[{"match": "our*"}])
    assert not is_known("openai", "ours", records=[{"match": "*", "speed": 5}])
    assert is_known("openai", "ours", prices={"ours": PRICE})
    assert is_known("openai", "ours", prices={"openai/ours": PRICE})
    assert not is_known("openai", "ours", prices={"anthropic/ours": PRICE})


@pytest.mark.parametrize(
    ("provider", "model", "on", "instead"),
    [
        ("anthropic", "claude-sonnet-4-0", date(2026, 6, 15), "claude-sonnet-5-5"),
        ("openai", "gpt-4o-mini", None, "gpt-6-luna"),
    ],
)
def test_a_model_that_will_be_shut_down_is_reported_with_its_successor(
    provider: str, model: str, on: date | None, instead: str
) -> None:
    notice = retirement(provider, model)

    assert notice
    assert (notice.on, notice.instead) == (on, instead)


@pytest.mark.parametrize(
    ("providers", "dealt"),
    [
        (["anthropic"], ()),
        (["anthropic", "openai", "moonshot"], (OPUS, SOL, KIMI)),
        (
            ["openrouter", "anthropic"],  # a reseller brings a maker that is not there yet
            (OPUS, ModelChoice(provider="openrouter", model="openai/gpt-6.1-sol")),
        ),
    ],
)
def test_the_strongest_model_of_each_maker_is_chosen(
    providers: list[str], dealt: tuple[ModelChoice, ...]
) -> None:
    assert strongest(providers) == dealt


def test_the_cheapest_model_comes_first() -> None:
    names = ["moonshot", "anthropic", "openai"]

    assert [choice.provider for choice in cheapest(names)] == ["anthropic", "openai", "moonshot"]
