"""kill -9 in the middle of a debate: it goes on by itself, nothing lost, doubled or displaced."""

import asyncio
import json
import os
import re
import signal
import sqlite3
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.testing import Message, key_of, quick_workspace, socket_access
from core.debate.evidence import Source
from core.debate.log import event_from_json, fold
from core.debate.state import Debate, Status
from core.debate.turn_events import SourceRead
from core.testing import log_of
from slack_on_loopback import Workspace, run_workspace
from tests.core.evidence.office import a_pdf

ROOT = Path(__file__).parents[2]
QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
CHANNEL = "architecture"
#: How the process ends when the thread has this many messages.
ENDS = ((1, signal.SIGKILL), (3, signal.SIGTERM), (5, signal.SIGKILL))
MARK = re.compile(r"mark-[0-9a-f]{16}")


class Household:
    """A workspace, and the bot process that lives and dies there."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace = workspace
        self.folder = folder
        self._process: Process | None = None

    async def begin_life(self, rounds: int = 2) -> None:
        access = json.dumps(asdict(socket_access(self.workspace)))
        program = Path(__file__).parent / "bot_process.py"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(program),
            access,
            str(self.folder),
            str(rounds),
            env={**os.environ, "PYTHONPATH": str(ROOT)},  # noqa: TID251 - for the child
            stderr=asyncio.subprocess.DEVNULL,
        )
        await self.workspace.wait_for(lambda: self.workspace.connected, timeout=300)

    async def end_life(self, how: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(how)
        code = await asyncio.wait_for(self._process.wait(), 300)
        await self.workspace.wait_for(lambda: not self.workspace.connected)
        return code

    def thread(self) -> Sequence[dict[str, Any]]:
        boards = [
            message
            for message in self.workspace.messages(CHANNEL)
            if key_of(message).endswith("/board")
        ]
        return self.workspace.thread(CHANNEL, boards[0]["ts"]) if boards else []

    def calls(self) -> Sequence[str]:
        file = self.folder / "calls.txt"
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    def answered(self) -> set[str]:
        """Marks of the calls whose answers are in the log."""
        return set(MARK.findall(" ".join(self._bodies())))

    def debate(self) -> Debate:
        return fold(log_of([event_from_json(body) for body in self._bodies()]))

    def sources(self) -> Sequence[Source]:
        """What was read, each time it was."""
        if not (self.folder / "moot.db").exists():
            return []
        events = [event_from_json(body) for body in self._bodies()]
        return [event.source for event in events if isinstance(event, SourceRead)]

    def post_keys(self) -> Sequence[str]:
        with closing(sqlite3.connect(self.folder / "moot.db")) as database:
            rows = database.execute("SELECT key FROM queue WHERE method = 'post' ORDER BY id")
            return [str(row[0]) for row in rows]

    def _bodies(self) -> Sequence[str]:
        with closing(sqlite3.connect(self.folder / "moot.db")) as database:
            return [row[0] for row in database.execute("SELECT body FROM events ORDER BY seq")]


@pytest.fixture
async def household(tmp_path: Path) -> AsyncGenerator[Household]:
    async with run_workspace(quick_workspace()) as workspace:
        yield Household(workspace, tmp_path)


def reports(household: Household) -> Sequence[Message]:
    """The posts with the report: it comes after the decision."""
    return [message for message in household.thread() if message.get("files")]


@pytest.mark.slow
async def test_a_bot_killed_twice_and_stopped_once_finishes_its_debate(household: Household):
    await household.begin_life()
    await household.workspace.command("dana", CHANNEL, "/debate", QUESTION)
    deaths: list[tuple[set[str], int]] = []
    for messages, how in ENDS:
        await household.workspace.wait_for(
            lambda most=messages: len(household.thread()) >= most, timeout=300
        )
        assert await household.end_life(how) == (0 if how is signal.SIGTERM else -how)
        before = len(household.calls())
        deaths.append((household.answered(), before))
        await household.begin_life()
        await household.workspace.wait_for(
            lambda least=before: len(household.calls()) > least or decided(household), timeout=300
        )
    await household.workspace.wait_for(lambda: reports(household), timeout=300)
    await asyncio.sleep(0.5)
    assert await household.end_life(signal.SIGTERM) == 0
    for answered, before in deaths:
        assert not answered & set(household.calls()[before:])
    assert household.debate().status is Status.CONCLUDED
    posted = [key for message in household.thread() if (key := key_of(message))]
    assert posted == household.post_keys()
    assert len(set(posted)) == len(posted)
    assert len(reports(household)) == 1


@pytest.mark.slow
async def test_killed_while_a_file_is_read_it_reads_it_again_and_the_debate_has_it_once(
    household: Household,
):
    work = household.workspace
    lines = "\n".join(f"line {n} of many" for n in range(300))
    offer = a_pdf(["The managed offer costs $1,840 per month.", *[lines] * 200])
    root = await work.say("dana", CHANNEL, "Redis loses jobs.")
    await work.share_file("alex", CHANNEL, "offer.pdf", offer, thread_ts=root["ts"])
    await household.begin_life()
    await work.say("dana", CHANNEL, f"@Moot {QUESTION}", root["ts"])
    # The thread itself is read, and the process that reads the file is at it.
    await work.wait_for(household.sources, timeout=300)
    await household.end_life(signal.SIGKILL)
    before = household.sources()
    await household.begin_life()
    await work.wait_for(lambda: reports(household), timeout=300)
    assert await household.end_life(signal.SIGTERM) == 0

    assert [
        source.reference.title for source in before if source.reference.title == "offer.pdf"
    ] == []
    debate = household.debate()
    assert debate.status is Status.CONCLUDED
    titles = [source.reference.title for source in household.sources()]
    assert titles == ["the thread in which the debate was asked for", "offer.pdf"]
    assert "costs $1,840 per month" in debate.evidence[1].text
    posted = [key for message in household.thread() if (key := key_of(message))]
    assert len(set(posted)) == len(posted)


def decided(household: Household) -> bool:
    return any(message.get("subtype") == "thread_broadcast" for message in household.thread())
