"""One drill: a fault during a debate, while people type, and the recovery after it."""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx2

from bot.building import database_url
from bot.slack.ids import ActionId
from core.errors import StoreError
from slack_on_loopback import Workspace
from tests.faults.machine import Machine
from tests.faults.site import CHANNEL, CONFIG, PATIENCE, Site, at_work
from tests.faults.troubles import TROUBLES, Impossible, Trouble, make_older
from tests.postgres import PostgresForTests

FIRST, SECOND = "Kafka or PostgreSQL as our job queue?", "Rust or Go for the importer?"
NOTE = "We are only two people."
#: A debate asks three agents and the shadow at once.
AT_ONCE = 4
#: Seconds without a change after which nothing more is expected.
_QUIET = 3.0
#: Limits in seconds: of a clean stop, and of Slack's wait for an answer.
_STOP_SECONDS, _SLACK_WAITS = 10.0, 3.0


async def drill(
    name: str,
    folder: Path,
    *,
    seconds: float,
    ending: bool = False,
    postgres: PostgresForTests | None = None,
) -> list[str]:
    """Run one drill; return the errors.

    Args:
        name: The trouble.
        folder: An empty folder for all files.
        seconds: How long the trouble lasts.
        ending: Whether the process gets SIGTERM during the trouble and is started again.
        postgres: Needed by troubles of PostgreSQL.

    Raises:
        Impossible: This machine does not allow it.
    """
    trouble, wrong = TROUBLES[name], list[str]()
    seconds = max(seconds, trouble.least)
    async with _site_for(trouble, folder, seconds, postgres) as site:
        await site.ask(FIRST)
        # After the first calls are answered, an outcome is recorded and the next call begins.
        await site.until(lambda: site.models.calls > AT_ONCE)
        async with trouble.hurt(site):
            answer = await _during(site, trouble, seconds, wrong)
            stops = [await site.machine.stop()] if ending else []
        if site.machine.process is None:
            await site.machine.start()
        await asyncio.gather(_after(site, trouble, answer, wrong), _heard(site))
        stops.append(await site.machine.stop())
        await site.stop()
        code, took = stops[0]
        if code or took > _STOP_SECONDS * _busy():
            wrong.append(f"SIGTERM: code {code} after {took:.1f} s")
        await _reckon(site, trouble, wrong)
    return wrong


@asynccontextmanager
async def _site_for(
    trouble: Trouble, folder: Path, seconds: float, postgres: PostgresForTests | None
) -> AsyncGenerator[Site]:
    async def prepare(machine: Machine) -> None:
        if trouble.small_disk and not await machine.make_small_disk():
            raise Impossible("no disk of its own can be mounted here")
        if trouble.own_clock and not await machine.make_clock():
            raise Impossible("there is no C compiler for a clock of its own")
        if trouble.older:
            await make_older(machine)

    # Slack's delays of 0, 60 and 300 seconds, shortened like the faults.
    delays = (0.0, 1.2 * seconds, 2.0 * seconds)
    pace = replace(CONFIG.pace, ack_seconds=3.0, redelivery_delays=delays)
    server = postgres if trouble.on_postgres else None
    async with at_work(
        folder,
        database_url(server.fresh_database()) if server else "",
        config=replace(CONFIG, pace=pace),
        wait=trouble.model_seconds,
        prepare=prepare,
        turn_seconds=trouble.turn_seconds,
    ) as site:
        site.server = server
        for _ in range(trouble.replicas - 1):
            await site.join()
        yield site


async def _during(site: Site, trouble: Trouble, seconds: float, wrong: list[str]) -> str:
    """Type and check until the trouble has lasted long enough; return the reply to a person."""
    ends = time.monotonic() + seconds
    if site.machine.process:
        await asyncio.sleep(0.3)
    position = len(site.machine.log)
    await site.workspace.say("alex", CHANNEL, NOTE, site.boards()[0])
    asking = asyncio.create_task(site.typed(SECOND, "sam"))
    knocking = asyncio.create_task(_longest_wait(site.machine, ends)) if trouble.answers else None
    if trouble.health:
        health = ""
        while time.monotonic() < ends + 15 and not health:
            health = _what_is_down(await site.machine.health())
            await asyncio.sleep(0.2)
        if not re.search(trouble.health, health):
            wrong.append(f"/health said: {health or 'all is well'}")
    if trouble.doctor:
        output = (await site.machine.moot("doctor")).text
        findings = ", ".join(re.findall(r"^✗ (.*)$", output, re.MULTILINE))
        if not re.search(trouble.doctor, findings):
            wrong.append(f"doctor said: {output}")
    await asyncio.sleep(max(0.0, ends - time.monotonic()))

    async def log() -> str:
        return site.machine.log[position:]

    wrong += await _untold(trouble.figure, site.machine.figures)
    if trouble.ends:
        wrong += await _untold(trouble.log, log)
    if knocking and (wait := await knocking) > _SLACK_WAITS * _busy():
        wrong.append(f"everybody was held up for {wait:.1f} s")
    return await asking


