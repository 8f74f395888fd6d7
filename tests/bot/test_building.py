"""An estimate keeps nobody waiting but who asked for it; whose models can be chosen."""

import asyncio
import time

import pytest

from bot.building import KEY_VARIABLES, build_calls, estimating, model_sets
from bot.settings import BotSettings
from core.errors import BadInput
from core.models import Act
from core.request import ModelRequest
from core.settings import ModelChoice, ModelServer, Settings, agent_for
from core.testing import ScriptedProvider, a_setup
from core.use_cases.choices import Choices, with_choices

_OFFLINE = ModelChoice(provider="offline", model="offline")
SETTINGS = Settings(agent_model=_OFFLINE, judge_model=_OFFLINE, summary_model=_OFFLINE)
LONG = a_setup(rounds=3).model_copy(
    update={"question": "1" * 3900 + " or " + "must it be 7.5 ms? " * 420}
)


async def test_the_event_loop_is_not_blocked_by_the_estimate_of_a_long_question() -> None:
    own, all_threads = time.thread_time(), time.process_time()
    estimate = await estimating(SETTINGS)(LONG)
    own, all_threads = time.thread_time() - own, time.process_time() - all_threads

    assert estimate.calls > 10
    assert own < all_threads / 2


async def test_an_estimate_that_takes_too_long_is_none_in_words() -> None:
    with pytest.raises(BadInput, match="longer than 0 s"):
        await estimating(SETTINGS, patience=0)(LONG)


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
    found = model_sets(environment, settings)
    assert [(one.id, one.words) for one in found[1:]] == [
        ("groq/llama-4", "groq: llama-4"),
        ("vllm/qwen", "vllm: qwen"),
        ("vllm/llama", "vllm: llama"),
        ("offline", "No model: the offline engine"),
    ]
    assert found[0].id == "anthropic"
    chosen = with_choices(settings, Choices(models="vllm/llama"), found)
    assert (chosen.agent_model.full_name, chosen.judge_model.full_name) == ("vllm/llama",) * 2


async def test_a_provider_is_asked_for_as_many_replies_at_once_as_settings_say() -> None:
    provider = ScriptedProvider(name="scripted", latency=0.02)
    settings = SETTINGS.model_copy(update={"calls_at_once": 1})
    calls = build_calls(BotSettings(), settings, more=[provider])
    agent = a_setup().judge
    request = ModelRequest(
        model="", act=Act.PROPOSAL, role="architect", system="", parts=(), delimiter="k7f3"
    )
    asking = [asyncio.ensure_future(calls.ask(request, agent)) for _ in range(3)]

    await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    assert len(provider.requests) < 3

    await asyncio.gather(*asking)
    await calls.close()
