"""Debates in a storm: processes are killed, their database is restarted, Slack drops answers."""

import asyncio
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bot.building import database_url
from bot.slack.manifest import manifest
from bot.testing import PATIENT_PACE
from slack_on_loopback import ChannelSpec, UserSpec, Workspace, WorkspaceConfig
from tests.faults.audit import Audit
from tests.faults.site import Site, at_work
from tests.postgres import PostgresForTests

#: The bot takes no more than five at once.
_DEBATES_PER_CHANNEL = 3
#: Seconds between two blows: at least and at most.
_PAUSES = (1.0, 2.0)
#: Seconds in which nothing more comes, if nothing does.
_QUIET = 4.0


@dataclass(frozen=True, kw_only=True)
class Storm:
    debates: int
    #: How often something is hit; then everything may come to its end.
    blows: int
    #: Processes. SQLite allows one.
    replicas: int = 1
    #: Whether every second blow hits the database server.
    hits_server: bool = False
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    audit: Audit
    #: How often each target was hit.
    blows: Counter[str]
    calls: int
    seconds: float

    def __str__(self) -> str:
        hit = ", ".join(f"{target} {times}" for target, times in self.blows.items())
        return f"{self.seconds:.0f} s, {self.calls} model calls; hit: {hit}\n{self.audit}"


async def blow(storm: Storm, folder: Path, server: PostgresForTests | None = None) -> Outcome:
    """Hold the debates in the storm, wait for calm, and look at what became of them.

    Args:
        storm: How bad it gets.
        folder: For the machines' files.
        server: Has the database, and may be restarted; None: SQLite.
    """
    channels = [f"team-{number}" for number in range(-(-storm.debates // _DEBATES_PER_CHANNEL))]
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in channels),
        users=tuple(UserSpec(_asker(number), "Somebody") for number in range(storm.debates)),
        manifest=manifest(),
        pace=PATIENT_PACE,
        seed=storm.seed,
    )
    database = database_url(server.fresh_database()) if server else ""
    began = time.monotonic()
    async with at_work(folder, database, config=config, channels=channels) as site:
        await asyncio.gather(*(site.join() for _ in range(storm.replicas - 1)))
        _spoil(site.workspace)
        asking = asyncio.create_task(_ask_all(site, storm.debates))
        blows = await _hit(site, storm, server)
        await asking
        site.workspace.faults.clear()
        await site.at_rest(storm.debates)
        await asyncio.sleep(_QUIET)
        await site.stop()
        return Outcome(
            audit=await site.audited(),
            blows=blows,
            calls=site.models.calls,
            seconds=time.monotonic() - began,
        )


def _spoil(workspace: Workspace) -> None:
    faults = workspace.faults
    faults.drop_after("chat.postMessage", times=None, probability=0.03)
    faults.drop_before("chat.postMessage", times=None, probability=0.03)
    faults.drop_after("chat.update", times=None, probability=0.03)
    faults.server_error("chat.postMessage", times=None, probability=0.02)
    faults.delay("chat.postMessage", 0.3, times=None, probability=0.05)


def _asker(number: int) -> str:
    return f"person-{number}"


async def _ask_all(site: Site, debates: int) -> None:
    """Ask every question until somebody hears it. One heard by a dying bot is asked twice."""
    for number in range(debates):
        if number % 5 == 0:
            site.workspace.faults.rate_limit("chat.postMessage", seconds=1, times=2)
        channel = site.channels[number % len(site.channels)]
        for attempt in count(1):
            # Every question is another one, so that no two debates ask the same of a model.
            question = f"Choice {number}.{attempt}: queue or table?"
            if "Nobody heard it" not in await site.typed(question, _asker(number), channel):
                break
            await asyncio.sleep(0.2)


async def _hit(site: Site, storm: Storm, server: PostgresForTests | None) -> Counter[str]:
    dice, blows = random.Random(storm.seed), Counter[str]()
    for number in range(storm.blows):
        await asyncio.sleep(dice.uniform(*_PAUSES))
        if server and storm.hits_server and number % 2:
            await asyncio.to_thread(server.restart)
            blows["server"] += 1
        else:
            machine = dice.choice(site.machines)
            await machine.stop(signal.SIGKILL)
            await machine.start()
            blows["process"] += 1
    return blows
