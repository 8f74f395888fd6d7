"""Which models serve where several vendors' keys are set."""

from core.capabilities import Price, usual_models
from core.debate.agents import ModelChoice
from core.llm.known_models import is_known
from core.llm.mixing import cheapest, strongest

OPUS = ModelChoice(provider="anthropic", model="claude-opus-5-5")
SOL = ModelChoice(provider="openai", model="gpt-6.1-sol")
KIMI = ModelChoice(provider="moonshot", model="kimi-k3.1-pro")


def test_the_strongest_model_of_each_vendor_is_dealt_out() -> None:
    assert strongest(["anthropic", "openai"]) == (OPUS, SOL)
    assert strongest(["anthropic", "openai", "moonshot"]) == (OPUS, SOL, KIMI)


def test_a_reseller_brings_a_maker_that_is_not_there_yet() -> None:
    assert strongest(["openrouter", "anthropic"]) == (
        OPUS,
        ModelChoice(provider="openrouter", model="openai/gpt-6.1-sol"),
    )
    mixed = strongest(["anthropic", "openai", "openrouter", "moonshot"])
    assert mixed == (OPUS, SOL, KIMI, ModelChoice(provider="openrouter", model="x-ai/grok-4.7"))


def test_the_cheapest_comes_first_by_the_price_list_and_by_ones_own_prices() -> None:
    names = ["moonshot", "anthropic", "openai"]
    free = {"kimi-k3.1-pro": Price.model_validate({"input": 0, "output": 0})}

    assert [choice.provider for choice in cheapest(names)] == ["anthropic", "openai", "moonshot"]
    assert cheapest(names, free)[0] == KIMI
    assert cheapest(["nowhere"]) == []


def test_every_model_of_the_table_is_known() -> None:
    for provider, models in usual_models().items():
        for model in (models.agent, models.judge, models.summary, *models.strongest):
            assert is_known(provider, model), f"{provider}/{model}"
