"""The table of what models can take."""

import pytest

from core.capabilities import capability


def test_an_unknown_model_gets_careful_defaults() -> None:
    unknown = capability("compatible", "anything-1")

    assert unknown.sampling
    assert unknown.cache == "none"
    assert unknown.efforts == {}
    assert unknown.context_tokens == 32768


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
    found = capability(provider, model)

    assert (found.sampling, found.cache) == (sampling, cache)


def test_settings_are_laid_over_the_table() -> None:
    records = [
        {"provider": "compatible", "match": "big-*", "context_tokens": 500_000},
        {"match": "big-1", "sampling": False},
    ]

    found = capability("compatible", "big-1", records)

    assert (found.context_tokens, found.sampling) == (500_000, False)
    assert capability("compatible", "small-1", records).context_tokens == 32768


@pytest.mark.parametrize(
    "record", [{"match": "*", "contextt": 5}, {"match": "*", "cache": "sometimes"}]
)
def test_a_record_that_does_not_fit_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Capability"):
        capability("openai", "gpt-6.1-terra", [record])
