"""Takes the documents' pictures: a written example in the local workspace, and a terminal.

`python tools/pictures.py` writes them into docs/pictures; another folder may be named. It needs
Chromium and a font with emoji (on Debian: `apt-get install chromium fonts-noto-color-emoji`), no
key and no network. What is said is always the
same; times and ids differ.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.async_api import Browser, Locator, Page, async_playwright, expect
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from bot.debate_page.page import STYLE, page
from bot.demo import CHANNEL, Demo, Stage, with_questions
from bot.settings import BotSettings
from bot.terminal.options import DemoOptions
from core.clock import SystemClock
from core.config.playbooks import built_in
from core.debate.log import fold
from core.llm.call import ModelCalls
from core.llm.providers.example import ExampleProvider, examples
from core.llm.providers.offline import OfflineProvider
from core.ports import DebateFilter
from core.settings import Settings

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
#: The written example in the pictures.
EXAMPLE = "nightly-export"
WRITTEN = examples()[EXAMPLE]
SHORT_QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."
ANSWER = WRITTEN.answers[0]["answer"]
NOTE = "The report at 7:00 reads the export, too."
REASON = "Two people can build and check it in the time there is."
#: Words a second: slow enough for a picture of a running debate.
PACE = 40.0
#: Milliseconds that a part of the debate may take to appear.
PATIENCE = 90_000
DESKTOP = (1120, 800)
#: Wide enough for a decision with its thread beside it.
BOTH = (1400, 760)
PHONE = (390, 844)
#: High enough for all of a decision's post.
WHOLE_DECISION = 1460
#: Colours of a saved picture.
COLOURS = 64
#: Characters in a line of the terminal's picture.
COLUMNS = 96
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class Camera:
    """A page of the workspace, and the folder its pictures go to."""

    page: Page
    folder: Path

    async def take(self, name: str, of: Locator | None = None) -> None:
        """Save what the window shows, or one part of it."""
        path = self.folder / f"{name}.png"
        await self.page.mouse.move(0, 0)
        if of is None:
            await self.page.screenshot(path=path, animations="disabled", caret="hide")
        else:
            await of.screenshot(path=path, animations="disabled", caret="hide")
        # A page has few colours; with all of them a picture is three times as large.
        with Image.open(path) as shot:
            few = shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1024} KB\n")

    @property
    def main(self) -> Locator:
        """The channel."""
        return self.page.locator("#main")

    @property
    def thread(self) -> Locator:
        """The thread beside it."""
        return self.page.locator("#thread")

    @property
    def form(self) -> Locator:
        """The form on top."""
        return self.page.get_by_role("dialog")

    async def see(self, place: Locator, words: str) -> None:
        """Wait until the words are there."""
        await expect(place).to_contain_text(words, timeout=PATIENCE)

    async def reply(self, words: str) -> None:
        """Write in the thread."""
        area = self.thread.locator("textarea")
        await area.fill(words)
        await area.press("Enter")


async def start_form(camera: Camera) -> None:
    """`/debate` alone, and its form filled in."""
    area = camera.page.get_by_label(f"Message #{CHANNEL}")
    await area.fill("/debate")
    await area.press("Enter")
    await camera.see(camera.form, "Estimated:")
    await camera.form.get_by_label("Question", exact=True).fill(WRITTEN.question)
    await camera.take("start-form")
    await camera.form.get_by_label("Close", exact=True).click()


async def questions(camera: Camera) -> None:
    """The agents' questions in the thread, one of them answered."""
    board = camera.main.locator(".row", has_text="Asked by").last
    await expect(board).to_be_visible(timeout=PATIENCE)
    await board.get_by_role("link", name=re.compile("repl")).first.click(timeout=PATIENCE)
    await camera.see(camera.thread, "questions from the agents")
    await camera.reply(f"1: {ANSWER}")
    await camera.see(camera.thread.locator(".row", has_text=f"1: {ANSWER}").last, "✅")
    await show(camera.thread.locator(".row", has_text="from the agents").last)
    await camera.take("questions", camera.thread)
    await camera.reply(f"2: {WRITTEN.answers[1]['answer']}")


async def turns(camera: Camera) -> None:
    """The board at work, and an agent's round in the thread with a person's note."""
    await camera.see(camera.main, "critiques")
    await camera.reply(NOTE)
    await camera.see(camera.thread.locator(".row", has_text=NOTE).first, "👀")
    await close_thread(camera)
    board = camera.main.locator(".row", has_text="Asked by").last
    await show(board, "end")
    await camera.take("board")
    await board.get_by_role("link", name=re.compile("repl")).first.click()
    row = camera.thread.locator(".row", has_text="disk has next to nothing").first
    await expect(row).to_be_visible(timeout=PATIENCE)
    await show(row, "end")
    await camera.take("thread", camera.thread)
    await close_thread(camera)


async def show(row: Locator, edge: str = "start") -> None:
    """Bring the top, or the end, of a message into view; nothing has the focus."""
    await row.evaluate("(row, edge) => row.scrollIntoView({block: edge})", edge)
    await row.page.evaluate("document.activeElement.blur()")


async def close_thread(camera: Camera) -> None:
    """Show the channel alone."""
    await camera.thread.get_by_role("link", name=re.compile("Close")).click()
    await expect(camera.thread).to_be_hidden()


