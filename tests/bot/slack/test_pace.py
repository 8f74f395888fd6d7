"""How fast Slack lets us go: the pace of each kind of call, and places in line."""

import pytest

from bot.slack.outbox.pace import CallKind, Pace, Turnstile
from bot.store.posts import Channel

HERE = Channel("T1", "C1")
DISTINCT = Pace(post=1.0, edit=2.0, pin=3.0, look=4.0, react=5.0)
SECONDS = {
    CallKind.POST: 1.0,
    CallKind.EDIT: 2.0,
    CallKind.PIN: 3.0,
    CallKind.LOOK: 4.0,
    CallKind.REACT: 5.0,
}


@pytest.mark.parametrize("kind", CallKind)
def test_every_kind_of_call_goes_at_a_pace_of_its_own(kind: CallKind) -> None:
    turnstile = Turnstile(DISTINCT)
    waits = [turnstile.reserve(kind, HERE, 10.0) for _ in range(3)]

    assert DISTINCT.between(kind) == SECONDS[kind]
    assert waits == [0.0, SECONDS[kind], 2 * SECONDS[kind]]


def test_no_kind_of_call_waits_for_another() -> None:
    turnstile = Turnstile(DISTINCT)

    assert [turnstile.reserve(kind, HERE, 10.0) for kind in CallKind] == [0.0] * len(CallKind)


@pytest.mark.parametrize(
    ("kind", "a_minute"),
    [(CallKind.EDIT, 50), (CallKind.LOOK, 50), (CallKind.REACT, 50), (CallKind.PIN, 20)],
)
def test_the_usual_pace_is_what_slack_allows_a_minute(kind: CallKind, a_minute: int) -> None:
    assert 60 / Pace().between(kind) == pytest.approx(a_minute)


def test_a_line_that_has_been_idle_owes_nothing() -> None:
    turnstile = Turnstile(DISTINCT)
    turnstile.reserve(CallKind.POST, HERE, 10.0)

    assert turnstile.reserve(CallKind.POST, HERE, 50.0) == 0.0
    assert turnstile.reserve(CallKind.POST, HERE, 50.0) == 1.0


@pytest.mark.parametrize("kind", CallKind)
def test_a_call_held_up_on_its_way_moves_the_next_one_back(kind: CallKind) -> None:
    turnstile = Turnstile(DISTINCT)
    turnstile.reserve(kind, HERE, 10.0)
    turnstile.passed(kind, HERE, 30.0)

    assert turnstile.reserve(kind, HERE, 30.0) == SECONDS[kind]


def test_who_stands_in_a_line_that_is_held_goes_after_the_hold_at_the_usual_pace() -> None:
    turnstile = Turnstile(DISTINCT)
    others = [Channel("T1", f"C{number}") for number in range(3)]
    for channel in others:
        turnstile.reserve(CallKind.EDIT, channel, 10.0)
    turnstile.hold(CallKind.EDIT, others[0], 40.0)

    assert all(turnstile.is_held(CallKind.EDIT, channel, 39.0) for channel in others)
    assert [turnstile.reserve(CallKind.EDIT, channel, 20.0) for channel in others] == [20, 22, 24]
    assert not turnstile.is_held(CallKind.EDIT, others[0], 40.0)
    assert not turnstile.is_held(CallKind.EDIT, Channel("T2", "C9"), 39.0)


def test_a_call_on_its_way_stops_nobody_who_has_a_place() -> None:
    turnstile = Turnstile(DISTINCT)
    turnstile.passed(CallKind.EDIT, HERE, 30.0)

    assert not turnstile.is_held(CallKind.EDIT, HERE, 30.0)


def test_holding_a_line_never_lets_anybody_through_sooner() -> None:
    turnstile = Turnstile(DISTINCT)
    turnstile.hold(CallKind.POST, HERE, 70.0)
    turnstile.hold(CallKind.POST, HERE, 20.0)
    turnstile.passed(CallKind.POST, HERE, 10.0)

    assert turnstile.reserve(CallKind.POST, HERE, 10.0) == 60.0


def test_a_channel_has_its_own_line_for_posts_and_a_workspace_one_for_edits() -> None:
    turnstile = Turnstile(Pace(post=1.0, edit=2.0))
    one, two = Channel("T1", "C1"), Channel("T1", "C2")
    assert turnstile.reserve(CallKind.POST, one, 10.0) == 0
    assert turnstile.reserve(CallKind.POST, two, 10.0) == 0
    assert turnstile.reserve(CallKind.POST, one, 10.5) == 0.5
    assert turnstile.reserve(CallKind.EDIT, one, 10.0) == 0
    assert turnstile.reserve(CallKind.EDIT, two, 10.0) == 2


def test_a_workspace_that_is_held_up_holds_up_no_other() -> None:
    turnstile = Turnstile(Pace(post=1.0, edit=2.0))
    for kind in (CallKind.POST, CallKind.EDIT):
        turnstile.hold(kind, Channel("T1", "C1"), 70.0)
        assert turnstile.reserve(kind, Channel("T1", "C1"), 10.0) == 60
        assert turnstile.reserve(kind, Channel("T2", "C1"), 10.0) == 0


def test_pauses_double_up_to_a_ceiling() -> None:
    pace = Pace(first_pause=1, longest_pause=10)
    assert [pace.after_errors(count) for count in (0, 1, 2, 3, 4, 5, 50)] == [1, 1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize("method", ["post", "upload"])
def test_a_post_in_doubt_is_looked_for_after_the_last_byte_of_its_call_can_have_left(
    method: str,
) -> None:
    pace = Pace()
    assert pace.lease_of(method) < pace.grace_of(method, 0) < pace.grace_of(method, 1)
