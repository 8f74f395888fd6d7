"""Pictures of what the browser shows while tests drive it, for a person to look at."""

from pathlib import Path

from playwright.async_api import Page

SHOTS = Path(__file__).parents[2] / "artefacts" / "screenshots"


async def shoot(page: Page, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SHOTS / f"{name}.png")
