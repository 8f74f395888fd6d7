"""One drill: a debate begins, something goes wrong, people go on typing, and all gets well."""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2

from bot.building import database_url
from bot.slack.ids import ActionId
from core.errors import StoreError
from slack_on_loopback import Workspace
from tests.faults.audit import Audit
from tests.faults.machine import Machine
from tests.faults.site import CHANNEL, CONFIG, PATIENCE, Site, at_work
from tests.faults.troubles import TROUBLES, Impossible, Trouble, make_older
from tests.postgres import PostgresForTests

FIRST, SECOND = "Kafka or PostgreSQL as our job queue?", "Rust or Go for the importer?"
NOTE = "We are only two people."
#: A debate asks three agents and the shadow at once.
AT_ONCE = 4
#: Seconds in which nothing more comes, if nothing does.
_QUIET = 3.0
#: A clean stop may take so long, and Slack waits so long for an answer.
_STOP_SECONDS, _SLACK_WAITS = 10.0, 3.0


@dataclass(kw_only=True)
class DrillOutcome:
    """What came of a drill."""

    what: str
    #: Seconds that the fault lasted.
    lasted: float = 0.0
    #: What the person was told who typed a command meanwhile.
    answer: str = ""
    #: The part that /health says is down, and seconds until it did.
    health: str = ""
    noticed: float = 0.0
    #: Seconds until the health page was right again, until what somebody wrote meanwhile was taken,
    #: and until everything was decided.
    well_after: float = 0.0
    noted_after: float = 0.0
    done_after: float = 0.0
    stop: tuple[int, float] = (0, 0.0)
    audit: Audit | None = None
    #: What should have told of it and did not, and everything else that is wrong.
    wrong: list[str] = field(default_factory=list[str])


async def drill(
    name: str,
    folder: Path,
    *,
    seconds: float,
    ending: bool = False,
    postgres: PostgresForTests | None = None,
) -> DrillOutcome:
    trouble = TROUBLES[name]
    seconds = max(seconds, trouble.least)
    outcome = DrillOutcome(what=trouble.what + (", SIGTERM" if ending else ""))
    async with _site_for(trouble, folder, seconds, postgres) as site:
        await site.ask(FIRST)
        # All that is asked at once is answered: something is recorded, and the next is asked.
        await site.until(lambda: site.models.calls > AT_ONCE)
        began = time.monotonic()
        async with trouble.hurt(site):
            await _during(site, trouble, outcome, seconds)
            if ending:
                outcome.stop = await site.machine.stop()
            outcome.lasted = time.monotonic() - began
        mended = time.monotonic()
        if site.machine.process is None:
            await site.machine.start()
        await asyncio.gather(_after(site, trouble, outcome, mended), _heard(site, outcome, mended))
        stopped = await site.machine.stop()
        await site.stop()
        outcome.stop = outcome.stop if ending else stopped
        if outcome.stop[0] or outcome.stop[1] > _STOP_SECONDS * _busy():
            outcome.wrong.append(f"SIGTERM: code {outcome.stop[0]} after {outcome.stop[1]:.1f} s")
        await _reckon(site, trouble, outcome)
    return outcome


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

    # Slack's own 0, 60 and 300 seconds, shortened like the faults.
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


async def _during(site: Site, trouble: Trouble, outcome: DrillOutcome, seconds: float) -> None:
    ends = time.monotonic() + seconds
    if site.machine.process:
        await asyncio.sleep(0.3)
    began, position = time.monotonic(), len(site.machine.log)
    await site.workspace.say("alex", CHANNEL, NOTE, site.boards()[0])
    asking = asyncio.create_task(site.typed(SECOND, "sam"))
    knocking = asyncio.create_task(_longest_wait(site.machine, ends)) if trouble.answers else None
    if trouble.health:
        while time.monotonic() < ends + 15 and not outcome.health:
            outcome.health = _what_is_down(await site.machine.health())
            outcome.noticed = time.monotonic() - began
            await asyncio.sleep(0.2)
        if not re.search(trouble.health, outcome.health):
            outcome.wrong.append(f"/health said: {outcome.health or 'all is well'}")
    if trouble.doctor:
        output = (await site.machine.moot("doctor")).text
        findings = ", ".join(re.findall(r"^✗ (.*)$", output, re.MULTILINE))
        if not re.search(trouble.doctor, findings):
            outcome.wrong.append(f"doctor said: {output}")
    await asyncio.sleep(max(0.0, ends - time.monotonic()))
    await _shown(trouble.figure, site.machine.figures, outcome)
    if trouble.ends:
        await _shown(trouble.log, lambda: _text(site.machine.log[position:]), outcome)
    if knocking and (wait := await knocking) > _SLACK_WAITS * _busy():
        outcome.wrong.append(f"everybody was held up for {wait:.1f} s")
    outcome.answer = await asking


