"""The engine with an in-memory log and scripted models: failures, stops, restarts, takeovers."""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime

import pytest

from core.acts.replies import first_sentence
from core.debate.debate_events import DebateFailed
from core.debate.log import Event, RecordedEvent, fold
from core.debate.people import Person, Stop
from core.debate.people_events import DebateWanted, FollowUpAsked, StopRequested
from core.debate.state import Status
from core.debate.turn import Act
from core.debate.turn_events import ContributionMade
from core.debate.verdict import FollowUp, VerdictSource
from core.errors import ProviderDown, ProviderError, RequestRejected, RunLost, StoreDown
from core.llm.call import CallOptions, ModelCalls, ModelRef
from core.ports import AppendResult, RunToken
from core.request import ModelReply, ModelRequest
from core.rules import schedule, voting
from core.rules.formats.registry import format_of
from core.testing import (
    InMemoryStore,
    ManualClock,
    ScriptedProvider,
    a_setup,
    on_own_models,
    plausible_reply,
)
from tests.core.bench import DEBATE, Bench
from tests.core.leaping_loop import LoopClock

pytestmark = pytest.mark.leaping

DANA = Person(id="U1", name="Dana")


async def test_a_follow_up_is_answered_though_the_reopened_debate_failed() -> None:
    bench = Bench()
    ended = await bench.run(a_setup(rounds=1))
    follow_up = FollowUp(id="f1", by=DANA, text="What does the architect say of the question?")
    events = (
        FollowUpAsked(question=follow_up),
        DebateWanted(by=DANA),
        DebateFailed(reason="No model could be asked.", edition=2),
    )
    for event in events:
        await bench.add(event)
    debate = await asyncio.wait_for(bench.engine.run(DEBATE), timeout=300)

    assert (debate.status, debate.verdict) == (Status.FAILED, None)
    answer = debate.follow_up_answers[1]
    assert "there is no verdict" in answer.fault
    assert "The architect says proposal" in answer.text
    assert debate.usage == ended.usage
    assert not schedule.ready(debate)


async def test_below_the_quorum_the_debate_ends_with_a_partial_verdict() -> None:
    def script(request: ModelRequest) -> str | ProviderError:
        if request.role in {"security", "simplicity"}:
            return RequestRejected("The request is refused.")
        return plausible_reply(request)

    bench = Bench(ScriptedProvider(script))
    debate = await bench.run()

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.partial
    assert not bench.provider.requests_of(Act.REFINEMENT)


@pytest.mark.parametrize("reply", ["Just use files.", 'Here it is: {"decision": "Use'])
async def test_an_unreadable_verdict_is_replaced_by_the_winning_position(reply: str) -> None:
    def script(request: ModelRequest) -> str:
        return reply if request.act is Act.SYNTHESIS else plausible_reply(request)

    debate = await Bench(ScriptedProvider(script)).run()

    reached, tally = debate.verdict, debate.tally
    assert reached
    assert tally
    assert reached.source is VerdictSource.WINNER
    best = format_of(debate).positions(debate)[voting.best_texts(tally)[0]]
    assert reached.decision == first_sentence(best.text)
    assert reached.warnings[0].startswith("No judge gave a verdict: this is the position of ")
    assert not reached.sections, "no part of the unreadable reply is used"


@pytest.mark.parametrize(
    ("changes", "is_mended", "asked", "abstained"),
    [
        ({"probabilities": [-850, 1, 0]}, True, 4, ""),
        ({"reasons": ["", " ", ""]}, False, 4, ""),
        ({"ranking": [], "reasons": ["No list."], "confidence": None}, False, 2, "No list."),
    ],
    ids=["mended", "not mended", "abstains"],
)
async def test_an_unreadable_ballot_gets_one_repair_and_an_abstention_none(
    changes: dict[str, object], asked: int, abstained: str, *, is_mended: bool
) -> None:
    def script(request: ModelRequest) -> str:
        reply = plausible_reply(request)
        if request.act is not Act.BALLOT or request.role != "security":
            return reply
        is_repair = any(part.label == "Repair" for part in request.parts)
        return reply if is_repair and is_mended else json.dumps(json.loads(reply) | changes)

    bench = Bench(ScriptedProvider(script))
    debate = await bench.run(a_setup(rounds=1))
    ballots = bench.provider.requests_of(Act.BALLOT)

    # Half of them for the blind ballot, half for the final one.
    assert sum(request.role == "security" for request in ballots) == asked
    assert debate.tally
    assert debate.tally.abstained == (() if is_mended else ("security",))
    reasons = {abstention.reason for abstention in debate.abstentions.values()}
    assert all(reason.startswith(abstained) for reason in reasons)
    assert not [reason for reason in reasons if "p1" in reason], "names, not labels"
    cast = [ballot for ballot in debate.ballots.values() if ballot.voter == "security"]
    shares = {"o1": 0.8, "o2": 0.1, "o3": 0.1}
    assert [ballot.probabilities for ballot in cast] == ([shares, shares] if is_mended else [])


class Line(InMemoryStore):
    """A store that takes half a second to write a contribution."""

    is_down = False

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        if isinstance(event, ContributionMade):
            await asyncio.sleep(0.5)
            if self.is_down:
                raise StoreDown("the disk is full")
        return await super().append(debate_id, event, at=at, run=run)


