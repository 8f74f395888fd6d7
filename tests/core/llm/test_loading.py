"""Providers are loaded before they are asked: those that debates use, and no others."""

from core.clock import SystemClock
from core.debate.agents import Agent
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.llm.providers.openai import OPENROUTER, OpenAIProvider
from core.ports import ModelProvider
from core.settings import ModelChoice, Settings


async def test_only_the_providers_in_use_are_loaded() -> None:
    class Loading(OpenAIProvider):
        is_loaded = False

        async def load(self) -> None:
            self.is_loaded = True

    ours, other = Loading("sk-test"), Loading("sk-test", dialect=OPENROUTER)
    providers: dict[str, ModelProvider] = {
        "openai": ours,
        "openrouter": other,
        "offline": factory.build("offline"),
    }
    await ModelCalls(providers, SystemClock()).load({"openai", "offline"})
    assert (ours.is_loaded, other.is_loaded) == (True, False)


def test_settings_name_the_providers_that_debates_ask() -> None:
    agent = Agent(
        id="ann",
        name="Ann",
        role="architect",
        provider="openrouter",
        model="m",
        fallbacks=(ModelChoice(provider="workshop", model="m"),),
    )
    absent = agent.model_copy(update={"provider": "moonshot", "fallbacks": (), "enabled": False})
    settings = Settings(
        agents=(agent, absent),
        agent_model=ModelChoice(provider="anthropic", model="m"),
        judge_model=ModelChoice(provider="anthropic", model="m"),
        fallbacks=(ModelChoice(provider="openai", model="m"),),
    )
    assert settings.providers == {"openrouter", "workshop", "anthropic", "openai"}
