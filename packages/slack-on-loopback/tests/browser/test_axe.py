"""axe-core finds no violation on the page that is moderate or worse."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.conftest import Open
from tests.browser.sample import Sample

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

#: axe-core 4.14.1 as released, under the Mozilla Public License 2.0.
AXE = Path(__file__).with_name("axe.min.js")
GRAVE = {"moderate", "serious", "critical"}
PLACES = ("channels", "channel", "gallery", "thread", "home", "form")


async def violations(page: Page) -> list[str]:
    """Return the violations that axe-core finds, each with its element."""
    # Evaluated, not loaded as a script: the page's Content-Security-Policy allows none.
    await page.evaluate(AXE.read_text("utf-8"))
    report = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['impact']} {violation['id']} {node['target']} {node['html'][:160]}"
        for violation in report["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


# Contrast is of the colours, and what has no room is of the width: one of each with the other.
@pytest.mark.parametrize(
    ("phone", "dark"), [(False, False), (True, True)], ids=["desktop, light", "phone, dark"]
)
@pytest.mark.parametrize("place", PLACES)
async def test_axe_finds_nothing_that_is_moderate_or_worse(
    open_page: Open, sample: Sample, place: str, *, phone: bool, dark: bool
) -> None:
    addresses = {
        "channels": "",
        "gallery": sample.address("architecture"),
        "thread": sample.thread,
        "home": "#/home",
    }
    page = await open_page(addresses.get(place, sample.address()), phone=phone, dark=dark)
    await page.wait_for_load_state("networkidle")
    if place == "form":
        sample.open_form()
        await page.locator("dialog").wait_for()
    assert await violations(page) == []
