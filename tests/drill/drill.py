"""One drill: a debate begins, something goes wrong, people go on typing, and all gets well."""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.building import database_url
from bot.queue.rows import Posts
from bot.slack.ids import ActionId
from bot.slack.manifest import manifest
from bot.testing import key_of
from core.errors import StoreError
from core.events import fold
from core.models import Debate
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import QUICK, PersonRefusal, Workspace, WorkspaceConfig, run_workspace
from tests.chaos.audit import Audit, audit
from tests.drill.faults import TROUBLES, Impossible, Town, Trouble, deleted, restored
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.postgres import PostgresForTests
from tests.vendors.server import Vendor

CHANNEL, ELSEWHERE = "architecture", "general"
FIRST, SECOND = "Kafka or PostgreSQL as our job queue?", "Rust or Go for the importer?"
NOTE = "We are only two people."
#: Seconds that everything may take to get well, on a busy machine.
PATIENCE = 240.0
#: Seconds without a post, besides those of a model, after which nothing more is expected.
_QUIET = 3.0
#: A clean stop may take so long.
STOP_SECONDS = 10.0


@dataclass(kw_only=True)
class Seen:
    """What came of a drill."""

    name: str
    what: str
    #: Seconds that the fault lasted.
    lasted: float = 0.0
    #: What the person was told who typed a command meanwhile.
    told: str = ""
    #: The part that /health says is down, and seconds until it did.
    health: str = ""
    noticed: float = 0.0
    doctor: str = ""
    #: Seconds until the health page was right again, until what somebody wrote meanwhile was taken,
    #: and until everything was decided.
    well_after: float = 0.0
    noted_after: float = 0.0
    done_after: float = 0.0
    stop: tuple[int, float] = (0, 0.0)
    found: Audit | None = None
    #: Notes in the logs that people wrote once.
    notes: Sequence[str] = ()
    #: What should have told of it and did not, and everything else that is wrong.
    wrong: list[str] = field(default_factory=list[str])


@asynccontextmanager
async def town_for(
    trouble: Trouble, folder: Path, seconds: float, postgres: PostgresForTests | None
) -> AsyncGenerator[Town]:
    """A workspace, models and a machine on which Moot may run."""
    # Slack's own 0, 60 and 300 seconds, shortened like the faults.
    pace = replace(QUICK, redelivery_delays=(0.0, 1.2 * seconds, 2.0 * seconds))
    config = WorkspaceConfig(pace=pace, manifest=manifest())
    models = DrillModels(wait=trouble.model_seconds)
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(folder, workspace, vendor.url, turn_seconds=trouble.turn_seconds)
        try:
            if trouble.small_disk and not await machine.make_small_disk():
                raise Impossible("no disk of its own can be mounted here")
            if trouble.own_clock and not await machine.make_clock():
                raise Impossible("there is no C compiler for a clock of its own")
            if trouble.on_postgres:
                assert postgres is not None
                machine.database = database_url(postgres.fresh_database())
            yield Town(workspace, machine, models, seconds, postgres)
        finally:
            await machine.close()


async def drill(
    name: str,
    folder: Path,
    *,
    seconds: float,
    ending: bool = False,
    postgres: PostgresForTests | None = None,
) -> Seen:
    """Hold one drill.

    Args:
        name: Which trouble.
        folder: An empty one for everything that is written.
        seconds: How long the trouble lasts.
        ending: Whether SIGTERM comes in the middle of it, and a new process after it.
        postgres: Needed by those that are about it.

    Raises:
        Impossible: This machine does not allow it.
    """
    trouble = TROUBLES[name]
    seen = Seen(name=name, what=trouble.what + (", SIGTERM" if ending else ""))
    async with town_for(trouble, folder, seconds, postgres) as town:
        await town.machine.start()
        await _ask_until_heard(town.workspace, "dana", FIRST)
        await town.workspace.wait_for(lambda: len(_thread(town.workspace)) > 1, timeout=90)
        began = time.monotonic()
        async with trouble.hurt(town):
            await _during(town, trouble, seen, seconds)
            if ending:
                seen.stop = await town.machine.stop()
            seen.lasted = time.monotonic() - began
        mended = time.monotonic()
        if town.machine.process is None:
            await town.machine.start()
        await asyncio.gather(_after(town, trouble, seen, mended), _heard(town, seen, mended))
        stopped = await town.machine.stop()
        seen.stop = seen.stop if ending else stopped
        # On a machine with more to do than it has cores, everything takes longer.
        busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        if seen.stop[0] or seen.stop[1] > STOP_SECONDS * busy:
            seen.wrong.append(f"SIGTERM: code {seen.stop[0]} after {seen.stop[1]:.1f} s")
        await _reckon(town, trouble, seen)
    return seen