async def ending(camera: Camera) -> None:
    """The decision in the channel, the vote in the thread, the team's decision."""
    decision = camera.main.locator(".row", has_text="What would overturn it").last
    await expect(decision).to_be_visible(timeout=PATIENCE)
    await camera.see(camera.main, "The agents' verdict")
    await camera.page.set_viewport_size({"width": DESKTOP[0], "height": WHOLE_DECISION})
    await show(decision, "end")
    await camera.take("decision")
    await camera.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    board = camera.main.locator(".row", has_text="Asked by").last
    await board.get_by_role("link", name=re.compile("repl")).first.click()
    vote = camera.thread.locator(".row", has_text="Held best by").last
    await expect(vote).to_be_visible(timeout=PATIENCE)
    await show(vote.get_by_text("The vote", exact=True).first)
    await camera.take("vote", camera.thread)
    await camera.page.set_viewport_size({"width": BOTH[0], "height": BOTH[1]})
    await show(decision)
    await show(vote.get_by_text("The vote", exact=True).first)
    await camera.take("decided")
    await camera.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    await close_thread(camera)
    await camera.main.get_by_role("button", name="Accept this verdict").first.click()
    await camera.form.get_by_label(re.compile("Why")).fill(REASON)
    await camera.form.get_by_role("button", name="Accept", exact=True).click()
    await camera.see(camera.main, "Accepted")


async def home(camera: Camera) -> None:
    """The app's Home."""
    await camera.page.get_by_role("link", name=re.compile("Moot")).first.click()
    await camera.see(camera.main, "accepted")
    await camera.take("home")


async def shared_page(browser: Browser, stage: Stage, folder: Path) -> None:
    """The debate's page behind its link."""
    store = stage.moot.store
    (newest,) = await store.find(DebateFilter(limit=1))
    debate = fold(await store.events(newest.debate_id))
    with TemporaryDirectory() as place:
        path = Path(place) / "page.html"
        path.write_text(page(debate, debate.now + timedelta(days=14)), encoding="utf-8")
        path.with_name("page.css").write_text(STYLE, encoding="utf-8")
        tab = await browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
        await tab.goto(path.as_uri())
        await Camera(tab, folder).take("page")
        await tab.close()


@asynccontextmanager
async def open_channel(
    browser: Browser, stage: Stage, folder: Path, size: Sequence[int]
) -> AsyncGenerator[Camera]:
    """The channel in a window of this size; an error of the page is raised."""
    width, height = size
    phone = width < 600  # noqa: PLR2004 - no phone is wider
    context = await browser.new_context(
        viewport={"width": width, "height": height}, has_touch=phone, is_mobile=phone
    )
    page = await context.new_page()
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    await page.goto(stage.address)
    await page.locator(".sidebar-top").wait_for(state="attached")
    yield Camera(page, folder)
    await context.close()
    if broken:
        raise RuntimeError(f"The page threw: {broken}")


def check_font() -> None:
    """Refuse to take pictures with a box for each emoji."""
    listed = ["fc-list", ":lang=und-zsye", "family"]
    result = subprocess.run(listed, stdout=subprocess.PIPE, check=False)  # noqa: S603 - no words of others
    if not result.stdout.strip():
        sys.exit(
            "No font with emoji is installed. On Debian: apt-get install fonts-noto-color-emoji"
        )


async def workspace_pictures(folder: Path) -> None:
    """Hold a debate in the local workspace and take its pictures."""
    clock = SystemClock()
    providers = {"offline": OfflineProvider(), "example": ExampleProvider(clock, PACE)}
    settings = with_questions(Settings(rounds=1, playbooks=built_in()))
    calls = ModelCalls(providers, clock)
    options = DemoOptions(port=0, fast=True)
    demo = Demo(settings=settings, calls=calls, options=options, environment=BotSettings())
    async with demo.stage() as stage, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )
        async with open_channel(browser, stage, folder, DESKTOP) as camera:
            await start_form(camera)
            await stage.player(0.0).begin(EXAMPLE)
            for scene in (questions, turns, ending, home):
                await scene(camera)
        async with open_channel(browser, stage, folder, PHONE) as camera:
            await camera.see(camera.main, "Accepted")
            await show(camera.main.locator(".row", has_text="What would overturn it").last)
            await camera.take("phone")
        await shared_page(browser, stage, folder)
        await browser.close()


def terminal_picture(folder: Path) -> None:
    """Record `moot debate` in a terminal."""
    moot = Path(sys.executable).with_name("moot")
    words = ["debate", SHORT_QUESTION, "--rounds", "1"]
    with TemporaryDirectory() as place:
        output = subprocess.run(  # noqa: S603 - our own program
            [str(moot), *words],
            cwd=place,
            env={"PYTHONPATH": str(ROOT), "MOOT_DATABASE": "moot.db", "COLUMNS": str(COLUMNS)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
            text=True,
        ).stdout
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere)
        console.print(Text(f'$ moot debate "{SHORT_QUESTION}" --rounds 1', style="bold"))
        console.print(Text(shortened(output)))
        console.save_svg(
            str(folder / "terminal.svg"),
            title="moot debate",
            theme=DIMMED_MONOKAI,
            code_format=re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL),
        )


def shortened(output: str) -> str:
    """Return the output without the sections between the reasoning and the last lines."""
    reasoning, _, rest = output.partition("\n# Implementation")
    last = rest.strip().splitlines()[-2:]
    return "\n".join([reasoning, "[…]", "", *last])


def main() -> None:
    """Take all pictures."""
    check_font()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    terminal_picture(folder)
    asyncio.run(workspace_pictures(folder))


if __name__ == "__main__":
    main()
