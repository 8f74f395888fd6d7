"""A workspace per test, at test pace, with Slack's own client and framework to drive it."""

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import HealthCheck, settings

from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import PATIENT, Client, Recorder, bolt_app, on_socket, slack_client
from tests.chromium import CHROMIUM, HOW_TO_INSTALL

#: CI may leave nothing out.
IS_CI = os.environ.get("CI") == "true"  # noqa: TID251 - not a setting of a workspace

# A machine that stands still for a moment is no fault of an example's.
settings.register_profile("patient", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("patient")


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Leave out what needs Chromium where there is none; only CI insists on it."""
    if CHROMIUM or IS_CI:
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=HOW_TO_INSTALL))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was left out for want of Chromium."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if count := sum(HOW_TO_INSTALL in reason for reason in reasons):
        terminalreporter.write_line(f"{count} tests in a browser were left out. {HOW_TO_INSTALL}")


@pytest.fixture
def config(request: pytest.FixtureRequest) -> WorkspaceConfig:
    """What the test's workspace is started with: the keywords of its mark `workspace`."""
    mark = request.node.get_closest_marker("workspace")
    return replace(WorkspaceConfig(pace=PATIENT), **(mark.kwargs if mark else {}))


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


@pytest.fixture
async def bot(ws: Workspace, client: Client) -> AsyncIterator[Recorder]:
    recorder = Recorder(bolt_app(ws, client))
    async with on_socket(ws, recorder.app):
        yield recorder
