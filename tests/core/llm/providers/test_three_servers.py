"""A debate over three servers at once, through real SDKs, while one or all of them go away.

Time is 200 times as fast as in a real debate: a reply takes 50 ms instead of 10 s, probes wait
0.1 s at most instead of 20 s. A server is away while others take four turns: about a minute there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import (
    DebateStarted,
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    OutageEnded,
    TimeRanOut,
)
from core.debate.log import fold
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn_events import TurnFailed
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.retry import RetryPolicy
from core.settings import ModelServer
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, a_setup
from tests.vendor_process import VendorProcess
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

E = TypeVar("E")

DEBATE = "dservers"
MODELS = {
    "architect": ("openai", "gpt-6.1-terra"),
    "security": ("anthropic", "claude-sonnet-5-5"),
    "simplicity": ("workshop", "qwen-4"),
}


def good_reply_in_time(request: VendorRequest) -> Say:
    return replace(good_reply(request), wait=0.05)


def a_mixed_setup(rounds: int = 3, **limits: float) -> Setup:
    """Each agent at another server, the judge where the architect is."""
    setup = a_setup(rounds=rounds, provider="openai")
    agents = [
        agent.model_copy(update=dict(zip(("provider", "model"), MODELS[agent.id], strict=True)))
        for agent in setup.agents
    ]
    judge = setup.judge.model_copy(update={"model": "gpt-6.1-terra"})
    changes = {
        "agents": tuple(agents),
        "judge": judge,
        "limits": setup.limits.model_copy(update={"turn_seconds": 600.0, **limits}),
    }
    return setup.model_copy(update=changes)


@dataclass
class Stand:
    """Three servers and a debate over them."""

    servers: Mapping[str, Vendor | VendorProcess]
    store: InMemoryStore = field(default_factory=InMemoryStore)
    clock: SystemClock = field(default_factory=SystemClock)

    async def start(self, setup: Setup) -> None:
        started = DebateStarted(setup=setup)
        await self.store.create(DEBATE, started, origin="test", at=self.clock.now())

    async def hold(self) -> Debate:
        """Hold the debate in a process of its own."""
        workshop = ModelServer(name="workshop", base_url=f"{self.servers['workshop'].url}/v1")
        providers = {
            "openai": factory.build("openai", "sk-test", f"{self.servers['openai'].url}/v1"),
            "anthropic": factory.build("anthropic", "sk-test", self.servers["anthropic"].url),
            "workshop": factory.build_server(workshop),
        }
        calls = ModelCalls(
            providers,
            self.clock,
            retries=RetryPolicy(tries=5, first_wait=0.01, longest_wait=0.15),
            probes=RetryPolicy(first_wait=0.01, longest_wait=0.1),
        )
        self.engine = Engine(
            store=self.store, turns=Turns(calls), sink=RecordingSink(), clock=self.clock
        )
        # Loading SDKs is no time of a turn's, whose limit may be seconds here.
        await calls.load(providers)
        try:
            return await self.engine.run(DEBATE)
        finally:
            await calls.close()

    async def until(self, happened: Callable[[Debate], bool]) -> None:
        """Wait until the log tells of it."""
        async with asyncio.timeout(300):
            while not happened(fold(await self.store.events(DEBATE))):  # noqa: ASYNC110 - the store
                await asyncio.sleep(0.01)

    async def of_kind(self, kind: type[E]) -> list[E]:
        """Events of a kind."""
        log = await self.store.events(DEBATE)
        return [entry.event for entry in log if isinstance(entry.event, kind)]


@dataclass
class LocalStand(Stand):
    """With all servers in this process."""

    vendors: dict[str, Vendor] = field(default_factory=dict[str, Vendor])

    def all_go_away(self) -> None:
        for server in self.vendors.values():
            server.go_away()

    async def all_come_back(self) -> None:
        for server in self.vendors.values():
            await server.come_back()


@pytest.fixture
async def stand() -> AsyncIterator[LocalStand]:
    async with AsyncExitStack() as entered:
        names = [provider for provider, _ in MODELS.values()]
        vendors = {
            name: await entered.enter_async_context(Vendor(good_reply_in_time)) for name in names
        }
        yield LocalStand(servers=vendors, vendors=vendors)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["openai", "anthropic", "workshop"])
async def test_a_server_whose_process_is_killed_and_started_again_costs_no_turn(name: str) -> None:
    killed, waits = VendorProcess(), [0.05]

    def reply(request: VendorRequest) -> Say:
        return replace(good_reply(request), wait=waits[-1])

    await killed.start()
    async with AsyncExitStack() as entered:
        entered.push_async_callback(killed.close)
        servers: dict[str, Vendor | VendorProcess] = {name: killed}
        for other, _ in MODELS.values():
            if other != name:
                servers[other] = await entered.enter_async_context(Vendor(reply))
        stand = Stand(servers)
        await killed.prepare()
        await stand.start(a_mixed_setup(turn_seconds=90.0))
        running = asyncio.create_task(stand.hold())
        await stand.until(lambda debate: len(debate.contributions) >= 5)
        await killed.kill()
        await stand.until(lambda debate: bool(debate.away))
        count = len(killed.paths)
        # A process takes its time to start, however fast the debate's own runs: nobody may be done
        # without it.
        waits.append(1.5)
        await asyncio.sleep(0.3)  # a minute of a real debate
        await killed.start()
        await stand.until(lambda debate: not debate.away)
        waits.append(0.05)

        debate = await running

        await killed.kill()
        assert debate.status is Status.CONCLUDED
        assert debate.failures == {}
        assert await stand.of_kind(ModelWentAway)
        assert await stand.of_kind(ModelCameBack) or await stand.of_kind(OutageEnded)
        assert not debate.away
        # Where the others had to wait for it, they waited.
        assert len(await stand.of_kind(OutageBegan)) == len(await stand.of_kind(OutageEnded))
        assert len(killed.paths) > count
        spoken = {"openai": "responses", "anthropic": "messages", "workshop": "chat/completions"}
        assert set(killed.paths) == {f"/v1/{spoken[name]}"}


async def test_an_outage_before_the_first_word_is_outlived_too(stand: LocalStand) -> None:
    stand.all_go_away()
    await stand.start(a_mixed_setup(rounds=1))
    running = asyncio.create_task(stand.hold())
    await stand.until(lambda debate: bool(debate.outage))
    await stand.all_come_back()

    debate = await running

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}


async def test_an_outage_has_a_limit(stand: LocalStand) -> None:
    await stand.start(a_mixed_setup(outage_seconds=0.5))
    running = asyncio.create_task(stand.hold())
    await stand.until(lambda debate: len(debate.contributions) >= 5)
    stand.all_go_away()

    debate = await running

    assert await stand.of_kind(TimeRanOut) == [TimeRanOut(of_outage=True)]
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    assert await stand.of_kind(TurnFailed)
