"""A plugin's sink neither delays nor ends a debate, whatever it does."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.plugins.queued_sink import QueuedSink, listening
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.debate.turn import Turn
from core.telling import Sinks
from core.testing import RecordingSink, a_setup, log_of

LOG = log_of([DebateStarted(setup=a_setup())])
DEBATE = fold(LOG)


class Raising(RecordingSink):
    """Hears everything, then raises."""

    def __init__(self, *errors: BaseException) -> None:
        super().__init__()
        self._errors = list(errors)

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        await super().publish(debate, recorded)
        if self._errors:
            raise self._errors.pop(0)


class Stuck(RecordingSink):
    """Never returns until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        await self.go_on.wait()
        await super().publish(debate, recorded)


async def test_sinks_hear_what_the_first_one_took_and_nothing_else() -> None:
    main, other = RecordingSink(), RecordingSink()
    queued = QueuedSink("other", other)
    turns = (Turn.model_validate({"act": "ballot", "round": 1, "agent": "a"}),)

    async with listening([queued]):
        await Sinks(main, queued).publish(DEBATE, LOG[0])
        await Sinks(main, queued).turns_began(DEBATE, turns)
        with pytest.raises(OSError, match="full"):
            await Sinks(Raising(OSError("full")), queued).publish(DEBATE, LOG[0])

    assert other.events == main.events == [LOG[0]]
    assert other.began == main.began == [turns]
    assert other.debates == [DEBATE]


async def test_a_sink_that_raises_hears_the_next_event_and_costs_the_others_nothing() -> None:
    bad, good = Raising(*[ValueError("no room")] * 2, SystemExit("bye")), RecordingSink()
    queued, other = QueuedSink("journal of moot-journal 1.0", bad), QueuedSink("good", good)

    with capture_logs() as logs:
        async with listening([queued, other]):
            for _ in range(4):
                await Sinks(RecordingSink(), queued, other).publish(DEBATE, LOG[0])

    assert len(bad.events) == len(good.events) == 4
    assert queued.fault == "it raised SystemExit"
    reasons = [log["reason"] for log in logs if log["event"] == "plugin failed"]
    assert reasons == ["it raised ValueError"] * 2 + ["it raised SystemExit"]


async def test_a_stuck_sink_holds_nobody_up_and_loses_what_does_not_fit() -> None:
    main, stuck = RecordingSink(), Stuck()
    queued = QueuedSink("stuck", stuck, room=3)

    async with listening([queued]):
        for _ in range(10):
            await Sinks(main, queued).publish(DEBATE, LOG[0])
        assert len(main.events) == 10
        stuck.go_on.set()

    assert queued.lost == 7
    assert len(stuck.events) == 3


async def test_a_sink_that_takes_too_long_is_given_up() -> None:
    queued = QueuedSink("stuck", Stuck(), patience=0.001)
    async with listening([queued]):
        await queued.publish(DEBATE, LOG[0])
        await queued.heard_all()
    assert queued.fault == "it took longer than 0.001 s"
