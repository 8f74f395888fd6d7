"""The storm over `moot run` on PostgreSQL: the process and its server are hit in turn."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.building import database_url
from bot.slack.manifest import manifest
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import QUICK, ChannelSpec, UserSpec, WorkspaceConfig, run_workspace
from tests.chaos.audit import Audit, audit
from tests.chaos.storm import ask, asker, calm, channels_for, spoil
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.postgres import PostgresForTests
from tests.vendors.server import Vendor

#: What is hit, in turn.
_TARGETS = ("process", "server")
#: Seconds between two blows: at least and at most.
_PAUSES = (3.0, 5.0)


@dataclass(frozen=True, kw_only=True)
class Survived:
    """What it came to."""

    audit: Audit
    #: How often each target was hit.
    blows: Mapping[str, int]
    calls: int
    seconds: float

    def __str__(self) -> str:
        found = self.audit
        hit = ", ".join(f"{target} {count}" for target, count in self.blows.items())
        return "\n".join(
            (
                f"{found.debates} debates, {self.seconds:.0f} s; hit: {hit}",
                f"posts: {found.posts}, lost {found.lost}, doubled {found.doubled}",
                f"threads out of order: {found.displaced}",
                f"debates not concluded: {found.unfinished}",
                f"model calls: {self.calls}, of recorded ones again {found.recorded_repeats}",
            )
        )


async def blow_on_program(
    server: PostgresForTests, folder: Path, *, debates: int, blows: int
) -> Survived:
    """Hold debates while the process and PostgreSQL are hit; see what became of them.

    Args:
        server: Is restarted; nobody else may use it.
        folder: For the machine's files.
        debates: How many.
        blows: How often something is hit.
    """
    names = channels_for(debates)
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in names),
        users=tuple(UserSpec(asker(number), "Somebody") for number in range(debates)),
        manifest=manifest(),
        pace=QUICK,
    )
    models, began = DrillModels(wait=0.3), time.monotonic()
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(folder / "machine", workspace, vendor.url)
        machine.database = database_url(server.fresh_database())
        try:
            await machine.start()
            spoil(workspace)
            asking = asyncio.create_task(ask(workspace, names, debates))
            hit = await _hit(machine, server, blows)
            await asking
            workspace.faults.clear()
            with suppress(TimeoutError):  # the audit says what is missing
                await calm(workspace, names)
            await machine.stop()
        finally:
            await machine.close()
        async with await Database.look_into(machine.database) as database:
            found = await audit(SqlDebateStore(database), workspace, names, models.asked)
    seconds = time.monotonic() - began
    return Survived(audit=found, blows=hit, calls=models.calls, seconds=seconds)


async def _hit(machine: Machine, server: PostgresForTests, blows: int) -> Mapping[str, int]:
    dice, hit = random.Random(1), Counter[str]()
    for number in range(blows):
        await asyncio.sleep(dice.uniform(*_PAUSES))
        target = _TARGETS[number % len(_TARGETS)]
        match target:
            case "server":
                await asyncio.to_thread(server.restart)
            case _:
                await machine.stop(signal.SIGKILL)
                await machine.start()
        hit[target] += 1
    return hit
