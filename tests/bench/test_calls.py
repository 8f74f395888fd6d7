"""Waits for another call's first token are told from those for Moot itself."""

from datetime import UTC, datetime, timedelta

from bench.calls import Asked, for_first_tokens, for_first_tokens_in_chain


def _at(seconds: float) -> datetime:
    return datetime(2026, 11, 23, tzinfo=UTC) + timedelta(seconds=seconds)


def _asked(began: float, ended: float, first_token: float | None = None) -> Asked:
    """A call; its first token is its last one unless another time is given."""
    return Asked(_at(began), _at(ended if first_token is None else first_token), _at(ended))


def _seconds(waited: timedelta) -> float:
    return round(waited.total_seconds(), 3)


def test_a_follower_waited_from_the_leaders_request_to_its_first_token() -> None:
    leader = _asked(1.2, 6.0, first_token=2.0)
    assert _seconds(for_first_tokens([leader], _at(1.0), _at(2.1))) == 0.8


def test_only_what_was_left_of_the_silence_counts() -> None:
    leader = _asked(0.2, 6.0, first_token=2.0)
    assert _seconds(for_first_tokens([leader], _at(1.5), _at(2.1))) == 0.5


def test_two_leaders_at_the_same_time_count_once_and_one_after_the_other_both() -> None:
    first = _asked(1.0, 6.0, first_token=2.0)
    beside, after = _asked(1.5, 6.0, first_token=2.2), _asked(3.0, 6.0, first_token=3.5)
    assert _seconds(for_first_tokens([beside, first], _at(1.0), _at(4.0))) == 1.2
    assert _seconds(for_first_tokens([after, first], _at(1.0), _at(4.0))) == 1.5


def test_nobody_waits_for_a_leader_that_was_still_silent() -> None:
    still_silent = _asked(1.0, 6.0, first_token=3.0)
    assert _seconds(for_first_tokens([still_silent], _at(1.0), _at(2.0))) == 0


def test_of_a_chain_counts_what_its_own_turns_waited() -> None:
    calls = {
        "leader": _asked(0.0, 3.0, first_token=0.5),
        "quick follower": _asked(0.5, 3.2),
        "slow follower": _asked(0.6, 4.0),
        "second leader": _asked(4.0, 6.0, first_token=4.7),
        "last": _asked(6.1, 9.0),
    }
    ends = [("start", 0.0), *((key, float(call.ended.second)) for key, call in calls.items())]
    log = [(key, _at(end)) for key, end in ends]
    tallied = ("tally", _at(9.0))
    # The last was asked after the second leader, that after the slow follower, that after a leader.
    assert _seconds(for_first_tokens_in_chain(5, [*log, tallied], calls)) == 0.5
    assert _seconds(for_first_tokens_in_chain(6, [*log, tallied], calls)) == 0.5
    assert _seconds(for_first_tokens_in_chain(1, [*log, tallied], calls)) == 0
