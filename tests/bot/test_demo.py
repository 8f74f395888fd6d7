"""Parts of the demonstration: its top line, its pace, and what it costs."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.building import load_settings
from bot.demo import costs_money, models_in_words, offline
from bot.examples import PacedProvider
from bot.settings import BotSettings
from core.clock import SystemClock
from core.debate.turn import Act
from core.request import ModelRequest, Part, PartKind
from core.settings import ModelChoice, Settings, agent_for
from core.testing import ScriptedProvider

PAID = ModelChoice(provider="openai", model="some-model")


@dataclass
class NotingClock(SystemClock):
    """A clock on which nobody sleeps; it remembers for how long they wanted to."""

    slept: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_the_same_question_takes_the_offline_engine_as_long_each_time() -> None:
    clock = NotingClock()
    engine = PacedProvider(ScriptedProvider(), clock)
    for text in ("A or B?", "A or B?", "C or D?"):
        part = Part(label="Question", text=text, kind=PartKind.QUESTION)
        await engine.complete(
            ModelRequest(
                model="m", act=Act.PROPOSAL, role="r", system="", parts=(part,), delimiter="d"
            )
        )
    first, again, other = clock.slept
    assert first == again != other


@pytest.mark.parametrize(
    ("settings", "is_paid"),
    [
        (Settings(), False),
        (Settings(agent_model=PAID, judge_model=PAID), True),
        (Settings(agents=(agent_for("architect", PAID),)), True),
        (offline(Settings(agent_model=PAID, agents=(agent_for("architect", PAID),))), False),
    ],
)
def test_only_paid_models_cost_money(settings: Settings, *, is_paid: bool) -> None:
    assert costs_money(settings) is is_paid
    assert ("openai/some-model" in models_in_words(settings)) is (settings.agent_model == PAID)


@pytest.mark.parametrize(
    ("address", "prices", "is_paid"),
    [
        ("http://127.0.0.1:9/v1", "", False),
        ("http://127.0.0.1:9/v1", "prices: {m: {input: 1, output: 2}}", True),
        ("https://api.example.com/v1", "", True),
    ],
)
async def test_servers_of_this_machine_are_free_unless_settings_price_them(
    address: str, prices: str, tmp_path: Path, *, is_paid: bool
) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text(f"servers: [{{name: own, base_url: '{address}', models: [m]}}]\n{prices}")
    environment = BotSettings(ollama_host="http://127.0.0.1:9")
    settings = (await load_settings(environment, file)).settings
    assert settings.agent_model.full_name == "own/m"
    assert costs_money(settings) is is_paid
