"""How long a model may be silent, by how long it usually is, and whether it streams."""

from dataclasses import replace

import pytest

from core.llm.call_options import ModelRef
from core.llm.silence import AskedFor, Silences
from core.models import Act, Usage
from core.request import Effort, ModelReply, ModelRequest

QUICK = AskedFor(ModelRef("openai", "gpt-6.1-terra"), Act.PROPOSAL, Effort.MEDIUM)


REQUEST = ModelRequest(
    model="gpt-6.1-terra",
    act=QUICK.act,
    role="architect",
    system="",
    parts=(),
    delimiter="~",
    max_output_tokens=1000,
)


def a_reply(silence: float = 0.0, whole: float = 0.0) -> ModelReply:
    return ModelReply(text="So.", usage=Usage(), model="", longest_silence=silence, seconds=whole)


def after(*seconds: float) -> Silences:
    silences = Silences()
    for one in seconds:
        silences.answered(QUICK, a_reply(silence=one), 1000)
    return silences


def after_wholes(*seconds: float) -> Silences:
    """What is known after replies that were streamed, quickly, in so many seconds."""
    silences = Silences()
    for one in seconds:
        silences.answered(QUICK, a_reply(0.5, one), 1000)
    return silences


def way(
    silences: Silences,
    asked: AskedFor = QUICK,
    *,
    tokens: int = 1000,
    room: int = 13_000,
    awaited: bool = False,
) -> float | None:
    """How long a reply may take in one piece; None: it is streamed."""
    request = replace(REQUEST, max_output_tokens=tokens)
    found = silences.waited_for(asked, request, room, awaited=awaited)
    assert not found.streamed or found.silence == silences.allowed(asked)
    return None if found.streamed else found.silence


def test_of_a_model_that_is_hardly_known_the_provider_knows_best() -> None:
    assert after().allowed(QUICK) is None
    assert after(1.0, 1.0).allowed(QUICK) is None
    assert after(0.0, 0.0, 0.0).allowed(QUICK) is None  # nobody measured it


def test_a_model_may_be_silent_for_some_times_the_longest_that_it_was() -> None:
    assert after(1.0, 2.0, 1.0).allowed(QUICK) == 20.0  # the least
    assert after(1.0, 30.0, 1.0).allowed(QUICK) == 120.0
    assert after(30.0, *[6.0] * 16).allowed(QUICK) == 24.0  # only the last replies count


def test_what_it_is_asked_for_counts() -> None:
    silences, ballot = after(1.0, 1.0, 1.0), QUICK._replace(act=Act.BALLOT)
    for _ in range(3):
        silences.answered(ballot, a_reply(10.0), 1000)

    assert silences.allowed(QUICK) == 20.0
    assert silences.allowed(ballot) == 40.0
    assert silences.allowed(ballot._replace(effort=Effort.HIGH)) == 45.0


def test_of_what_it_was_seldom_asked_its_other_replies_with_the_same_effort_tell() -> None:
    silences, seldom = after(1.0, 9.0), QUICK._replace(act=Act.ADJUST)
    assert silences.allowed(seldom) is None

    silences.answered(QUICK._replace(act=Act.BALLOT), a_reply(3.0), 1000)

    assert silences.allowed(seldom) == 36.0
    assert silences.allowed(seldom._replace(ref=ModelRef("openai", "gpt-6-luna"))) is None


def test_a_model_that_became_slow_is_given_more_each_time_until_it_answers() -> None:
    silences = after(1.0, 1.0, 1.0)
    for allowed in (20.0, 40.0, 80.0):
        assert silences.allowed(QUICK) == allowed
        silences.gave_up(QUICK)

    silences.answered(QUICK, a_reply(50.0), 1000)

    assert silences.allowed(QUICK) == 200.0


def test_a_model_that_was_away_for_long_is_still_asked() -> None:
    silences = after(1.0, 1.0, 1.0)
    for _ in range(2000):
        silences.gave_up(QUICK)

    assert silences.allowed(QUICK) == 20.0 * 256


def test_a_model_that_is_hardly_known_streams() -> None:
    assert way(after_wholes()) is None
    assert way(after_wholes(5.0, 5.0)) is None
    assert way(after(1.0, 1.0, 1.0)) is None  # nobody measured whole replies


@pytest.mark.parametrize(
    ("usual", "allowed"), [(1.0, 20.0), (5.0, 20.0), (12.0, 24.0), (30.0, 60.0)]
)
def test_a_quick_model_replies_in_one_piece_and_has_twice_the_longest_it_took(
    usual: float, allowed: float
) -> None:
    assert way(after_wholes(1.0, usual, 1.0)) == allowed


def test_replies_in_one_piece_are_learnt_from_too() -> None:
    silences = after_wholes(5.0, 5.0, 5.0)
    for _ in range(16):
        silences.answered(QUICK, a_reply(whole=15.0), 1000)

    assert way(silences) == 30.0
    assert silences.allowed(QUICK) == 20.0, "that says nothing of a stream's silence"


def test_a_model_that_writes_for_long_streams() -> None:
    assert way(after_wholes(5.0, 31.0, 5.0)) is None
    assert way(after_wholes(31.0, *[5.0] * 16)) == 20.0  # only the last replies count


def test_what_others_await_or_is_large_or_hard_is_streamed() -> None:
    silences = after_wholes(5.0, 5.0, 5.0)
    hard = QUICK._replace(effort=Effort.HIGH)
    for _ in range(3):
        silences.answered(hard, a_reply(0.5, 5.0), 1000)

    assert way(silences, awaited=True) is None
    assert way(silences, room=21_334) is None
    assert way(silences, hard) is None
    assert way(silences, room=21_333) == 20.0


def test_what_was_seldom_asked_is_judged_by_like_replies_and_by_its_length() -> None:
    silences, seldom = after_wholes(6.0, 6.0, 6.0), QUICK._replace(act=Act.ADJUST)

    assert way(silences, seldom, tokens=500) == 20.0
    assert way(silences, seldom, tokens=3000) == 36.0
    assert way(silences, seldom, tokens=6000) is None
    assert way(silences, seldom._replace(effort=Effort.LOW)) is None
    assert way(silences, seldom._replace(ref=ModelRef("openai", "gpt-6-luna"))) is None


def test_after_a_reply_in_one_piece_that_did_not_come_the_model_streams_until_one_came() -> None:
    silences, ballot = after_wholes(5.0, 5.0, 5.0), QUICK._replace(act=Act.BALLOT)
    silences.lost(QUICK.ref)
    assert way(silences) is None
    assert way(silences, ballot) is None

    silences.answered(ballot, a_reply(whole=5.0), 1000)  # one under way, asked for before
    assert way(silences) is None
    silences.answered(ballot, a_reply(0.5, 5.0), 1000)
    assert way(silences) == 20.0

    silences.gave_up(QUICK)
    assert way(silences) is None


def seconds_until_given_up(silences: Silences) -> tuple[float, float]:
    """Of two attempts at a model that hangs: as they are made, and if both were streamed."""
    stream = silences.allowed(QUICK) or 0.0
    first = way(silences)
    silences.lost(QUICK.ref)
    assert way(silences) is None
    return (first or stream) + stream, 2 * stream


@pytest.mark.parametrize(
    ("writes_for", "now", "streamed"), [(5, 40, 40), (15, 50, 40), (30, 80, 40), (120, 40, 40)]
)
def test_a_model_that_hangs_is_given_up_at_most_forty_seconds_later_than_in_streams(
    writes_for: float, now: float, streamed: float
) -> None:
    assert seconds_until_given_up(after_wholes(*[writes_for] * 16)) == (now, streamed)
