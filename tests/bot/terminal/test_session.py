"""Ctrl-C and questions at one debate, with real signals and a real event loop."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

import pytest

from bot.terminal.screen import LineScreen, ProgressSink
from bot.terminal.session import DebateSession, TerminalQuestions
from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.contributions import Clarification
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import DebatePaused
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.engine import Engine
from core.errors import ModelsAway, MootError, ProviderDown
from core.llm.call import ModelCalls
from core.ports import Clock
from core.request import ModelReply, ModelRequest
from core.testing import InMemoryStore, ScriptedProvider, a_setup, log_of, plausible_reply
from tests.core.leaping_loop import LoopClock

DEBATE = "dabc2345"
SITTING = Person(id="kim", name="kim")


class SlowAt(ScriptedProvider):
    """Never answers one act; `wait_until_asked` tells when it was asked."""

    def __init__(self, act: Act) -> None:
        super().__init__()
        self._act = act

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        if request.act is self._act:
            await asyncio.sleep(3600)
        return reply


class Sitting:
    """A session whose model gets stuck."""

    def __init__(self, provider: ScriptedProvider, clock: Clock | None = None) -> None:
        self.provider = provider
        self.clock = clock or SystemClock()
        self.store = InMemoryStore()
        self.shown = io.StringIO()

    async def start(self, clarifying: Clarifying | None = None) -> asyncio.Task[Debate]:
        setup = a_setup(rounds=1)
        if clarifying:
            setup = setup.model_copy(update={"clarifying": clarifying})
        started = DebateStarted(setup=setup)
        await self.store.create(DEBATE, started, origin="test", at=self.clock.now())
        return asyncio.create_task(self.go_on())

    async def go_on(self) -> Debate:
        """Hold what is in the log, as a process of its own would."""
        clock, screen = self.clock, LineScreen(self.shown)
        calls = ModelCalls({"scripted": self.provider}, clock)
        engine = Engine(
            store=self.store, turns=Turns(calls), sink=ProgressSink(screen), clock=clock
        )
        session = DebateSession(
            DEBATE, engine=engine, store=self.store, clock=clock, screen=screen, person=SITTING
        )
        return await session.hold()

    async def debate(self) -> Debate:
        return fold(await self.store.events(DEBATE))

    async def until_stopped(self) -> None:
        """Wait until a stop is recorded, as the first Ctrl-C asks for it."""
        while not (await self.debate()).stop:  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIO]:
    """What somebody types on; nothing is typed unless the test does."""
    there, here = os.pipe()
    with os.fdopen(there) as stream, os.fdopen(here, "w") as keys:
        monkeypatch.setattr(sys, "stdin", stream)
        yield keys
        keys.close()  # whoever still reads sees the end, and lets go of the stream


def asking(request: ModelRequest) -> str:
    if request.act is not Act.QUESTIONS:
        return plausible_reply(request)
    return json.dumps({"questions": [{"question": "How many jobs?", "assumption": "Few"}]})


@pytest.mark.usefixtures("keyboard")
async def test_when_nobody_answers_in_time_the_assumptions_hold() -> None:
    sitting = Sitting(ScriptedProvider(asking))
    debate = await (await sitting.start(Clarifying(enabled=True, wait_seconds=0.2)))

    assert debate.status is Status.CONCLUDED
    assert len(debate.closed_cards) == 1
    assert debate.answers == {}
    assert "then the assumptions hold." in sitting.shown.getvalue()
    assert "The time to answer is over" in sitting.shown.getvalue()


async def test_what_is_typed_in_time_is_the_answer(keyboard: TextIO) -> None:
    sitting = Sitting(ScriptedProvider(asking))
    keyboard.write("A thousand\n")
    keyboard.flush()
    debate = await (await sitting.start(Clarifying(enabled=True, wait_seconds=600)))

    assert debate.answers[1].text == "A thousand"
    assert "The time to answer is over" not in sitting.shown.getvalue()


async def test_a_question_that_was_given_up_takes_no_line_from_the_next(keyboard: TextIO) -> None:
    desk = TerminalQuestions(LineScreen(io.StringIO()), sys.stdin)
    debate = fold(log_of([DebateStarted(setup=a_setup(rounds=1))]))
    first, second = (
        Clarification(number=number, question="?", assumption="", asked_by=()) for number in (1, 2)
    )
    given_up = asyncio.create_task(desk.ask(debate, first))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)

    waiting = asyncio.create_task(desk.ask(debate, second))
    await asyncio.sleep(0)
    keyboard.write("For the second\n")
    keyboard.flush()

    assert await waiting == "For the second"


async def test_a_second_ctrl_c_leaves_a_debate_that_can_be_taken_up_and_stopped_again() -> None:
    sitting = Sitting(SlowAt(Act.CRITIQUE))
    work = await sitting.start()
    await sitting.provider.wait_until_asked(Act.CRITIQUE)
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(MootError, match="Interrupted"):
        await work
    assert not (await sitting.debate()).stop

    for expected in (1, 2):  # stopped and left, twice
        sitting.provider = SlowAt(Act.SYNTHESIS)
        work = asyncio.create_task(sitting.go_on())
        await sitting.provider.wait_until_asked(Act.CRITIQUE if expected == 1 else Act.SYNTHESIS)
        press_ctrl_c()
        await sitting.until_stopped()
        press_ctrl_c()
        with pytest.raises(MootError, match="Interrupted"):
            await work
        debate = await sitting.debate()
        assert (debate.stop, debate.stops_withdrawn) == (None, expected)
        assert debate.status is Status.RUNNING

    sitting.provider = ScriptedProvider()
    debate = await sitting.go_on()
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert not debate.verdict.partial
    assert debate.tally, "it was held to its normal end"


@pytest.mark.leaping
async def test_where_no_model_was_ever_reached_the_debate_is_left_and_can_be_taken_up() -> None:
    down = ScriptedProvider(lambda _: ProviderDown("The connection failed."))
    sitting = Sitting(down, LoopClock())
    work = await sitting.start()

    with pytest.raises(ModelsAway, match="No model can be reached"):
        await work
    debate = await sitting.debate()
    assert debate.status is Status.RUNNING
    assert debate.outage_at
    waited = (sitting.clock.now() - debate.outage_at).total_seconds()
    assert waited < debate.setup.limits.turn_seconds / 2, "its address may be wrong"

    sitting.provider = ScriptedProvider()
    assert (await sitting.go_on()).status is Status.CONCLUDED


async def test_a_paused_debate_goes_on_when_it_is_taken_up_here() -> None:
    sitting = Sitting(ScriptedProvider())
    paused = DebatePaused(by=Person(id="U1"), origin="click")
    clock = SystemClock()
    started = DebateStarted(setup=a_setup(rounds=1))
    await sitting.store.create(DEBATE, started, origin="test", at=clock.now())
    await sitting.store.append(DEBATE, paused, at=clock.now())

    debate = await (await sitting.start())

    assert debate.status is Status.CONCLUDED
