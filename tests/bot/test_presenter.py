"""People see each thing once, in an order that reads well, whatever order turns end in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presenter.posts import posts_of, turn_of
from bot.presenter.reading_order import ReadingPosition, release_after
from bot.presenter.sink import Presenter
from bot.queue.rows import DebateProgress, NewPost
from bot.slack.ids import (
    board_key,
    headline_key,
    pin_key,
    report_key,
    vote_key,
)
from bot.views.progress import is_shown, order, post_key, turn_group
from core.debate.debate_events import DebateStarted, TimeRanOut
from core.debate.log import RecordedEvent, apply, fold
from core.debate.people import Person
from core.debate.people_events import DebatePaused, DebateWanted
from core.debate.rules import When
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import StoreDown
from core.rules.formats.registry import format_of
from core.testing import a_setup
from tests.bot.golden_debates import LogInMemory, shown
from tests.bot.plays import DEBATE_ID, Choose, a_log, play

SETUP = a_setup()


@st.composite
def logs(draw: st.DrawFn) -> list[RecordedEvent]:
    """Whole debates: turns end in any order, some fail, people interfere."""
    choose: Choose = lambda most: draw(st.integers(0, most - 1))  # noqa: E731 - binds `draw`
    agents = draw(st.sampled_from([("architect", "security"), ("architect", "data", "security")]))
    form = draw(st.sampled_from(["critique", "critique", "council", "panel"]))
    setup = a_setup(agents=agents, rounds=draw(st.integers(1, 3)))
    setup = setup.model_copy(update={"format": form})
    return play(setup, choose, most_failures=draw(st.integers(0, 3)))


def keys_of(log: Sequence[RecordedEvent], released: Sequence[RecordedEvent]) -> list[str]:
    debate = fold(log)
    return [post.key for event in released for post in posts_of(debate, event)]


class Queue:
    """A post queue in memory, with the contract of the real one; fails when told to."""

    def __init__(self) -> None:
        self.sent: dict[str, NewPost] = {}
        #: The newest event that living posts are to show, and those that people wait for.
        self.progress = list[DebateProgress]()
        self.down = False

    async def post(self, posts: Sequence[NewPost], progress: DebateProgress | None = None) -> None:
        if self.down:
            raise StoreDown
        for post in posts:
            self.sent.setdefault(post.key, post)
        if progress:
            self.progress.append(progress)


async def publish(presenter: Presenter, log: Sequence[RecordedEvent], start: int, end: int) -> None:
    debate = None
    for number in range(end):
        debate = apply(debate, log[number])
        if number >= start:
            await presenter.publish(debate, log[number])


# --- reading order --------------------------------------------------------------------------------


def released(log: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
    """The events of a log whose posts are out at its end, in reading order."""
    position, events = ReadingPosition(), list[RecordedEvent]()
    for recorded in log:
        reached = release_after(position, apply(position.debate, recorded), recorded)
        position = reached.position
        events += [event for group in reached.groups for event in group]
    return events


def ballot_ranks(log: Sequence[RecordedEvent]) -> list[tuple[tuple[int, int], int]]:
    """Phase and number in the log of all that people read, as released; agents read summaries."""
    debate = fold(log)
    return [
        (order(debate, turn), event.seq)
        for event in released(log)
        if (turn := turn_of(event)) and turn.act is not Act.SUMMARY
    ]


@given(logs())
def test_at_the_end_everything_is_released_once(log: list[RecordedEvent]):
    assert sorted(event.seq for event in released(log)) == [event.seq for event in log]


@given(logs(), st.data())
def test_a_released_post_stays_after_later_events(log: list[RecordedEvent], data: st.DataObject):
    cut = data.draw(st.integers(1, len(log)))
    early, late = released(log[:cut]), released(log)
    assert late[: len(early)] == early


@given(logs())
def test_inside_a_phase_posts_come_in_the_order_of_the_log(log: list[RecordedEvent]):
    turns = ballot_ranks(log)
    assert turns == sorted(turns)


def test_a_pause_lets_nothing_jump_the_queue():
    begun = play(SETUP)
    critique = next(e.event for e in begun if "r1/critique" in e.event.key)
    early = [begun[1].event, begun[2].event, critique]
    paused = DebatePaused(by=Person(id="U1"), origin="t1")
    log = a_log([SETUP_EVENT, *early, paused])
    assert [event.seq for event in released(log)] == [1, 2, 3, 5]


SETUP_EVENT = play(SETUP)[0].event


# --- the sink -------------------------------------------------------------------------------------


async def queued(log: Sequence[RecordedEvent], *parts: tuple[int, int]) -> Queue:
    """What presenters queue that were told of these parts of a log, one after the other."""
    queue = Queue()
    for start, end in parts:
        await publish(Presenter(queue, LogInMemory(log)), log, start, end)
    return queue


async def whole_however_restarted(log: Sequence[RecordedEvent], data: st.DataObject) -> Queue:
    """What is queued of a log; the same posts in the same order, wherever it is begun anew."""
    parts, place = list[tuple[int, int]](), 0
    for _ in range(3):
        first = data.draw(st.integers(0, place))
        place = data.draw(st.integers(place, len(log)))
        parts.append((first, place))
    whole, again = await queued(log, (0, len(log))), await queued(log, *parts, (place, len(log)))
    assert list(again.sent.items()) == list(whole.sent.items())
    assert again.progress[-1] == whole.progress[-1]
    return whole


@given(logs(), st.data())
async def test_a_restart_anywhere_gives_the_same_posts_in_the_same_order(
    log: list[RecordedEvent], data: st.DataObject
):
    await whole_however_restarted(log, data)


@given(st.data())
async def test_what_is_debated_anyway_is_posted_once_wherever_it_is_restarted(data: st.DataObject):
    await whole_however_restarted(SKIPPED, data)


@given(logs(), st.data())
async def test_a_quiet_debate_has_all_that_was_said_once_wherever_it_is_restarted(
    log: list[RecordedEvent], data: st.DataObject
):
    started = cast("DebateStarted", log[0].event)
    quiet = started.setup.model_copy(update={"quiet": True})
    log = [replace(log[0], event=DebateStarted(setup=quiet)), *log[1:]]
    events, debate = released(log), fold(log)
    assert sorted(event.seq for event in events) == [event.seq for event in log]
    places = [
        turn_group(debate, turn)
        for event in events
        if (turn := turn_of(event)) and turn.act in format_of(debate).phases
    ]
    assert places == sorted(places)
    whole = await whole_however_restarted(log, data)
    # Wherever a link to a turn leads, there is a post.
    spoken = [
        contribution.turn
        for contribution in debate.contributions.values()
        if is_shown(contribution)
    ]
    assert {post_key(debate, turn) for turn in spoken} <= set(whole.sent)
    agents_posts = {key for key in whole.sent if f"{DEBATE_ID}/r" in key and key.endswith("/0")}
    assert len(agents_posts) <= len({(turn_group(debate, t), t.agent) for t in spoken})


SKIPPED = play(a_setup().model_copy(update={"when": When.SPLIT}), reopens=True)


async def test_a_second_verdict_has_other_keys_and_replaces_the_first():
    queue = await queued(SKIPPED, (0, len(SKIPPED)))
    for key in (vote_key, headline_key, report_key):
        assert {key(DEBATE_ID), key(DEBATE_ID, 2)} <= set(queue.sent)
    for key in (vote_key, headline_key):
        old = await shown(SKIPPED, queue.sent[key(DEBATE_ID)])
        new = await shown(SKIPPED, queue.sent[key(DEBATE_ID, 2)])
        assert "Counts no more" in old["text"]
        assert "actions" not in str([block["type"] for block in old["blocks"]])
        assert "Counts no more" not in new["text"]
    at = next(n for n, entry in enumerate(SKIPPED) if isinstance(entry.event, DebateWanted))
    reopened = await shown(SKIPPED[: at + 1], queue.sent[board_key(DEBATE_ID)])
    assert reopened["text"].startswith("Debate running")
    pin = queue.sent[pin_key(DEBATE_ID)]
    states = [await shown(SKIPPED[:end], pin) for end in (at, at + 1, len(SKIPPED))]
    assert states == [{"pinned": False}, {"pinned": True}, {"pinned": False}]


async def test_an_end_recorded_after_a_person_asked_for_the_debate_is_not_posted():
    at = next(n for n, entry in enumerate(SKIPPED) if isinstance(entry.event, DebateWanted))
    verdict_at = at - 2
    events = [entry.event for entry in SKIPPED[: at + 1]]
    # The judge, the end and the person came in another order.
    overtaken = [*events[:verdict_at], events[at], events[verdict_at], events[at - 1]]
    log = a_log(overtaken)
    queue = await queued(log, (0, len(log)))
    assert fold(log).status is Status.RUNNING
    assert not {headline_key(DEBATE_ID), report_key(DEBATE_ID)} & set(queue.sent)
    board = await shown(log, queue.sent[board_key(DEBATE_ID)])
    assert board["text"].startswith("Debate running")


async def test_an_event_that_could_not_be_queued_is_queued_when_it_comes_again():
    log, queue = play(SETUP), Queue()
    presenter = Presenter(queue, LogInMemory(log))
    await publish(presenter, log, 0, 3)
    queue.down = True
    with pytest.raises(StoreDown):
        await publish(presenter, log, 3, 4)
    queue.down = False
    await publish(presenter, log, 3, len(log))
    ending = {report_key(DEBATE_ID)}
    assert {*keys_of(log, released(log)), *ending} == set(queue.sent)


async def test_each_event_is_shown_by_living_posts_and_some_soon():
    log = play(SETUP)
    queue = await queued(log, (0, len(log)))
    assert [progress.seq for progress in queue.progress] == [event.seq for event in log]
    hurried = {
        event.event.kind: set(progress.hurried)
        for event, progress in zip(log, queue.progress, strict=True)
    }
    assert not hurried["contribution_made"]
    assert hurried["verdict_reached"] == {"board", "session"}


def test_an_outage_of_all_models_is_reported_in_the_thread():
    log = a_log([SETUP_EVENT, TimeRanOut(of_outage=True)])
    (post,) = posts_of(fold(log), log[-1])
    assert "No model could be reached for too long" in post.payload["text"]
