"""A workspace per test, at test pace, with Slack's own client and framework to drive it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.rates import QUICK
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import Client, slack_client


@pytest.fixture
def config() -> WorkspaceConfig:
    return WorkspaceConfig(pace=QUICK)


@pytest.fixture
async def ws(config: WorkspaceConfig) -> AsyncIterator[Workspace]:
    async with run_workspace(config) as workspace:
        yield workspace


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def client(ws: Workspace, http: aiohttp.ClientSession) -> Client:
    """Slack's own client, without its silent second try."""
    return slack_client(ws.bot_token, base_url=ws.api_url, session=http, retry_handlers=[])
