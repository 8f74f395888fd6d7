"""A debate's page in a browser: in the dark, on a phone, on paper, without script."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from pypdf import PdfReader

from bot.settings import PageSettings
from bot.testing import BotSpec, team_at_work
from tests.frame.files import LOCAL_SLACK_TESTS, ROOT
from tests.scenarios.test_evidence import CSV, QUESTION, quoting

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
AXE = (ROOT / LOCAL_SLACK_TESTS / "browser" / "axe.min.js").read_text("utf-8")
GRAVE = {"moderate", "serious", "critical"}


@dataclass(frozen=True)
class Addresses:
    page: str
    absent: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[Addresses]:
    """A debate with a file, true and false quotes, a vote and a verdict; and an unknown page."""
    base = "https://moot.example.com"
    spec = BotSpec(
        provider=quoting('[e1: "April,2500"]', '[e1: "April,9500"]'),
        pages=PageSettings(base=base, holds=timedelta(days=1)),
    )
    async with team_at_work(spec=spec) as team:
        share = team.workspace.share_file
        await share("dana", team.channel, "load.csv", CSV, text=f"@Moot {QUESTION}")
        board = await team.new_board()
        await team.wait_for_end(board)
        await team.type(f"export {team.debate_id(board)} page")
        address = team.ephemeral_texts()[-1].partition(f"<{base}")[2].partition(">")[0]
        at = team.moot.http.address
        yield Addresses(page=f"{at}{address}", absent=f"{at}{address}0")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_axe_finds_nothing_that_is_moderate_or_worse(
    browser: Browser, served: Addresses, *, phone: bool, dark: bool
) -> None:
    context = await browser.new_context(
        viewport={"width": 360, "height": 740} if phone else {"width": 1280, "height": 900},
        is_mobile=phone,
        has_touch=phone,
        color_scheme="dark" if dark else "light",
    )
    page = await context.new_page()
    complaints = list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    await page.goto(served.page)
    # The page's policy refuses nothing, and nothing is wider than the screen.
    assert complaints == []
    width = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0
    await page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for address in (served.page, served.absent):
        if page.url != address:
            await page.goto(address)
        await page.evaluate(AXE)
        report = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        grave = [
            f"{violation['impact']} {violation['id']} {node['target']}"
            for violation in report["violations"]
            if violation["impact"] in GRAVE
            for node in violation["nodes"]
        ]
        assert grave == []
    await context.close()


async def test_on_paper_is_everything(browser: Browser, served: Addresses) -> None:
    page = await browser.new_page()
    await page.goto(served.page)
    reader = PdfReader(BytesIO(await page.pdf(format="A4")))
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    await page.close()
    assert "April,9500" in text
    assert "Skip to the decision" not in text


async def test_a_quote_leads_to_its_source_with_the_keyboard_alone(
    browser: Browser, served: Addresses
) -> None:
    page = await browser.new_page(java_script_enabled=False)
    await page.goto(served.page)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**#decision")
    await page.locator("#rounds a[href='#e1']").first.press("Enter")
    await page.wait_for_url("**#e1")
    await page.close()
