"""The queue itself: what happens when receivers, debates or other processes misbehave."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.landing.receivers import LandedRecord, Landing
from bot.queue.rows import PostState
from bot.store.purging import purge_traces
from core.debate.debate_events import DebateConcluded
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from tests.bot.landing.office import FIRST, SECOND, open_office


async def _nothing(landing: Landing) -> None:
    """Take it."""


@dataclass
class Desk:
    """A receiver that wants to know of the end of debates."""

    name: str = "desk"
    failure_text: str = "The desk is empty."
    #: Done when something comes.
    act: Callable[[Landing], Awaitable[None]] = _nothing
    got: list[str] = field(default_factory=list[str])

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        del debate
        return isinstance(recorded.event, DebateConcluded)

    async def check(self) -> str:
        return "is there"

    async def deliver(self, landing: Landing) -> LandedRecord:
        self.got.append(landing.debate.id)
        await self.act(landing)
        return LandedRecord(place="here")


@pytest.fixture
def location(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/moot.db"


async def test_a_failing_receiver_is_retried_and_does_not_delay_others(
    location: str,
) -> None:
    async def fail(_landing: Landing) -> None:
        if len(broken.got) < 3:
            raise ZeroDivisionError

    broken, other = Desk(act=fail), Desk("other")
    async with open_office([broken, other], location) as office:
        await office.debated()
        await office.settle()
        # What is published again is not sent again.
        log = await office.store.events(FIRST)
        await office.queue.publish(fold(log), log[-1])
        await office.settle()

    assert broken.got == [FIRST] * 3
    assert other.got == [FIRST]
    why = "It failed unexpectedly (ZeroDivisionError); see the log."
    assert office.failures == [(why, 60)]
    assert len(office.landed) == 2


async def test_a_debate_that_is_deleted_meanwhile_holds_up_no_other(location: str) -> None:
    async def delete(landing: Landing) -> None:
        if landing.debate.id == FIRST:
            await office.database.write(lambda connection: purge_traces(connection, [FIRST]))

    desk = Desk(act=delete)
    async with open_office([desk], location) as office:
        await office.debated()
        await office.debated(debate_id=SECOND)
        await office.settle()

    assert desk.got == [FIRST, SECOND]
    assert office.outcomes == ["landed"]


async def test_what_another_process_has_taken_over_is_left_to_it(location: str) -> None:
    async def lose(_landing: Landing) -> None:
        row = await office.landings.next_for("landing/desk")
        assert row
        await office.queue.outbox.posts.claim(row, "this")
        is_taken.set()

    desk, is_taken = Desk(act=lose), asyncio.Event()
    async with open_office([desk], location) as office:
        await office.debated()
        await asyncio.wait_for(is_taken.wait(), 300)
        await office.queue.outbox.close()  # it has seen by then whether it may write
        row = await office.landings.next_for("landing/desk")

    assert row
    assert row.state is PostState.SENDING, "the other one's attempt stands"
    assert office.outcomes == []


async def test_after_a_restore_another_event_of_the_same_number_has_another_id(
    location: str,
) -> None:
    ids = set[str]()

    async def note(landing: Landing) -> None:
        ids.add(landing.id)

    for seconds in (0, 3600):  # the log went on from a backup, an hour later
        async with open_office([Desk(act=note)], f"{location}{seconds}") as office:
            office.clock.advance(seconds)
            await office.debated()
            await office.settle()

    assert len(ids) == 2
