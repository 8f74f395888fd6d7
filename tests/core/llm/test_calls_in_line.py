"""Calls wait in line with other long steps: nothing is lost there, and no vendor blamed for it."""

import asyncio
from collections.abc import Callable
from decimal import Decimal

from core.engine import Engine
from core.events import DebateStarted
from core.lane import Lane
from core.llm.call import ModelCalls
from core.models import Act, Agent, Status, Usage
from core.request import ModelReply, ModelRequest, Part, PartKind
from core.store.memory import InMemoryStore
from core.testing import ManualClock, RecordingSink, ScriptedProvider, a_setup
from core.turns.take import Turns

ANN = Agent(id="ann", name="Ann", role="architect", provider="anthropic", model="claude-sonnet-5-5")
REQUEST = ModelRequest(
    model="",
    act=Act.PROPOSAL,
    role="architect",
    system="You debate.",
    parts=(Part(kind=PartKind.TASK, label="Task", text="Propose."),),
    delimiter="k7f3q9",
)
#: More steps than passes of the loop in which a test looks.
MANY = 100


def crowd(lane: Lane) -> "asyncio.Future[list[None]]":
    """Many others in line; done when the last of them was let in."""
    return asyncio.gather(*(lane.enter() for _ in range(MANY)))


class Answering(ScriptedProvider):
    """Answers for 23 cents; then something happens."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self._then = then
        self.has_answered = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        del request
        on_first_token()
        self._then()
        await asyncio.sleep(0)  # they are in line
        self.has_answered.set()
        return ModelReply(text="Files.", model="m", usage=Usage(cost=Decimal("0.23")))


async def test_a_reply_whose_call_ends_while_it_waits_in_line_is_booked() -> None:
    booked, others = list[Usage](), list[asyncio.Future[list[None]]]()
    provider = Answering(lambda: others.append(crowd(calls.lane)))
    calls = ModelCalls({"anthropic": provider}, ManualClock())

    asking = asyncio.create_task(calls.under((), book=booked.append).ask(REQUEST, ANN))
    async with asyncio.timeout(60):
        await provider.has_answered.wait()
    for _ in range(MANY // 5):  # the reply has come, and the line is long
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])

    assert asking.cancelled()
    assert [one.cost for one in booked] == [Decimal("0.23")]
    await others[0]


async def test_time_in_line_is_not_the_vendors() -> None:
    clock, others = ManualClock(), list[asyncio.Future[list[None]]]()
    provider = Answering(lambda: others.append(crowd(calls.lane)))
    calls = ModelCalls({"anthropic": provider}, clock, parallel=1)
    before = crowd(calls.lane)

    asking = asyncio.create_task(calls.ask(REQUEST, ANN))
    await asyncio.sleep(0)  # it is in line
    clock.advance(5)
    await before
    async with asyncio.timeout(60):
        await provider.has_answered.wait()
    for _ in range(MANY // 5):  # the reply is in line
        await asyncio.sleep(0)
    clock.advance(7)

    assert (await asking).call.latency_ms == 0
    await others[0]


async def test_an_engine_waits_in_the_line_of_its_calls() -> None:
    store, clock, provider = InMemoryStore(), ManualClock(), ScriptedProvider()
    calls = ModelCalls({"scripted": provider}, clock)
    sink = RecordingSink()
    engine = Engine(store=store, turns=Turns(calls), sink=sink, clock=clock, lane=calls.lane)
    await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=clock.now())

    others = crowd(calls.lane)
    running = asyncio.create_task(engine.run("d1"))
    await others

    assert not sink.events
    assert (await running).status is Status.CONCLUDED