async def _during(town: Town, trouble: Trouble, seen: Seen, seconds: float) -> None:
    """People go on, operators look; return when the trouble has lasted long enough."""
    ends = time.monotonic() + seconds
    board = _thread(town.workspace)[0]["ts"]
    if town.machine.process:
        await asyncio.sleep(0.3)
    began, position = time.monotonic(), len(town.machine.log)
    await town.workspace.say("alex", CHANNEL, NOTE, board)
    asking = asyncio.create_task(_ask(town.workspace, "sam", SECOND))
    if trouble.health:
        while time.monotonic() < ends + 15 and not seen.health:
            seen.health = what_is_down(await town.machine.health())
            seen.noticed = time.monotonic() - began
            await asyncio.sleep(0.2)
        if not re.search(trouble.health, seen.health):
            seen.wrong.append(f"/health said: {seen.health or 'all is well'}")
    if trouble.doctor:
        said = await town.machine.moot("doctor")
        seen.doctor = ", ".join(re.findall(r"^✗ (.*)$", said.text, re.MULTILINE))
        if not re.search(trouble.doctor, seen.doctor):
            seen.wrong.append(f"doctor said: {said.text}")
    await asyncio.sleep(max(0.0, ends - time.monotonic()))
    if trouble.figure:
        await _told_by_figures(town, trouble, seen)
    if trouble.log and trouble.ends:
        await _told_by_log(town, trouble, seen, position)
    seen.told = await asking


async def _told_by_figures(town: Town, trouble: Trouble, seen: Seen) -> None:
    async def look() -> None:
        while not re.search(trouble.figure, await town.machine.figures()):  # noqa: ASYNC110
            await asyncio.sleep(0.2)

    try:
        await asyncio.wait_for(look(), 40)
    except TimeoutError:
        seen.wrong.append(f"no figure {trouble.figure}")


async def _told_by_log(town: Town, trouble: Trouble, seen: Seen, position: int) -> None:
    try:
        async with asyncio.timeout(20):
            while not re.search(trouble.log, town.machine.log[position:]):  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.2)
    except TimeoutError:
        seen.wrong.append(f"no log line {trouble.log!r}")


async def _after(town: Town, trouble: Trouble, seen: Seen, mended: float) -> None:
    """Wait until all is well, and look at how soon."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while what_is_down(await town.machine.health()):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            seen.well_after = time.monotonic() - mended
            if trouble.hurt in {deleted, restored}:
                held = await town.workspace.wait_for(lambda: _held(town.workspace), timeout=90)
                await town.workspace.click("dana", CHANNEL, held[0]["ts"], ActionId.RESUME.value)
            if "Nobody" in seen.told or "again" in seen.told:
                await _ask_until_heard(town.workspace, "sam", SECOND)
            await _calm(town, 1 if trouble.forgets else 2)
            seen.done_after = time.monotonic() - mended - _QUIET - town.models.wait
            return
    seen.wrong.append(f"not well after {PATIENCE:.0f} s: {town.machine.log[-1500:]}")


async def _heard(town: Town, seen: Seen, mended: float) -> None:
    """Wait until what somebody wrote meanwhile is in a log, or its author is told it is too late.

    Moot promises to read it again as soon as it can; `_reckon` says if it did not.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not (_is_told_of_end(town.workspace) or await _has_note(town.machine)):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
            seen.noted_after = time.monotonic() - mended


async def _has_note(machine: Machine) -> bool:
    try:
        async with await _logs(machine) as database:
            return any(debate.notes for debate in await _debates(database))
    except StoreError:  # a copy that was made while somebody wrote
        return False


async def _calm(town: Town, debates: int) -> None:
    """Wait until so many debates are decided and nothing is on its way to Slack any more."""
    since = time.monotonic()
    while time.monotonic() - since < _QUIET + town.models.wait:
        await asyncio.sleep(0.2)
        is_empty = re.search(r"moot_outbox_depth 0", await town.machine.figures())
        if not is_empty or len(_decided(town.workspace)) < debates:
            since = time.monotonic()


