"""People see each thing once, in an order that reads well, whatever order turns end in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presenter.living import LivingPosts
from bot.presenter.post import ViewOptions
from bot.presenter.posts import posts_of, turn_of
from bot.presenter.reading_order import ReadingPosition, release_after, release_all
from bot.presenter.sink import Presenter
from bot.queue.rows import DebateProgress, NewPost, PostRow, PostState
from bot.slack.ids import (
    addressed,
    board_key,
    headline_key,
    pin_key,
    report_key,
    turn_key,
    vote_key,
)
from bot.views.board import BoardAction
from bot.views.progress import order
from bot.views.turn_groups import group_of, is_shown, post_key
from core.errors import DebateUnknown, StoreDown
from core.events import (
    ContributionMade,
    DebateConcluded,
    DebateContinued,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    DebateWanted,
    GatePassed,
    NoteAdded,
    OutageBegan,
    OutageEnded,
    Recorded,
    StopRequested,
    TimeRanOut,
    TurnFailed,
    VerdictReached,
    VoteCalled,
    VoteTallied,
    apply,
    fold,
)
from core.models import (
    ENGINE,
    Act,
    Contribution,
    Failure,
    Gate,
    GateReason,
    Note,
    Person,
    Place,
    Status,
    Stop,
    Turn,
    When,
)
from core.rules.formats.registry import format_of
from core.testing import a_setup
from core.use_cases.choices import ChannelChoices
from tests.bot.plays import DEBATE_ID, Choose, a_debate, a_log, a_verdict, play

SETUP = a_setup()


@st.composite
def logs(draw: st.DrawFn) -> list[Recorded]:
    """Whole debates: turns end in any order, some fail, people interfere."""
    choose: Choose = lambda most: draw(st.integers(0, most - 1))  # noqa: E731 - binds `draw`
    agents = draw(st.sampled_from([("architect", "security"), ("architect", "data", "security")]))
    form = draw(st.sampled_from(["critique", "critique", "council", "panel"]))
    setup = a_setup(agents=agents, rounds=draw(st.integers(1, 3)))
    setup = setup.model_copy(update={"format": form})
    return play(setup, choose, most_failures=draw(st.integers(0, 3)))


def keys_of(log: Sequence[Recorded], released: Sequence[Recorded]) -> list[str]:
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


async def shown(log: Sequence[Recorded], post: NewPost, **facts: Any) -> Mapping[str, Any]:
    """What a living post shows at the end of a log."""
    values: dict[str, Any] = vars(post)
    row = PostRow(
        **values,
        id=1,
        state=PostState.SENT,
        owner=None,
        attempted_at=None,
        attempts=1,
        ts=None,
        error=None,
    )
    living = LivingPosts(Log(log), ViewOptions(enabled=set(BoardAction)), **facts)
    return (await living.render([row])).contents[post.key]


class Log:
    """The log of one debate, as a store gives it."""

    def __init__(self, log: Sequence[Recorded]) -> None:
        self._log = log
        self.reads = 0

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        self.reads += 1
        assert {event.debate_id for event in self._log} <= {debate_id}
        if not self._log:
            raise DebateUnknown(f"There is no debate {debate_id}.")
        return [event for event in self._log if event.seq > after]


async def publish(presenter: Presenter, log: Sequence[Recorded], start: int, end: int) -> None:
    debate = None
    for number in range(end):
        debate = apply(debate, log[number])
        if number >= start:
            await presenter.publish(debate, log[number])


# --- reading order --------------------------------------------------------------------------------


def places_of(log: Sequence[Recorded]) -> list[tuple[tuple[int, int], int]]:
    """Phase and number in the log of all that people read, as released; agents read summaries."""
    debate = fold(log)
    return [
        (order(debate, turn), event.seq)
        for event in release_all(log).released
        if (turn := turn_of(event)) and turn.act is not Act.SUMMARY
    ]


@given(logs())
def test_phases_are_read_one_after_the_other(log: list[Recorded]):
    places = [place for place, _ in places_of(log)]
    assert places == sorted(places)


@given(logs())
def test_at_the_end_everything_is_released_once(log: list[Recorded]):
    reached = release_all(log)
    assert sorted(event.seq for event in reached.released) == [event.seq for event in log]
    assert not reached.position.held


@given(logs(), st.data())
def test_what_was_released_stays_whatever_comes_later(log: list[Recorded], data: st.DataObject):
    cut = data.draw(st.integers(1, len(log)))
    early, late = release_all(log[:cut]).released, release_all(log).released
    assert late[: len(early)] == early


@given(logs())
def test_inside_a_phase_posts_come_in_the_order_of_the_log(log: list[Recorded]):
    turns = places_of(log)
    assert turns == sorted(turns)


@given(logs())
def test_no_post_is_made_of_a_summary(log: list[Recorded]):
    debate = fold(log)
    turns = [(turn_of(event), event) for event in log]
    summaries = [event for turn, event in turns if turn and turn.act is Act.SUMMARY]
    assert not [post for event in summaries for post in posts_of(debate, event)]


def test_a_critique_waits_for_the_last_proposal_and_a_note_does_not():
    def said(act: Act, agent: str, target: str | None = None) -> ContributionMade:
        turn = Turn(act=act, round=1, agent=agent, target=target)
        return ContributionMade(contribution=Contribution(turn=turn, text="Words."))

    begun = [
        said(Act.PROPOSAL, "architect"),
        said(Act.PROPOSAL, "security"),
        said(Act.CRITIQUE, "architect", "security"),
        NoteAdded(note=Note(id="C1:1.1", author=Person(id="U1"), text="Hm.")),
    ]
    log = [*play(SETUP)[:1], *a_log([SETUP_EVENT, *begun])[1:]]
    assert [event.seq for event in release_all(log).released] == [1, 2, 3, 5]
    log = a_log([SETUP_EVENT, *begun, said(Act.PROPOSAL, "simplicity")])
    assert [event.seq for event in release_all(log).released] == [1, 2, 3, 5, 6, 4]


def test_a_pause_lets_nothing_jump_the_queue():
    begun = play(SETUP)
    critique = next(e.event for e in begun if "r1/critique" in e.event.key)
    early = [begun[1].event, begun[2].event, critique]
    paused = DebatePaused(by=Person(id="U1"), origin="t1")
    log = a_log([SETUP_EVENT, *early, paused])
    assert [event.seq for event in release_all(log).released] == [1, 2, 3, 5]


SETUP_EVENT = play(SETUP)[0].event


# --- the sink -------------------------------------------------------------------------------------


@given(logs(), st.data())
async def test_a_restart_anywhere_gives_the_same_posts_in_the_same_order(
    log: list[Recorded], data: st.DataObject
):
    whole, parts = Queue(), Queue()
    await publish(Presenter(whole, Log(log)), log, 0, len(log))
    done = 0
    for _ in range(3):
        first = data.draw(st.integers(0, done))
        done = data.draw(st.integers(done, len(log)))
        await publish(Presenter(parts, Log(log)), log, first, done)
    await publish(Presenter(parts, Log(log)), log, done, len(log))
    assert list(parts.sent.items()) == list(whole.sent.items())
    assert parts.progress[-1] == whole.progress[-1]


async def test_of_a_debate_nothing_is_kept_while_it_waits_for_people():
    begun = [recorded.event for recorded in play(SETUP)]
    paused = DebatePaused(by=Person(id="U1"), origin="t1")
    resumed = DebateResumed(by=Person(id="U1"), origin="t2")
    events = a_log([*begun[:4], paused, resumed, *begun[4:]])
    log = Log(events)
    presenter = Presenter(Queue(), log)
    await publish(presenter, events, 0, 5)
    assert log.reads == 0
    await publish(presenter, events, 5, 6)
    assert log.reads == 1
    await publish(presenter, events, 6, 9)
    assert log.reads == 1


@given(logs(), st.data())
async def test_a_quiet_debate_has_all_that_was_said_once_wherever_it_is_restarted(
    log: list[Recorded], data: st.DataObject
):
    started = cast("DebateStarted", log[0].event)
    quiet = started.setup.model_copy(update={"quiet": True})
    log = [replace(log[0], event=DebateStarted(setup=quiet)), *log[1:]]
    reached, debate = release_all(log), fold(log)
    assert sorted(event.seq for event in reached.released) == [event.seq for event in log]
    places = [
        group_of(debate, turn)
        for event in reached.released
        if (turn := turn_of(event)) and turn.act in format_of(debate).phases
    ]
    assert places == sorted(places)
    whole, parts = Queue(), Queue()
    await publish(Presenter(whole, Log(log)), log, 0, len(log))
    cut = data.draw(st.integers(0, len(log)))
    await publish(Presenter(parts, Log(log)), log, 0, cut)
    again = data.draw(st.integers(0, cut))
    await publish(Presenter(parts, Log(log)), log, again, len(log))
    assert list(parts.sent.items()) == list(whole.sent.items())
    # Wherever a link to a turn leads, there is a post.
    spoken = [made.turn for made in debate.contributions.values() if is_shown(made)]
    assert {post_key(debate, turn) for turn in spoken} <= set(whole.sent)
    agents_posts = {key for key in whole.sent if f"{DEBATE_ID}/r" in key and key.endswith("/0")}
    assert len(agents_posts) <= len({(group_of(debate, t), t.agent) for t in spoken})


SKIPPED = play(a_setup().model_copy(update={"when": When.SPLIT}), wanted=True)


@given(st.data())
async def test_what_is_debated_anyway_is_posted_once_wherever_it_is_restarted(data: st.DataObject):
    whole, parts = Queue(), Queue()
    await publish(Presenter(whole, Log(SKIPPED)), SKIPPED, 0, len(SKIPPED))
    cut = data.draw(st.integers(0, len(SKIPPED)))
    await publish(Presenter(parts, Log(SKIPPED)), SKIPPED, 0, cut)
    again = data.draw(st.integers(0, cut))
    await publish(Presenter(parts, Log(SKIPPED)), SKIPPED, again, len(SKIPPED))
    assert list(parts.sent.items()) == list(whole.sent.items())
    assert parts.progress[-1] == whole.progress[-1]


async def test_a_second_verdict_has_keys_of_its_own_and_the_first_counts_no_more():
    queue = Queue()
    await publish(Presenter(queue, Log(SKIPPED)), SKIPPED, 0, len(SKIPPED))
    for key in (vote_key, headline_key, report_key):
        assert {key(DEBATE_ID), key(DEBATE_ID, 2)} <= set(queue.sent)
    for key in (vote_key, headline_key):
        old = await shown(SKIPPED, queue.sent[key(DEBATE_ID)])
        new = await shown(SKIPPED, queue.sent[key(DEBATE_ID, 2)])
        assert "Counts no more" in old["text"]
        assert "actions" not in str([block["type"] for block in old["blocks"]])
        assert "Counts no more" not in new["text"]
    wanted = next(n for n, one in enumerate(SKIPPED) if isinstance(one.event, DebateWanted))
    reopened = await shown(SKIPPED[: wanted + 1], queue.sent[board_key(DEBATE_ID)])
    assert reopened["text"].startswith("Debate running")
    pin = queue.sent[pin_key(DEBATE_ID)]
    states = [await shown(SKIPPED[:end], pin) for end in (wanted, wanted + 1, len(SKIPPED))]
    assert states == [{"pinned": False}, {"pinned": True}, {"pinned": False}]


async def test_an_end_that_was_overtaken_is_told_to_nobody():
    wanted = next(n for n, one in enumerate(SKIPPED) if isinstance(one.event, DebateWanted))
    verdict_at = wanted - 2
    events = [one.event for one in SKIPPED[: wanted + 1]]
    # The judge, the end and the person came in another order.
    overtaken = [*events[:verdict_at], events[wanted], events[verdict_at], events[wanted - 1]]
    log, queue = a_log(overtaken), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, len(log))
    assert fold(log).status is Status.RUNNING
    assert not {headline_key(DEBATE_ID), report_key(DEBATE_ID)} & set(queue.sent)
    board = await shown(log, queue.sent[board_key(DEBATE_ID)])
    assert board["text"].startswith("Debate running")


async def test_publishing_twice_queues_nothing_new():
    log, queue = play(SETUP), Queue()
    presenter = Presenter(queue, Log(log))
    await publish(presenter, log, 0, len(log))
    before = dict(queue.sent)
    await publish(presenter, log, 0, len(log))
    assert queue.sent == before


async def test_an_event_that_could_not_be_queued_is_queued_when_it_comes_again():
    log, queue = play(SETUP), Queue()
    presenter = Presenter(queue, Log(log))
    await publish(presenter, log, 0, 3)
    queue.down = True
    with pytest.raises(StoreDown):
        await publish(presenter, log, 3, 4)
    queue.down = False
    await publish(presenter, log, 3, len(log))
    ending = {report_key(DEBATE_ID)}
    assert {*keys_of(log, release_all(log).released), *ending} == set(queue.sent)


async def test_the_first_posts_are_the_board_its_pin_and_its_session():
    log, queue = play(SETUP), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, 1)
    board, pin, session = queue.sent.values()
    assert (board.key, board.method, board.thread_key) == (board_key(DEBATE_ID), "post", None)
    assert (board.workspace, board.channel, board.debate_id) == ("T1", "C1", DEBATE_ID)
    assert (pin.method, pin.thread_key) == ("pin", board.key)
    assert (session.method, session.thread_key) == ("session", board.key)
    # What they show is made when they are sent.
    assert [post.payload for post in queue.sent.values()] == [{}, {}, {}]
    assert [post.post for post in queue.sent.values()] == ["board", "pin", "session"]


async def test_the_older_debates_thread_is_told_of_a_newer_one_right_behind_its_board():
    older, setup = "dolder22", SETUP.model_copy(update={"continues": "dolder22"})
    log, queue = play(setup), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, 1)
    board, told, *_ = queue.sent.values()
    assert (board.key, told.thread_key) == (board_key(DEBATE_ID), board_key(older))
    assert told.debate_id == older
    assert addressed(told.payload["text"]) == {board.key}
    goes_on = DebateContinued(debate="dnewer22", question="Kafka?", by=Person(id="U7"))
    assert not posts_after(goes_on)  # the older debate's own event may come before that board


async def test_a_question_without_room_on_the_board_follows_in_full():
    long = a_setup("Which queue? " + "It must keep every job. " * 150)
    log, queue = play(long), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, 1)
    replies = [post for post in queue.sent.values() if post.thread_key and not post.post]
    assert sum(post.payload["text"].count("every job") for post in replies) == 150


async def test_each_event_is_shown_by_living_posts_and_some_soon():
    log, queue = play(SETUP), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, len(log))
    assert [progress.seq for progress in queue.progress] == [event.seq for event in log]
    hurried = {
        event.event.kind: set(progress.hurried)
        for event, progress in zip(log, queue.progress, strict=True)
    }
    assert not hurried["contribution_made"]
    assert hurried["verdict_reached"] == {"board", "session"}


class Facts:
    """What only the queue and the channel know."""

    def __init__(self, error: str = "") -> None:
        self.error = error

    async def row_by_key(self, key: str) -> PostRow | None:
        return SimpleRow(key=key, error=self.error).row

    async def get(self, place: Place) -> ChannelChoices:
        del place
        return ChannelChoices(keep_pinned=True)


@dataclass(frozen=True)
class SimpleRow:
    """A row of which only the error counts."""

    key: str
    error: str

    @property
    def row(self) -> PostRow:
        return PostRow(
            key=self.key,
            workspace="T1",
            channel="C1",
            method="pin",
            payload={},
            id=1,
            state=PostState.SENT,
            owner=None,
            attempted_at=None,
            attempts=0,
            ts=None,
            error=self.error,
        )


async def test_living_posts_show_what_only_the_queue_and_the_channel_know():
    log, queue = play(SETUP), Queue()
    await publish(Presenter(queue, Log(log)), log, 0, len(log))
    board, pin = queue.sent[board_key(DEBATE_ID)], queue.sent[pin_key(DEBATE_ID)]
    assert await shown(log, pin) == {"pinned": False}
    assert await shown(log, pin, channels=Facts()) == {"pinned": True}
    refused = await shown(log, board, rows=Facts("100 pins."))
    assert "The board could not be pinned: 100 pins." in str(refused)
    assert "could not be pinned" not in str(await shown(log, board, rows=Facts()))


async def test_a_living_post_of_a_debate_that_was_deleted_is_said_to_be_gone():
    with pytest.raises(DebateUnknown):
        await shown([], next(iter(posts_of(fold(play(SETUP)[:1]), play(SETUP)[0]))))


async def test_debates_held_elsewhere_are_none_of_its_business():
    elsewhere = SETUP.model_copy(update={"place": Place(surface="terminal")})
    log, queue = play(elsewhere), Queue()
    presenter = Presenter(queue, Log(log))
    await publish(presenter, log, 0, len(log))
    assert not queue.sent
    assert not queue.progress


# --- what an event becomes ------------------------------------------------------------------------


def posts_after(*events: object) -> Sequence[NewPost]:
    log = a_log([SETUP_EVENT, *events])  # pyright: ignore[reportArgumentType]
    return posts_of(fold(log), log[-1])


def test_that_rebuttals_are_skipped_is_said_in_the_thread_with_its_figure():
    turn = Turn(act=Act.GATE, round=1, agent=ENGINE, target=Act.REBUTTAL.value)
    gate = Gate(turn=turn, reason=GateReason.AGREED, spread=0.1)
    [post] = posts_after(GatePassed(gate=gate))

    assert "probabilities within 10 points" in post.payload["text"]
    assert "rebuttals were skipped" in post.payload["text"]


def test_what_was_carried_over_is_not_posted_again():
    turn = Turn(act=Act.PROPOSAL, round=2, agent="architect")
    over = Contribution(turn=turn, text="Same.", carried_from="r1/refinement/architect")
    assert not posts_after(ContributionMade(contribution=over))


def test_a_long_contribution_becomes_several_posts_in_the_thread():
    turn = Turn(act=Act.PROPOSAL, round=1, agent="architect")
    posts = posts_after(
        ContributionMade(contribution=Contribution(turn=turn, text="Word. " * 1500))
    )
    assert [post.key for post in posts] == [turn_key(DEBATE_ID, turn.key, n) for n in range(3)]
    assert {post.thread_key for post in posts} == {board_key(DEBATE_ID)}
    assert sum(post.payload["text"].count("Word.") for post in posts) == 1500


def test_background_summaries_are_not_posted_even_when_they_fail():
    turn = Turn(act=Act.SUMMARY, round=1, agent="architect")
    assert not posts_after(ContributionMade(contribution=Contribution(turn=turn, text="Short.")))
    assert not posts_after(TurnFailed(failure=Failure(turn=turn, reason="No model.")))


def test_a_failed_turn_is_one_honest_line():
    turn = Turn(act=Act.CRITIQUE, round=1, agent="architect", target="security")
    (post,) = posts_after(TurnFailed(failure=Failure(turn=turn, reason="No answer.")))
    assert post.payload["text"] == (
        ":warning: *Architect* failed to give a critique of Security's proposal (round 1): "
        "No answer. It is missing."
    )


def test_a_note_in_the_thread_gets_eyes_on_the_persons_own_message():
    note = Note(id="C1:1700000000.000100", author=Person(id="U2"), text="Hm.")
    (post,) = posts_after(NoteAdded(note=note))
    assert post.method == "react"
    assert post.payload == {"name": "eyes", "target_ts": "1700000000.000100"}
    assert post.thread_key is None


def test_a_note_from_a_form_is_shown_to_everybody():
    note = Note(id="trigger-1", author=Person(id="U2"), text="Hm <!here>.")
    (post,) = posts_after(NoteAdded(note=note))
    assert post.thread_key == board_key(DEBATE_ID)
    assert post.payload["text"] == ":memo: <@U2> adds for the agents:\nHm &lt;!here&gt;."


def test_the_verdict_ends_with_a_short_form_for_the_channel():
    posts = posts_after(VerdictReached(verdict=a_verdict()))
    assert [post.payload.get("reply_broadcast") for post in posts] == [None, True]
    assert posts[-1].key == headline_key(DEBATE_ID)
    assert {post.thread_key for post in posts} == {board_key(DEBATE_ID)}


def test_a_stop_before_anybody_spoke_is_said_once_with_the_end():
    stop = StopRequested(stop=Stop(by=Person(id="U7")))
    assert not posts_after(stop)
    [post] = posts_after(stop, DebateFailed(reason="It was stopped."))
    assert (
        "ended without a decision.* <@U7> stopped the debate. It was stopped."
        in (post.payload["text"])
    )


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (VoteCalled(by=Person(id="U7")), "<@U7> called the vote"),
        (DebatePaused(by=Person(id="U7"), origin="t1"), "<@U7> paused the debate"),
        (DebateResumed(by=Person(id="U7"), origin="t2"), "<@U7> let the debate go on"),
        (TimeRanOut(), "The debate's time was up"),
        (TimeRanOut(of_outage=True), "No model could be reached for too long"),
        (OutageBegan(reason="OpenAI failed (500).", origin="1"), "OpenAI failed (500). The debate"),
        (OutageEnded(origin="1"), "The debate goes on"),
        (DebateFailed(reason="No agent could take a position."), "No agent could take a position."),
    ],
)
def test_what_people_do_to_a_debate_is_said_in_the_thread(event: object, words: str):
    (post,) = posts_after(event)
    assert words in post.payload["text"]


def test_the_vote_is_posted_and_the_conclusion_shows_on_the_board_only():
    log = play(SETUP)
    (tallied,) = [event for event in log if isinstance(event.event, VoteTallied)]
    assert len(posts_of(fold(log), tallied)) == 1
    assert isinstance(log[-1].event, DebateConcluded)
    assert not posts_of(fold(log), log[-1])  # but for the files


def test_taking_events_in_one_by_one_is_taking_the_log_in():
    log, position = play(SETUP), ReadingPosition()
    for event in log:
        debate = apply(position.debate, event)
        position = release_after(position, debate, event).position
    assert position == release_all(log).position
    assert position.debate == apply(fold(log[:-1]), log[-1])
    assert a_debate().seq == 1
