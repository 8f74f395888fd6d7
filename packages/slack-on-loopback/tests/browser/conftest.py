"""A browser, the page's stand-in server, and a way to open the page."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright

from tests.browser.page_server import PageServer
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
Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[PageServer]:
    running = PageServer()
    await running.start()
    yield running
    await running.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def open_page(browser: Browser, server: PageServer) -> AsyncIterator[Open]:
    """Opens the page at an address; the test fails on any error the page throws."""
    contexts: list[BrowserContext] = []
    broken: list[str] = []

    async def start(
        address: str = "#/C1",
        size: ViewportSize = DESKTOP,
        *,
        phone: bool = False,
        dark: bool = False,
    ) -> Page:
        context = await browser.new_context(
            viewport={"width": 360, "height": 740} if phone else size,
            has_touch=phone,
            is_mobile=phone,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: broken.append(str(error)))
        await page.goto(f"{server.url}/{address}")
        await page.locator(".sidebar-top").wait_for(state="attached")
        await server.until_live()
        return page

    yield start
    for context in contexts:
        await context.close()
    assert broken == []
