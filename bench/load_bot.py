"""The bot's process of `bench.load`: `python -m bench.load_bot ACCESS DATABASE VENDOR CALLS`."""

import asyncio
import gc
import json
import secrets
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import uvloop

from bench.vendor import PROTOCOLS, duration_mark
from bot.app import Moot, Parts, running
from bot.log import set_up_logs
from bot.queue.rate_limits import Pace
from bot.settings import BotSettings, LogFormat, LogLevel, SlackAccess
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.rules import Clarifying, Ending, Termination, When
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.opening import DebateRequest, open_debate
from core.ports import DebateFilter, ModelProvider, SlowLoadingProvider
from core.rules.formats.registry import format_of
from core.settings import ModelChoice, Settings
from core.testing import ScriptedProvider

IDLE_SECONDS = 20.0
#: Debates parked before measuring.
WARM_UP = 100
#: Factor for the duration of the replies before the measurement.
_QUICK = 0.1
_SCRIPTED = ModelChoice(provider="scripted", model="scripted-1")
_DANA = Person(id="U0DANA", name="Dana")


def _settings(choice: ModelChoice = _SCRIPTED, *, clarify: bool = False) -> Settings:
    clarifying = Clarifying(enabled=clarify, wait_seconds=3600)
    return Settings(
        agent_model=choice,
        judge_model=choice,
        rounds=1,
        when=When.ALWAYS,
        termination=Termination(ending=Ending.FIXED),
        clarifying=clarifying,
        casting=False,
    )


def _settings_of(number: int) -> Settings:
    """Settings with the next protocol's model."""
    protocol = list(PROTOCOLS.values())[number % len(PROTOCOLS)]
    return _settings(ModelChoice(provider=protocol.provider, model=protocol.usual))


class Bench:
    """Debates in a running bot, and their CPU and memory."""

    def __init__(self, moot: Moot) -> None:
        self._moot = moot

    async def obey(self, orders: dict[str, Any]) -> dict[str, Any]:
        places = [
            Place(surface="slack", workspace=orders["team"], channel=channel)
            for channel in orders["channels"]
        ]
        if "park" in orders:
            return await self.park(orders["park"], places)
        if "warm_up" in orders:
            return await self.warm_up(orders["warm_up"], places)
        numbers = range(orders["first"], orders["debates"], orders["step"])
        return await self.load(numbers, orders["spread"], places, orders["seconds"])

    async def warm_up(self, debates: int, places: Sequence[Place]) -> dict[str, Any]:
        """Run debates with quick replies over each protocol, all at once, to their end."""
        for number in range(debates * len(PROTOCOLS)):
            await self._begin(number, places, _settings_of(number), duration_mark(_QUICK))
        # Another bot may run some of them.
        while await self._has_open_debates() or await self._is_busy():  # noqa: ASYNC110 - a database
            await asyncio.sleep(0.2)
        return {}

    async def load(
        self, numbers: Sequence[int], spread: float, places: Sequence[Place], seconds: float
    ) -> dict[str, Any]:
        """Start debates evenly over `spread` seconds; wait for the end of all, in every bot."""
        began = time.perf_counter()
        ids: list[str] = []
        cpu = time.process_time()
        for count, number in enumerate(numbers, start=1):
            ids.append(await self._begin(number, places, _settings_of(number)))
            due = began + spread * count / len(numbers)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        while await self._has_open_debates():  # noqa: ASYNC110 - a database
            await asyncio.sleep(0.2)
        duration, cpu = time.perf_counter() - began, time.process_time() - cpu
        debates = [fold(await self._moot.store.events(debate_id)) for debate_id in ids]
        return {
            "seconds": duration,
            "cpu": cpu / duration,
            "turns": sum(len(debate.contributions) + len(debate.ballots) + 1 for debate in debates),
            "overhead": [_overhead(debate, seconds) for debate in debates],
        }

    async def park(self, debates: int, places: Sequence[Place]) -> dict[str, Any]:
        """Start debates that wait for people; measure memory and CPU while they wait."""
        await self._park(range(WARM_UP), places)  # modules and caches are loaded once
        before = _resident()
        await self._park(range(WARM_UP, WARM_UP + debates), places)
        grown = _resident() - before
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.sleep(IDLE_SECONDS)
        idle = (time.process_time() - cpu) / (time.perf_counter() - began)
        return {"parked": debates, "kilobytes": grown / debates / 1024, "cpu": idle}

    async def _park(self, numbers: Iterable[int], places: Sequence[Place]) -> None:
        for number in numbers:
            await self._begin(number, places, _settings(clarify=True))
        while await self._is_busy():  # noqa: ASYNC110 - looks at the database
            await asyncio.sleep(0.5)
        gc.collect()

    async def _has_open_debates(self) -> bool:
        return bool(await self._moot.store.find(DebateFilter(open_only=True, limit=1)))

    async def _is_busy(self) -> bool:
        return bool(self._moot.runner.held_ids or await self._moot.context.posts.lanes_with_work())

    async def _begin(
        self, number: int, places: Sequence[Place], settings: Settings, mark: str = ""
    ) -> str:
        question = f"Choice {number}: queue or table? {mark}".rstrip()
        place = places[number % len(places)]
        setup: Setup = open_debate(
            DebateRequest(question=question, asked_by=_DANA, place=place),
            settings,
            delimiter=secrets.token_hex(8),
        )
        debate_id = f"d{number:05d}{secrets.token_hex(2)}"
        started = DebateStarted(setup=setup)
        await self._moot.store.create(debate_id, started, origin=debate_id, at=SystemClock().now())
        self._moot.runner.wake(debate_id)
        return debate_id


def _overhead(debate: Debate, seconds: float) -> float:
    """Return the seconds per turn of the longest chain, without the model's."""
    assert debate.status is Status.CONCLUDED
    chain = format_of(debate).longest_chain(debate.setup.rounds) + 2  # ballots, synthesis
    chain += debate.cross_check is not None
    # Until the verdict: summaries for people may end later.
    return (debate.times["verdict"] - debate.started_at).total_seconds() / chain - seconds


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


async def main(access: str, database: str, vendor: str, calls_at_once: int) -> None:
    set_up_logs(LogLevel.ERROR, LogFormat.JSON, ())
    vendors = [
        factory.build(protocol.provider, "sk-bench", vendor + protocol.path)
        for protocol in PROTOCOLS.values()
    ]
    await asyncio.gather(
        *(item.load() for item in vendors if isinstance(item, SlowLoadingProvider))
    )
    providers: dict[str, ModelProvider] = {item.name: item for item in vendors}
    providers[_SCRIPTED.provider] = ScriptedProvider()
    calls = ModelCalls(providers, SystemClock(), parallel=calls_at_once)
    pace = Pace(post=0.05, edit=0.1, look=0.01, react=0.01, pin=0.01)
    parts = Parts(
        slack=SlackAccess(**json.loads(access)),
        environment=BotSettings.model_validate({"moot_port": 0}),
        database=database,
        calls=calls,
        settings=_settings(),
        pace=pace,
    )
    async with running(parts) as moot:
        gc.freeze()  # as `moot run` does
        bench = Bench(moot)
        print("running", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await bench.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    _access, _database, _vendor, _calls = sys.argv[1:]
    uvloop.run(main(_access, _database, _vendor, int(_calls)))
