"""Providers are loaded before they are asked: those that debates use, and no others."""

from core.clock import SystemClock
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.llm.providers.openai import OpenAIProvider
from core.settings import ModelChoice, Settings, agent_for


class Loading(OpenAIProvider):
    is_loaded = False

    async def load(self) -> None:
        self.is_loaded = True


async def test_only_the_providers_in_use_are_loaded() -> None:
    ours, other = Loading("sk-test"), Loading("sk-test")
    providers = {"openai": ours, "openrouter": other, "offline": factory.build("offline")}
    await ModelCalls(providers, SystemClock()).load({"openai", "offline"})
    assert (ours.is_loaded, other.is_loaded) == (True, False)


def test_settings_name_the_providers_that_debates_ask() -> None:
    fallbacks = (ModelChoice(provider="workshop", model="m"),)
    agent = agent_for("architect", ModelChoice(provider="openrouter", model="m"))
    agent = agent.model_copy(update={"fallbacks": fallbacks})
    absent = agent.model_copy(update={"provider": "moonshot", "fallbacks": (), "enabled": False})
    settings = Settings(
        agents=(agent, absent),
        judge_model=ModelChoice(provider="anthropic", model="m"),
        fallbacks=(ModelChoice(provider="openai", model="m"),),
    )
    assert settings.providers >= {"openrouter", "workshop", "anthropic", "openai"}
    assert "moonshot" not in settings.providers
