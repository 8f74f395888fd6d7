"""Ctrl-C and questions at one debate, with real signals and a real event loop."""

import asyncio
import io
import os
import signal
from collections.abc import Callable

import pytest

from bot.terminal.progress import LineScreen, Progress
from bot.terminal.table import Table
from core.clock import SystemClock
from core.engine import Engine
from core.errors import MootError
from core.events import DebatePaused, DebateStarted, fold
from core.model_call import ModelCalls
from core.models import Act, Debate, Person, Status
from core.request import ModelReply, ModelRequest
from core.store.memory import InMemoryStore
from core.testing import ScriptedProvider, a_setup
from core.turns import Turns

DEBATE = "dabc2345"


class SlowAt(ScriptedProvider):
    """Never answers one act; `until_asked` tells when it was asked."""

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
    """A debate at a table whose model gets stuck."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider
        self.store = InMemoryStore()
        self.shown = io.StringIO()

    async def start(self) -> asyncio.Task[Debate]:
        clock, screen = SystemClock(), LineScreen(self.shown)
        started = DebateStarted(setup=a_setup(rounds=1))
        await self.store.create(DEBATE, started, origin="test", at=clock.now())
        calls = ModelCalls({"scripted": self.provider}, clock)
        engine = Engine(store=self.store, turns=Turns(calls), sink=Progress(screen), clock=clock)
        table = Table(DEBATE, engine=engine, store=self.store, clock=clock, screen=screen)
        return asyncio.create_task(table.hold())

    async def debate(self) -> Debate:
        return fold(await self.store.events(DEBATE))


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def test_ctrl_c_ends_with_a_partial_decision() -> None:
    sitting = Sitting(SlowAt(Act.CRITIQUE))
    work = await sitting.start()
    await sitting.provider.until_asked(Act.CRITIQUE)
    press_ctrl_c()
    debate = await work

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.partial
    assert "Stopping: the judge decides on what is there." in sitting.shown.getvalue()


async def test_a_second_ctrl_c_ends_at_once_and_the_record_is_kept() -> None:
    sitting = Sitting(SlowAt(Act.SYNTHESIS))
    work = await sitting.start()
    await sitting.provider.until_asked(Act.SYNTHESIS)
    press_ctrl_c()
    await asyncio.sleep(0.05)
    press_ctrl_c()

    with pytest.raises(MootError, match="Interrupted"):
        await work
    debate = await sitting.debate()
    assert debate.stop
    assert debate.status is Status.RUNNING
    assert len(debate.contributions) == 12


async def test_after_the_debate_ctrl_c_is_as_usual_again() -> None:
    sitting = Sitting(ScriptedProvider())
    await (await sitting.start())

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


async def test_a_paused_debate_goes_on_when_it_is_taken_up_here() -> None:
    sitting = Sitting(ScriptedProvider())
    paused = DebatePaused(by=Person(id="U1"), origin="click")
    clock = SystemClock()
    started = DebateStarted(setup=a_setup(rounds=1))
    await sitting.store.create(DEBATE, started, origin="test", at=clock.now())
    await sitting.store.append(DEBATE, paused, at=clock.now())

    debate = await (await sitting.start())

    assert debate.status is Status.CONCLUDED
