"""The browser, and the local Slack's page in it, at the channel of a module's own `team`."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from bot.testing import Team
from tests.chromium import CHROMIUM, HOW_TO_INSTALL

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    assert CHROMIUM, HOW_TO_INSTALL
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, team: Team) -> AsyncIterator[Page]:
    """The page in its own window; an error of the page fails the test."""
    context = await browser.new_context(viewport={"width": 1360, "height": 900})
    opened = await context.new_page()
    broken: list[str] = []
    opened.on("pageerror", lambda error: broken.append(str(error)))
    channel = team.workspace.channel(team.channel).id
    await opened.goto(f"{team.workspace.url}#/{channel}")
    await opened.locator(".sidebar-top").wait_for(state="attached")
    yield opened
    await context.close()
    assert broken == []
