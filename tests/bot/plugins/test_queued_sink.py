"""A plugin's sink neither delays nor ends a debate, whatever it does."""

import asyncio
from collections.abc import Sequence

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


async def publish(times: int, *sinks: QueuedSink, main: RecordingSink | None = None) -> None:
    """Tell them the same event so many times, and wait until they heard."""
    feed = Sinks(main or RecordingSink(), *sinks)
    async with listening(sinks):
        for _ in range(times):
            await feed.publish(DEBATE, LOG[0])
            for sink in sinks:
                await sink.heard_all()


async def test_sinks_hear_events_and_turns_after_the_first_one_took_them() -> None:
    main, other = RecordingSink(), RecordingSink()
    queued = QueuedSink("other", other)
    feed = Sinks(main, queued)
    turns: Sequence[Turn] = (Turn.model_validate({"act": "ballot", "round": 1, "agent": "a"}),)

    async with listening([queued]):
        await feed.publish(DEBATE, LOG[0])
        await feed.turns_began(DEBATE, turns)

    assert other.events == main.events == [LOG[0]]
    assert other.began == main.began == [turns]
    assert other.debates == [DEBATE]


async def test_an_event_the_first_one_did_not_take_is_told_to_nobody() -> None:
    other = RecordingSink()
    queued = QueuedSink("other", other)

    async with listening([queued]):
        with pytest.raises(OSError, match="full"):
            await Sinks(Raising(OSError("full")), queued).publish(DEBATE, LOG[0])

    assert other.events == []


async def test_a_sink_that_raises_hears_the_next_event() -> None:
    sink = Raising(ValueError("no room"), ValueError("no room"), SystemExit("bye"))
    queued = QueuedSink("journal of moot-journal 1.0", sink)

    with capture_logs() as logs:
        await publish(4, queued)

    assert len(sink.events) == 4
    assert queued.fault == "it raised SystemExit"
    lines = [(log["event"], log["reason"]) for log in logs]
    assert lines == [
        ("plugin failed", "it raised ValueError"),
        ("plugin failed", "it raised ValueError"),
        ("plugin failed", "it raised SystemExit"),
    ]


async def test_a_sink_that_always_raises_costs_the_others_nothing() -> None:
    bad, good = Raising(*[ValueError("no")] * 99), RecordingSink()
    queued, other = QueuedSink("bad", bad), QueuedSink("good", good)

    await publish(15, queued, other)

    assert len(bad.events) == len(good.events) == 15


async def test_a_stuck_sink_holds_nobody_up_and_loses_what_does_not_fit() -> None:
    main, stuck = RecordingSink(), Stuck()
    queued = QueuedSink("stuck", stuck, room=3)
    feed = Sinks(main, queued)

    async with listening([queued]):
        for _ in range(10):
            await feed.publish(DEBATE, LOG[0])
        assert len(main.events) == 10
        stuck.go_on.set()

    assert queued.lost == 7
    assert len(stuck.events) == 3


async def test_a_sink_that_takes_too_long_is_given_up() -> None:
    stuck = Stuck()
    queued = QueuedSink("stuck", stuck, patience=0.001)

    await publish(1, queued)

    assert queued.fault == "it took longer than 0.001 s"
