"""No turn that failed is ever offered again, whatever its act: else a debate would spin."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.contributions import Failure, FailureCause
from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.setup import Setup
from core.debate.state import Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.llm.call import ModelCalls
from core.request import ModelRequest
from core.rules import schedule
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.testing import RecordingSink, ScriptedProvider, a_setup, plausible_reply
from core.transcript.record import record_json
from tests.core.bench import DEBATE, Bench
from tests.core.dice import Luck, Play, setups

KEY_GONE = "The provider 'scripted' is not set up: is its key missing?"


class Ruin(Play):
    """A play in which turns of any act fail, for any cause."""

    def outcome(self, turn: Turn) -> Event:
        if self.dice.random() < self.luck.failing:
            cause = self.dice.choice(list(FailureCause))
            return TurnFailed(failure=Failure(turn=turn, reason="It is down.", cause=cause))
        return super().outcome(turn)


ruinous = st.builds(
    Luck,
    seed=st.integers(0, 2**32),
    failing=st.sampled_from([0.02, 0.1, 0.5, 1.0]),
    disturbed=st.sampled_from([0.0, 0.05]),
)


@settings(max_examples=80)
@given(setups, ruinous)
def test_a_turn_that_failed_is_never_ready_again_and_the_debate_ends(
    setup: Setup, luck: Luck
) -> None:
    play = Ruin(setup, luck)
    for _ in range(2000):
        going_on = play.step()
        again = [turn.key for turn in schedule.ready(play.debate) if _has_failed(play, turn)]

        assert again == []
        if not going_on:
            break

    assert play.debate.status is not Status.RUNNING
    assert play.debate.verdict or play.debate.failure


def _has_failed(play: Play, turn: Turn) -> bool:
    return turn.key in play.debate.failures


@asynccontextmanager
async def a_debate_interrupted_at(act: Act, path: Path) -> AsyncGenerator[SqlDebateStore]:
    """A file with a debate whose process died while this act was under way."""
    clock = SystemClock()
    location = f"sqlite+aiosqlite:///{path / 'moot.db'}"
    async with await Database.open(location) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        event = DebateStarted(setup=a_setup(rounds=1))
        await store.create(DEBATE, event, origin="trigger-1", at=clock.now())
        provider = ScriptedProvider(latency=0.02)
        running = asyncio.create_task(engine_with(store, {"scripted": provider}).run(DEBATE))
        await provider.wait_until_asked(act)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        yield store


def engine_with(store: SqlDebateStore, providers: Mapping[str, ScriptedProvider]) -> Engine:
    clock = SystemClock()
    calls = ModelCalls(providers, clock)
    return Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)


@pytest.mark.parametrize("act", [Act.CRITIQUE, Act.BALLOT, Act.SYNTHESIS])
async def test_a_restart_without_the_key_ends_the_debate_with_what_it_has(
    act: Act, tmp_path: Path
) -> None:
    async with a_debate_interrupted_at(act, tmp_path) as store:
        async with asyncio.timeout(300):
            debate = await engine_with(store, {}).run(DEBATE)
        log = await store.events(DEBATE)

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    assert f"The judge failed: {KEY_GONE}" in debate.verdict.warnings
    assert not debate.has_failed(Act.SYNTHESIS)
    assert len(log) < 40


async def test_what_neither_database_nor_record_can_hold_is_taken_out_of_replies() -> None:
    def script(request: ModelRequest) -> str:
        odd = "Use\0 it \ud800now."
        return odd if request.act is Act.PROPOSAL else plausible_reply(request)

    bench = Bench(ScriptedProvider(script))
    debate = await bench.run(a_setup(rounds=1))

    proposals = [m.text for m in debate.contributions.values() if m.turn.act is Act.PROPOSAL]
    assert set(proposals) == {"Use it \ufffdnow."}
    assert "Use it \ufffdnow." in record_json(await bench.store.events(debate.id))