@pytest.mark.parametrize("is_down", [False, True])
async def test_contributions_being_written_at_a_stop_are_kept_if_possible_and_always_paid(
    *, is_down: bool
) -> None:
    store = Line()
    store.is_down = is_down
    bench = Bench(store=store)
    await bench.start(a_setup(rounds=1))
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    await bench.provider.wait_until_asked(Act.PROPOSAL, times=3)
    await asyncio.sleep(0.1)
    await bench.add(StopRequested(stop=Stop(by=DANA)))
    assert engine.wake(DEBATE)
    debate = await running

    assert len(debate.contributions) == (0 if is_down else 3)
    assert debate.usage.attempts == len(bench.provider.requests)


async def test_a_restart_repeats_no_recorded_call() -> None:
    first = Bench()
    await first.run(a_setup(rounds=1))
    log = await first.store.events(DEBATE)
    for length in range(1, len(log)):
        bench = Bench()
        await bench.start(a_setup(rounds=1))
        for recorded in log[1:length]:
            await bench.store.append(DEBATE, recorded.event, at=recorded.at)
        debate = await bench.engine.run(DEBATE)

        assert debate.status is Status.CONCLUDED
        recorded_calls = len(fold(log[:length]).calls)
        assert len(first.provider.requests) - recorded_calls == len(bench.provider.requests)


class TakenOver(ScriptedProvider):
    """During its first call another run takes the debate over, as after a freeze."""

    def __init__(self, store: InMemoryStore, clock: ManualClock, seconds: float) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._seconds = seconds

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        if len(self.requests) == 1:
            await self._store.claim(DEBATE)
            self._clock.advance(self._seconds)
        return reply


@pytest.mark.parametrize("seconds", [60, -60], ids=["frozen", "the clock was set back"])
async def test_a_frozen_run_makes_no_queued_call(seconds: float) -> None:
    store, clock = InMemoryStore(), ManualClock()
    bench = Bench(TakenOver(store, clock, seconds), store, clock=clock, parallel=1)

    with pytest.raises(RunLost):
        await bench.run()
    assert len(bench.provider.requests) == 1  # three agents were ready to speak


async def test_a_run_that_was_frozen_while_it_checked_its_claim_checks_again() -> None:
    clock, asked = ManualClock(), list[RunToken]()

    class TakenOverMeanwhile(InMemoryStore):
        async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
            clock.advance(2)  # the claim has expired
            return await super().all_events(debate_id, after=after)

        async def check_run(self, run: RunToken) -> None:
            asked.append(run)
            await super().check_run(run)
            if len(asked) == 1:
                clock.advance(60)
                await self.claim(DEBATE)

    bench = Bench(store=TakenOverMeanwhile(), clock=clock)

    with pytest.raises(RunLost):
        await bench.run()
    assert (len(asked) > 1, bench.provider.requests) == (True, [])


async def test_a_run_that_was_taken_over_stops_and_writes_nothing_more() -> None:
    bench = Bench(ScriptedProvider(latency=0.05))
    await bench.start()
    running = asyncio.create_task(bench.engine.run(DEBATE))
    await asyncio.sleep(0.01)
    await bench.store.claim(DEBATE)

    with pytest.raises(RunLost):
        await running
    assert len(await bench.store.events(DEBATE)) == 1


async def test_a_stop_does_not_repeat_the_judges_running_call() -> None:
    bench = Bench(ScriptedProvider(latency=0.02))
    await bench.start(a_setup(rounds=1))
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    await bench.provider.wait_until_asked(Act.SYNTHESIS)
    await bench.add(StopRequested(stop=Stop(by=DANA)))
    assert engine.wake(DEBATE)
    debate = await running

    assert debate.verdict
    assert len(bench.provider.requests_of(Act.SYNTHESIS)) == 1


async def test_a_hanging_call_is_cancelled_in_time_for_the_fallback() -> None:
    spare = ScriptedProvider(name="spare")
    calls = ModelCalls({"scripted": ScriptedProvider(latency=60), "spare": spare}, LoopClock())
    request = ModelRequest(
        model="slow-1", act=Act.PROPOSAL, role="architect", system="s", parts=(), delimiter="abcd"
    )
    terms = CallOptions(seconds=1.0, fallbacks=(ModelRef("spare", "quick-1"),))
    _, call = await calls.ask(request, a_setup().agents[0], terms)
    assert (call.provider, call.model, len(spare.requests)) == ("spare", "quick-1", 1)


async def test_an_outage_of_a_model_is_recorded_once_for_all_its_turns() -> None:
    asked = 0

    def script(request: ModelRequest) -> str | ProviderError:
        nonlocal asked
        if request.act is Act.CRITIQUE and request.role == "security":
            asked += 1
            if asked <= 4:  # two turns at the same time, and once more
                return ProviderDown("It does not answer.")
        return plausible_reply(request)

    bench = Bench(ScriptedProvider(script, latency=10))
    await bench.run(on_own_models(a_setup(rounds=1)))

    kinds = [entry.event.kind for entry in await bench.store.events(DEBATE)]
    assert (kinds.count("model_went_away"), kinds.count("model_came_back")) == (1, 1)
