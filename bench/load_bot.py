"""The bot's process of `bench.load`: `python -m bench.load_bot <access> <database> <vendor>`."""

import asyncio
import gc
import json
import secrets
import sys
import time
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import uvloop
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.pool import PoolProxiedConnection

from bench.calls import Calls, WatchedProvider, for_first_tokens, for_first_tokens_in_chain
from bench.pulse import at, watched
from bench.vendor import PROTOCOLS
from bot.app import Moot, Parts, running
from bot.log import set_up_logs
from bot.queue.rate_limits import Pace
from bot.settings import LogFormat, LogLevel, SlackAccess
from core.clock import SystemClock
from core.events import DebateStarted, fold
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.models import (
    Clarifying,
    Ending,
    Person,
    Place,
    Setup,
    Status,
    Termination,
    When,
)
from core.opening import DebateRequest, open_debate
from core.ports import DebateFilter, LoadsSlowly, ModelProvider
from core.rules.formats.registry import format_of
from core.settings import ModelChoice, Settings
from core.testing import ScriptedProvider

IDLE_SECONDS = 20.0
#: Debates parked before measuring.
WARM_UP = 100
#: How many times as long as others the replies take that do not count.
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


def _by_turns(number: int) -> Settings:
    """Settings by which one debate after the other is held by another protocol."""
    protocol = list(PROTOCOLS.values())[number % len(PROTOCOLS)]
    return _settings(ModelChoice(provider=protocol.provider, model=protocol.usual))


class _Figures(NamedTuple):
    """What a debate took."""

    #: Seconds per turn of its longest chain that were not the model's.
    overhead: float
    #: Of those, the wait for another call's first token.
    for_first_tokens: float
    turns: int


