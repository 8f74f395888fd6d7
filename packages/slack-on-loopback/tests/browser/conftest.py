"""Fixtures: a browser, a sample workspace, and a function that opens its page."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright

from slack_on_loopback.workspace import run_workspace
from tests.bots import Recorder, bolt_app, on_socket, slack_client
from tests.browser.sample import CONFIG, Sample
from tests.chromium import CHROMIUM

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP: ViewportSize = {"width": 1360, "height": 860}
PHONE: ViewportSize = {"width": 360, "height": 740}
Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def sample() -> AsyncIterator[Sample]:
    async with run_workspace(CONFIG) as ws:
        filled = Sample(ws, slack_client(ws.bot_token, base_url=ws.api_url))
        await filled.fill()
        yield filled


@pytest_asyncio.fixture(loop_scope="module")
async def bot(sample: Sample) -> AsyncIterator[Recorder]:
    """The connected app, which records payloads."""
    recorder = Recorder(bolt_app(sample.ws, sample.client))
    async with on_socket(sample.ws, recorder.app):
        yield recorder


@pytest_asyncio.fixture(loop_scope="module")
async def open_page(browser: Browser, sample: Sample) -> AsyncIterator[Open]:
    """Opens the page at an address; the test fails on any error the page throws."""
    contexts: list[BrowserContext] = []
    broken: list[str] = []

    async def start(address: str = "", *, phone: bool = False, dark: bool = False) -> Page:
        context = await browser.new_context(
            viewport=PHONE if phone else DESKTOP,
            has_touch=phone,
            is_mobile=phone,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: broken.append(str(error)))
        await page.goto(f"{sample.ws.url}{address}")
        await page.locator(".sidebar-top").wait_for(state="attached")
        # A page misses events sent before it listens.
        await sample.ws.wait_for(lambda: len(sample.ws.runtime.feed.viewers) == len(contexts))
        return page

    yield start
    for context in contexts:
        await context.close()
    assert broken == []


@pytest_asyncio.fixture(loop_scope="module")
async def page(open_page: Open, sample: Sample) -> Page:
    """The page at #general."""
    return await open_page(sample.address())