async def _text(text: str) -> str:
    return text


async def _shown(pattern: str, read: Callable[[], Awaitable[str]], outcome: DrillOutcome) -> None:
    """Wait until a pattern is in a text; an empty one is."""
    try:
        async with asyncio.timeout(40):
            while not re.search(pattern, await read()):  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.2)
    except TimeoutError:
        outcome.wrong.append(f"nothing told {pattern!r}")


async def _longest_wait(machine: Machine, ends: float) -> float:
    """Seconds that Moot's own server let somebody wait at most until some time."""
    longest = 0.0
    async with httpx2.AsyncClient(timeout=120) as client:
        while (began := time.monotonic()) < ends:
            await client.get(f"{machine.url}/ready")
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.02)
    return longest


async def _after(site: Site, trouble: Trouble, outcome: DrillOutcome, mended: float) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while _what_is_down(await site.machine.health()):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            outcome.well_after = time.monotonic() - mended
            if trouble.holds:
                board = await site.until(lambda: _held(site))
                await site.workspace.click("dana", CHANNEL, board, ActionId.RESUME.value)
            if "Nobody" in outcome.answer or "again" in outcome.answer:
                await site.ask(SECOND, "sam")
            await site.decided(1 if trouble.forgets else 2)
            await site.at_rest(1 if trouble.forgets else 2)
            outcome.done_after = time.monotonic() - mended
            await asyncio.sleep(_QUIET + site.models.wait)
    except TimeoutError:
        outcome.wrong.append(f"not well after {PATIENCE:.0f} s: {site.machine.log[-1500:]}")


async def _heard(site: Site, outcome: DrillOutcome, mended: float) -> None:
    """Wait until what somebody wrote meanwhile is in a log, or its author is told it is too late.

    Moot promises to read it again as soon as it can; `_reckon` says if it did not.
    """
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and not _is_told_of_end(site.workspace):
        with suppress(StoreError):  # a copy that was made while somebody wrote
            if any(debate.notes for debate in await site.debates()):
                break
        await asyncio.sleep(0.5)
    outcome.noted_after = time.monotonic() - mended


async def _reckon(site: Site, trouble: Trouble, outcome: DrillOutcome) -> None:
    outcome.audit, waiting = await site.look()
    faults = dict(outcome.audit.faults)
    if trouble.forgets:  # that it was held and resumed stands below a verdict that was there before
        faults.pop("displaced", None)
    outcome.wrong += [f"{count} {name}" for name, count in faults.items()]
    if not re.search(trouble.log, site.machine.log):
        outcome.wrong.append(f"no log line {trouble.log!r}")
    threads = [site.workspace.thread(CHANNEL, board) for board in site.boards()]
    if not re.search(trouble.shown, str(threads)):
        outcome.wrong.append(f"people were not shown {trouble.shown!r}")
    if waiting:
        outcome.wrong.append(f"{waiting} posts were never sent")
    debates = await site.debates()
    notes = [note.text for debate in debates for note in debate.notes]
    # Recorded once; or the debate ended before anybody could hear it, and its author is told.
    if notes != [NOTE] and (notes or not _is_told_of_end(site.workspace)):
        outcome.wrong.append(f"notes: {notes}")
    questions = [debate.setup.question for debate in debates if "1111" not in debate.setup.question]
    if trouble.repeats:
        questions = list(dict.fromkeys(questions))
    if sorted(questions) != ([FIRST] if trouble.forgets else [FIRST, SECOND]):
        outcome.wrong.append(f"debates: {questions}")


def _busy() -> float:
    """On a machine with more to do than it has cores, everything takes so many times as long."""
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
