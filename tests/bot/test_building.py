"""Whose models can be chosen, and how many replies a provider is asked for at once."""

import pytest

from bot.building import KEY_VARIABLES, model_sets
from bot.settings import BotSettings
from core.settings import ModelChoice, ModelServer, Settings, agent_for
from core.use_cases.choices import Choices, with_choices


def test_models_of_named_servers_can_be_chosen_each_once_and_none_without_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in KEY_VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    settings = Settings(
        servers=(
            ModelServer(name="groq", base_url="https://g.example/v1", key_variable="GROQ_API_KEY"),
            ModelServer(name="vllm", base_url="https://v.example/v1", models=("qwen", "llama")),
            ModelServer(name="shut", base_url="https://s.example", key_variable="SHUT_API_KEY"),
        ),
        agents=(
            agent_for("security", ModelChoice(provider="groq", model="llama-4")),
            agent_for("architect", ModelChoice(provider="vllm", model="qwen")),
        ),
        fallbacks=(ModelChoice(provider="shut", model="x"),),
    )
    environment = BotSettings(_env_file=None)  # pyright: ignore[reportCallIssue]
    environment.take_variables({"GROQ_API_KEY": "gsk-0123456789abcdef"})
    sets = model_sets(environment, settings)
    assert [(models.id, models.words) for models in sets[1:]] == [
        ("groq/llama-4", "groq: llama-4"),
        ("vllm/qwen", "vllm: qwen"),
        ("vllm/llama", "vllm: llama"),
        ("offline", "No model: the offline engine"),
    ]
    assert sets[0].id == "anthropic"
    settings_then = with_choices(settings, Choices(models="vllm/llama"), sets)
    assert (settings_then.agent_model.full_name, settings_then.judge_model.full_name) == (
        "vllm/llama",
    ) * 2
