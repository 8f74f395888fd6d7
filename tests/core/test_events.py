"""The log and its fold."""

from datetime import UTC, datetime

import pytest

from core.debate.contributions import Contribution, Failure
from core.debate.debate_events import DebateConcluded, DebateStarted, TimeRanOut
from core.debate.log import Event, RecordedEvent, event_from_json, fold
from core.debate.state import Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed
from core.errors import LogBroken
from core.testing import a_setup, log_of
from core.usage import Call, Usage

TURN = Turn(act=Act.CRITIQUE, round=2, agent="architect", target="security")
STARTED = DebateStarted(setup=a_setup())
FAILED = TurnFailed(failure=Failure(turn=TURN, reason="down", usage=Usage(input_tokens=5)))


def made(target: str, usage: Usage) -> ContributionMade:
    call = Call(provider="p", model="m", usage=usage)
    turn = TURN.model_copy(update={"target": target})
    return ContributionMade(contribution=Contribution(turn=turn, text="Hm.", call=call))


MADE = made("security", Usage(input_tokens=7))


def test_unknown_fields_of_a_newer_version_are_ignored() -> None:
    assert event_from_json('{"kind": "time_ran_out", "why": "new"}') == TimeRanOut()


def test_folding_keeps_order_time_and_place_in_the_log() -> None:
    debate = fold(log_of([STARTED, MADE, TimeRanOut(), DebateConcluded()]))
    assert (debate.seq, debate.status, debate.out_of_time) == (4, Status.CONCLUDED, True)
    assert debate.ended_at == debate.now
    assert debate.text_of(Act.CRITIQUE, 2, "architect", "security") == "Hm."
    assert debate.text_of(Act.CRITIQUE, 3, "architect", "security") == ""
    with pytest.raises(TypeError, match=r"^A debate has no verdicts\.$"):
        debate.replace(verdicts=1)


def test_usage_counts_failed_turns_too_and_an_unknown_price_stays_unknown() -> None:
    usage = fold(log_of([STARTED, MADE, made("simplicity", Usage(cost=None)), FAILED])).usage
    assert (usage.input_tokens, usage.cost) == (12, None)


@pytest.mark.parametrize("events", [[], [MADE]], ids=["empty", "headless"])
def test_a_log_without_a_start_is_no_debate(events: list[Event]) -> None:
    with pytest.raises(LogBroken, match=r"no debate|before the start"):
        fold(RecordedEvent("d1", 1, datetime(2026, 1, 1, tzinfo=UTC), event) for event in events)


@pytest.mark.parametrize("body", ["", "{", "null", "[]", "{}", '{"kind": ["note_added"]}'])
def test_a_text_that_is_no_event_raises_a_value_error(body: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        event_from_json(body)