async def _reckon(town: Town, trouble: Trouble, seen: Seen) -> None:
    """Compare the logs with what is in the workspace and what the models were asked."""
    async with await _logs(town.machine) as database:
        asked = {} if town.machine.has_clock else town.models.asked
        store = SqlDebateStore(database)
        seen.found = await audit(store, town.workspace, [CHANNEL, ELSEWHERE], asked)
        debates = await _debates(database)
        waiting = await Posts(database).backlog()
    seen.notes = [note.text for debate in debates for note in debate.notes]
    faults = dict(seen.found.faults)
    if trouble.forgets:  # that it was held and resumed stands below a verdict that was there before
        faults.pop("displaced", None)
    seen.wrong += [f"{count} {name}" for name, count in faults.items()]
    if trouble.log and not re.search(trouble.log, town.machine.log):
        seen.wrong.append(f"no log line {trouble.log!r}")
    if trouble.shown and not re.search(trouble.shown, str(_everything(town.workspace))):
        seen.wrong.append(f"people were not shown {trouble.shown!r}")
    if waiting:
        seen.wrong.append(f"{waiting} posts were never sent")
    # Recorded once; or the debate ended before anybody could hear it, and its author is told.
    if list(seen.notes) != [NOTE] and (seen.notes or not _is_told_of_end(town.workspace)):
        seen.wrong.append(f"notes: {seen.notes}")
    questions = [debate.setup.question for debate in debates if "1111" not in debate.setup.question]
    if trouble.repeats:
        questions = list(dict.fromkeys(questions))
    if sorted(questions) != ([FIRST] if trouble.forgets else [FIRST, SECOND]):
        seen.wrong.append(f"debates: {questions}")


async def _logs(machine: Machine) -> Database:
    """Open the database for reading, as it is now."""
    if machine.database:
        return await Database.look_into(machine.database)
    return await Database.look_into(f"sqlite+aiosqlite:///{machine.copied_file()}")


async def _debates(database: Database) -> Sequence[Debate]:
    store = SqlDebateStore(database)
    found = await store.find(DebateFilter())
    return [fold(await store.events(one.debate_id)) for one in found]


def _is_told_of_end(workspace: Workspace) -> bool:
    """Whether who wrote the note was told that the debate had ended."""
    told = " ".join(str(one["text"]) for one in workspace.ephemeral("alex", CHANNEL))
    return "ended" in told


async def _ask(workspace: Workspace, user: str, question: str) -> str:
    """Type a command; return what its typist reads then."""
    before = len(workspace.ephemeral(user, CHANNEL))
    try:
        await workspace.command(user, CHANNEL, "/debate", question)
    except PersonRefusal as refusal:
        return f"Nobody heard it: {refusal}"
    told = workspace.ephemeral(user, CHANNEL)[before:]
    return " ".join(str(one["text"]) for one in told) or "nothing"


async def _ask_until_heard(workspace: Workspace, user: str, question: str) -> None:
    """Type a command, as people do, until it is taken: one debate comes of it."""
    while "begins" not in await _ask(workspace, user, question):  # noqa: ASYNC110
        await asyncio.sleep(1)


def what_is_down(health: Mapping[str, object]) -> str:
    """Which parts `/health` says do not work; empty: all do."""
    if not health:
        return "nobody answers"
    bad = {"database": "down", "slack": "down", "token": "refused"}
    return ", ".join(part for part, word in bad.items() if health.get(part) == word)


def _boards(workspace: Workspace) -> list[dict[str, object]]:
    return [
        message for message in workspace.messages(CHANNEL) if key_of(message).endswith("/board")
    ]


def _everything(workspace: Workspace) -> list[list[dict[str, object]]]:
    return [workspace.thread(CHANNEL, str(board["ts"])) for board in _boards(workspace)]


def _held(workspace: Workspace) -> list[dict[str, object]]:
    return [board for board in _boards(workspace) if ActionId.RESUME.value in str(board)]


def _thread(workspace: Workspace) -> Sequence[dict[str, str]]:
    boards = _boards(workspace)
    return workspace.thread(CHANNEL, str(boards[0]["ts"])) if boards else ()


def _decided(workspace: Workspace) -> Sequence[object]:
    found = workspace.messages(CHANNEL)
    return [one for one in found if one.get("subtype") == "thread_broadcast"]
