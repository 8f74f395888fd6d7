"""What `moot demo` shows: the real bot in the local Slack, as a newcomer meets it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.building import build_calls
from bot.demo import CHANNEL, USER, Demo, Stage
from bot.settings import BotSettings
from core.settings import Settings


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    environment = BotSettings(moot_database=str(tmp_path / "another.db"))
    settings = Settings(rounds=1)
    calls = build_calls(environment, settings)
    demo = Demo(settings=settings, calls=calls, port=0, fast=True, environment=environment)
    async with demo.stage() as found:
        yield found


async def test_doctor_looks_at_the_demonstration_itself(stage: Stage):
    await stage.workspace.command(USER, CHANNEL, "/debate", "doctor")

    def told() -> str:
        return "\n".join(str(one["text"]) for one in stage.workspace.ephemeral(USER, CHANNEL))

    await stage.workspace.wait_for(lambda: "All is well" in told(), timeout=15)
    assert "accepted by Riverside" in told()
    assert "database moot.db" in told()
    assert "offline" in told()
    assert "✗" not in told()