class Bench:
    """Debates in a running bot, and what they cost it."""

    def __init__(self, moot: Moot, calls: Calls, commits: list[float]) -> None:
        self._moot = moot
        self._calls = calls
        self._commits = commits

    async def obey(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked; return the figures."""
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
        """Hold so many debates by each protocol at once, of quick replies, until all are over."""
        self._calls.times = _QUICK
        for number in range(debates * len(PROTOCOLS)):
            await self._begin(number, places, _by_turns(number))
        find, going_on = self._moot.store.find, DebateFilter(open_only=True, limit=1)
        # Another bot may hold some.
        while await find(going_on) or await self._is_busy():  # noqa: ASYNC110 - as in `_park`
            await asyncio.sleep(0.2)
        self._calls.times = 1.0
        self._calls.by_debate.clear()
        return {}

    async def load(
        self, numbers: Sequence[int], spread: float, places: Sequence[Place], seconds: float
    ) -> dict[str, Any]:
        """Begin debates evenly over some seconds; wait until all are over, whoever holds them."""
        began = time.perf_counter()
        ids: list[str] = []
        most = 0
        self._commits.clear()
        async with watched() as so_far:
            for count, number in enumerate(numbers, start=1):
                ids.append(await self._begin(number, places, _by_turns(number)))
                most = max(most, len(self._moot.runner.held))
                due = began + spread * count / len(numbers)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            while await self._moot.store.find(DebateFilter(open_only=True, limit=1)):
                most = max(most, len(self._moot.runner.held))
                await asyncio.sleep(0.2)
            taken, pulse = time.perf_counter() - began, so_far()
            commits = [at(self._commits, percent) for percent in (50, 99, 100)]
        unsent = await self._moot.posts.backlog()
        waits = defaultdict[str, list[float]](list)
        figures = [await self._figures(one, seconds, waits) for one in ids]
        replies = [turn for turns in self._calls.by_debate.values() for turn in turns.values()]
        return {
            "debates": len(ids),
            "most": most,
            "taken": taken,
            "cpu": pulse.cpu / taken,
            "pulse": asdict(pulse),
            "commits": commits,
            "waits": waits,
            "turns": sum(figure.turns for figure in figures),
            "replies": len(replies),
            "unsent": unsent,
            "overhead": [figure.overhead for figure in figures],
            "for_first_tokens": [figure.for_first_tokens for figure in figures],
        }

    async def park(self, debates: int, places: Sequence[Place]) -> dict[str, Any]:
        """Have debates wait for people; measure what they take while they wait."""
        await self._park(range(WARM_UP), places)  # what is loaded once is no debate's
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

    async def _is_busy(self) -> bool:
        return bool(self._moot.runner.held or await self._moot.posts.lanes_with_work())

    async def _begin(self, number: int, places: Sequence[Place], settings: Settings) -> str:
        place = places[number % len(places)]
        setup: Setup = open_debate(
            DebateRequest(
                question=f"Choice {number}: queue or table?", asked_by=_DANA, place=place
            ),
            settings,
            delimiter=secrets.token_hex(8),
        )
        debate_id = f"d{number:05d}{secrets.token_hex(2)}"
        started = DebateStarted(setup=setup)
        await self._moot.store.create(debate_id, started, origin=debate_id, at=SystemClock().now())
        self._moot.runner.wake(debate_id)
        return debate_id

    async def _figures(
        self, debate_id: str, seconds: float, waits: Mapping[str, list[float]]
    ) -> _Figures:
        """What it took.

        Notes also what its turns waited for: of those whose record has the turn's key, and that
        this process took.
        """
        log = await self._moot.store.events(debate_id)
        debate = fold(log)
        assert debate.status is Status.CONCLUDED
        chain = format_of(debate).longest_chain(debate.setup.rounds) + 2  # ballots, synthesis
        chain += debate.cross_check is not None
        times = [one.at for one in log]
        calls = self._calls.by_debate[debate_id]
        for recorded in log:
            if asked := calls.get(recorded.event.key):
                before = times[bisect(times, asked.began) - 1]
                first_token = for_first_tokens(calls.values(), before, asked.began)
                waited = {
                    "from what was recorded last to the next request": asked.began
                    - before
                    - first_token,
                    "for the first token of a call that writes its cache": first_token,
                    "for a reply, beyond the model's own time": asked.ended
                    - asked.began
                    - timedelta(seconds=seconds),
                    "from a reply to its record": recorded.at - asked.ended,
                }
                for name, span in waited.items():
                    waits[name].append(round(span.total_seconds(), 4))
        # Summaries that people read may still be written after it: nobody waits for those.
        verdict = debate.times["verdict"]
        recorded = [(one.event.key, one.at) for one in log]
        for_tokens = for_first_tokens_in_chain(times.index(verdict), recorded, calls)
        return _Figures(
            overhead=(verdict - debate.started_at).total_seconds() / chain - seconds,
            for_first_tokens=for_tokens.total_seconds() / chain,
            turns=len(debate.contributions) + len(debate.ballots) + 1,
        )


def _timed_commits() -> list[float]:
    """Seconds that each commit takes from now on, in whatever thread: mostly the disk's."""
    seconds, commit = list[float](), DefaultDialect.do_commit

    def timed(self: DefaultDialect, dbapi_connection: PoolProxiedConnection) -> None:
        began = time.perf_counter()
        commit(self, dbapi_connection)
        seconds.append(time.perf_counter() - began)

    DefaultDialect.do_commit = timed
    return seconds


def _resident() -> int:
    """Bytes of memory this process has."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


async def main(access: str, database: str, vendor: str) -> None:
    """Obey until the other side hangs up."""
    set_up_logs(LogLevel.ERROR, LogFormat.JSON, ())
    vendors = [
        factory.build(protocol.provider, "sk-bench", vendor + protocol.path)
        for protocol in PROTOCOLS.values()
    ]
    await asyncio.gather(*(one.load() for one in vendors if isinstance(one, LoadsSlowly)))
    watched_calls, commits = Calls(), _timed_commits()
    providers: dict[str, ModelProvider] = {
        one.name: WatchedProvider(one, watched_calls) for one in vendors
    }
    # What waits for people asks nobody, whoever its models are.
    providers[_SCRIPTED.provider] = ScriptedProvider()
    # None of hundreds of debates is to wait for another's call (`calls_at_once`, 64 by itself).
    calls = ModelCalls(providers, SystemClock(), parallel=1000)
    pace = Pace(post=0.05, edit=0.1, look=0.01, react=0.01, pin=0.01)
    parts = Parts(
        slack=SlackAccess(**json.loads(access)),
        database=database,
        calls=calls,
        settings=_settings(),
        pace=pace,
    )
    async with running(parts) as moot:
        gc.freeze()  # as `moot run` does
        bench = Bench(moot, watched_calls, commits)
        print("running", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await bench.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
