"""Evidence in the terminal: a folder and files as sources, a real process, a real SDK, kill -9."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.testing import a_verdict_reply
from tests.core.evidence.office import a_word_file
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

ROOT = Path(__file__).parents[2]
MOOT = (sys.executable, "-c", "from bot.cli import main; main()")
QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."
TRUE, FAKE = '[e2: "costs $1,840 per month"]', '[e2: "costs $1,480 per month"]'


def quoting(request: VendorRequest) -> Say:
    """A model that quotes truly and falsely wherever it speaks."""
    reply = good_reply(request)
    if '"solution"' in reply.text:
        reasons = [f"It is {TRUE}.", f"It is {FAKE}.", "The team likes it."]
        return Say(text=json.dumps(a_verdict_reply(reasons=reasons)))
    if reply.text.startswith("{"):
        return reply
    return Say(text=f"{reply.text}\n\nIt {TRUE} and {FAKE}.")


class Terminal:
    """Runs `moot` in a folder of its own with a model on the loopback."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
        self._environment = {
            **base,
            "PYTHONPATH": str(ROOT),
            "MOOT_DATABASE": "moot.db",
            "OPENAI_API_KEY": "sk-proj-ACCEPTED1111",
            "OPENAI_BASE_URL": f"{url}/v1",
        }

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *MOOT,
            *words,
            cwd=self.folder,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, *words: str) -> tuple[int | None, str, str]:
        process = await self.start(*words)
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def a_terminal(folder: Path) -> AsyncGenerator[Terminal]:
    async with Vendor(quoting) as vendor:
        yield Terminal(folder, vendor.url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "load.md").write_text("# Load\n\nThe queue took 2,000 jobs/s.\n", encoding="utf-8")
    (notes / "deep" / "offer.docx").write_bytes(a_word_file())
    (notes / ".hidden.md").write_text("not me", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return tmp_path


@pytest.mark.slow
async def test_a_folder_and_files_are_sources_and_the_verdict_leads_to_their_places(
    folder: Path,
) -> None:
    async with a_terminal(folder) as terminal:
        code, out, err = await terminal.run(
            *("debate", QUESTION, "--source", "notes", "--source", "picture.png"),
            *("-r", "1", "--agents", "architect,security", "--report", "report.md"),
        )
    assert code == 0, err
    assert "e1: load.md, 36 characters" in err
    assert "picture.png: could not be read: it is a picture" in err
    assert ".hidden" not in err
    assert "“costs $1,840 per month” (e2, section “Cost”)" in out
    assert "~~“costs $1,480 per month”~~ (not found in e2)" in out
    assert "(no source quoted)" in out
    assert "Only quotes were checked" in out
    assert "| verified |" not in out
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "## Sources" in report
    assert "deep/offer.docx" in report


async def test_what_is_not_there_is_refused_before_anything_is_asked(folder: Path) -> None:
    async with a_terminal(folder) as terminal:
        code, _, err = await terminal.run("debate", QUESTION, "--source", "gone.pdf")
    assert code == 2
    assert "There is no file or folder gone.pdf to take as a source." in err
