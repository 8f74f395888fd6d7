"""A team whose bot has scripted models, and Slack while the bot is away."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.testing import PATIENT_PACE, BotSpec, Team, quick_workspace, team_at_work
from core.testing import ScriptedProvider
from slack_on_loopback import Workspace, run_workspace


@pytest.fixture
def models() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
async def team(models: ScriptedProvider) -> AsyncGenerator[Team]:
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        yield team


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    """A workspace that never delivers an event again, as Slack after five minutes."""
    config = replace(quick_workspace(), pace=replace(PATIENT_PACE, redelivery_delays=()))
    async with run_workspace(config) as workspace:
        yield workspace
