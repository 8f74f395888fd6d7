"""The table of what models can take."""

import pytest

from core.capabilities import capability


@pytest.mark.parametrize(
    ("provider", "model", "sampling", "cache"),
    [
        ("openai", "gpt-6.1-terra", False, "explicit"),
        ("openai", "gpt-5.6-sol", False, "explicit"),
        ("openai", "gpt-5.1", False, "automatic"),
        ("openai", "gpt-4o", True, "automatic"),
        ("openai", "o4-mini", False, "automatic"),
        ("openai", "llama-4", True, "none"),
        ("anthropic", "claude-sonnet-5-5", False, "explicit"),
        ("openrouter", "anthropic/claude-sonnet-5.5", False, "explicit"),
        ("openrouter", "meta/llama-4", True, "automatic"),
        ("moonshot", "kimi-k3.1-pro", False, "automatic"),
        ("ollama", "llama-4:8b", True, "none"),
    ],
)
def test_families_of_models_are_known(
    provider: str, model: str, *, sampling: bool, cache: str
) -> None:
    limits = capability(provider, model)

    assert (limits.sampling, limits.cache) == (sampling, cache)