async def _untold(pattern: str, read: Callable[[], Awaitable[str]]) -> list[str]:
    """Wait until a pattern is in a text; return an error if it is not."""
    with suppress(TimeoutError):
        async with asyncio.timeout(40):
            while not re.search(pattern, await read()):  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.2)
            return []
    return [f"nothing told {pattern!r}"]


async def _longest_wait(machine: Machine, ends: float) -> float:
    """The longest answer time of Moot's HTTP server, in seconds, until a time."""
    longest = 0.0
    async with httpx2.AsyncClient(timeout=120) as client:
        while (began := time.monotonic()) < ends:
            await client.get(f"{machine.url}/ready")
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.02)
    return longest


async def _after(site: Site, trouble: Trouble, answer: str, wrong: list[str]) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while _what_is_down(await site.machine.health()):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            if trouble.holds:
                board = await site.until(lambda: _held(site))
                await site.workspace.click("dana", CHANNEL, board, ActionId.RESUME.value)
            if "Nobody" in answer or "again" in answer:
                await site.ask(SECOND, "sam")
            await site.decided(1 if trouble.forgets else 2)
            await site.at_rest(1 if trouble.forgets else 2)
            await asyncio.sleep(_QUIET + site.models.wait)
    except TimeoutError:
        wrong.append(f"not well after {PATIENCE:.0f} s: {site.machine.log[-1500:]}")


async def _heard(site: Site) -> None:
    """Wait until a note written during the trouble is recorded, or its author gets an error.

    Moot promises to read it again as soon as it can; `_reckon` says if it did not.
    """
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and not _is_told_of_end(site.workspace):
        with suppress(StoreError):  # a copy that was made while somebody wrote
            if any(debate.notes for debate in await site.debates()):
                break
        await asyncio.sleep(0.5)


async def _reckon(site: Site, trouble: Trouble, wrong: list[str]) -> None:
    audit, waiting = await site.look()
    faults = dict(audit.faults)
    if trouble.forgets:  # posts about the hold and the resumption are below an earlier verdict
        faults.pop("displaced", None)
    wrong += [f"{count} {name}" for name, count in faults.items()]
    if not re.search(trouble.log, site.machine.log):
        wrong.append(f"no log line {trouble.log!r}")
    threads = [site.workspace.thread(CHANNEL, board) for board in site.boards()]
    if not re.search(trouble.shown, str(threads)):
        wrong.append(f"people were not shown {trouble.shown!r}")
    if waiting:
        wrong.append(f"{waiting} posts were never sent")
    debates = await site.debates()
    notes = [note.text for debate in debates for note in debate.notes]
    # Recorded once; or the debate ended before, and its author got a message.
    if notes != [NOTE] and (notes or not _is_told_of_end(site.workspace)):
        wrong.append(f"notes: {notes}")
    questions = [debate.setup.question for debate in debates if "1111" not in debate.setup.question]
    if trouble.repeats:
        questions = list(dict.fromkeys(questions))
    if sorted(questions) != ([FIRST] if trouble.forgets else [FIRST, SECOND]):
        wrong.append(f"debates: {questions}")


def _busy() -> float:
    """The load of the machine per core: the factor for all times."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _is_told_of_end(workspace: Workspace) -> bool:
    return "ended" in " ".join(str(entry["text"]) for entry in workspace.ephemeral("alex", CHANNEL))


def _what_is_down(health: Mapping[str, object]) -> str:
    if not health:
        return "nobody answers"
    bad = {"database": "down", "slack": "down", "token": "refused"}
    return ", ".join(part for part, word in bad.items() if health.get(part) == word)


def _held(site: Site) -> str:
    boards = [
        board
        for board in site.boards()
        if ActionId.RESUME.value in str(site.workspace.thread(CHANNEL, board)[0])
    ]
    return boards[0] if boards else ""
