"""Debates in a storm: processes are killed and frozen, Slack drops answers and refuses some calls.

Their database may be restarted, too.
"""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bot.building import database_url
from bot.slack.ids import board_key, headline_key
from bot.slack.manifest import manifest
from bot.testing import PATIENT_PACE, key_of
from slack_on_loopback import CallFault, ChannelSpec, UserSpec, Workspace, WorkspaceConfig
from tests.faults.audit import Audit
from tests.faults.site import Site, at_work
from tests.postgres import PostgresForTests

#: The bot takes no more than five at once.
_DEBATES_PER_CHANNEL = 3
#: Seconds between two kills: at least and at most.
_PAUSES = (1.0, 2.0)
#: Seconds for which a process is frozen: of replicas long enough for others to take over.
_FREEZES, _FREEZES_OF_REPLICAS = (0.5, 8.0), (0.5, 25.0)
#: Seconds without a change after which nothing more is expected.
_QUIET = 4.0


@dataclass(frozen=True, kw_only=True)
class Storm:
    debates: int
    #: Number of kills; then the debates may end.
    blows: int
    #: How often a process is frozen for a while, besides.
    freezes: int = 0
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
    """Run the debates during the storm, wait for their end, and audit them.

    Args:
        storm: The number of kills and freezes.
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
        refusing = asyncio.create_task(_refuse_for_good(site))
        blows = await _hit(site, storm, server)
        await asking
        lasting = await refusing
        site.workspace.faults.active[:] = lasting
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


async def _refuse_for_good(site: Site) -> Sequence[CallFault]:
    """Refuse one post, one upload and one edit, each of another debate, however often it is tried.

    All other posts of these debates, and of others in their channels, must arrive.
    """
    faults = site.workspace.faults

    def boards() -> Sequence[tuple[str, str]]:
        """Each board's debate and ts."""
        return [
            (key_of(message).partition("/")[0], str(message["ts"]))
            for channel in site.channels
            for message in site.workspace.messages(channel)
            if key_of(message).endswith("/board")
        ]

    first, second, third = (await site.until(lambda: boards()[2:] and boards()))[:3]
    headline = headline_key(first[0])
    site.refused = frozenset({headline, board_key(third[0])})
    return [
        faults.refuse("chat.postMessage", "restricted_action", containing=f'{headline}"'),
        faults.refuse("files.getUploadURLExternal", "file_uploads_disabled", containing=second[0]),
        faults.refuse("chat.update", "cant_update_message", containing=third[1]),
    ]


def _asker(number: int) -> str:
    return f"person-{number}"


async def _ask_all(site: Site, debates: int) -> None:
    """Type every question until a bot answers. A question to a dying bot is typed twice."""
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
    hits = ["kill"] * storm.blows + ["freeze"] * storm.freezes
    dice.shuffle(hits)
    for number, hit in enumerate(hits):
        await asyncio.sleep(dice.uniform(*_PAUSES))
        if hit == "freeze":
            machine = dice.choice(site.machines)
            assert machine.process is not None
            machine.process.send_signal(signal.SIGSTOP)
            longest = _FREEZES_OF_REPLICAS if storm.replicas > 1 else _FREEZES
            await asyncio.sleep(dice.uniform(*longest))
            machine.process.send_signal(signal.SIGCONT)
            blows["frozen"] += 1
        elif server and storm.hits_server and number % 2:
            await asyncio.to_thread(server.restart)
            blows["server"] += 1
        else:
            machine = dice.choice(site.machines)
            await machine.stop(signal.SIGKILL)
            await machine.start()
            blows["process"] += 1
    return blows
