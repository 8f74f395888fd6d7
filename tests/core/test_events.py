"""The log and its fold."""

from datetime import UTC, datetime

import pytest

from core.debate.contributions import Contribution, Failure, Note
from core.debate.debate_events import (
    DebateConcluded,
    DebateFailed,
    DebateStarted,
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    OutageEnded,
    TimeRanOut,
)
from core.debate.log import Event, RecordedEvent, event_from_json, event_to_json, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Stop
from core.debate.people_events import StopRequested
from core.debate.state import Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotCast, ContributionMade, TurnFailed
from core.debate.vote import Ballot
from core.errors import LogBroken
from core.testing import a_setup, log_of
from core.usage import Call, Usage

DANA = Person(id="U1", name="Dana")
TURN = Turn(act=Act.CRITIQUE, round=2, agent="architect", target="security")
MADE = ContributionMade(
    contribution=Contribution(
        turn=TURN, text="Hm.", call=Call(provider="p", model="m", usage=Usage(input_tokens=7))
    )
)
FAILED = TurnFailed(failure=Failure(turn=TURN, reason="down", usage=Usage(input_tokens=5)))
ALL: list[Event] = [
    DebateStarted(setup=a_setup()),
    MADE,
    BallotCast(
        ballot=Ballot(turn=TURN, ranking=("architect", "security"), reasons={"architect": "good"})
    ),
    NoteAdded(note=Note(id="e1", author=DANA, text="Two of us.")),
    StopRequested(stop=Stop(by=DANA)),
    TimeRanOut(),
    ModelWentAway(agent="architect", reason="down", origin="1.1"),
    OutageBegan(reason="down", origin="1.2"),
    ModelCameBack(agent="architect", origin="1.3"),
    OutageEnded(origin="1.4"),
    DebateFailed(reason="all gone"),
]


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_way_to_disk_and_back(event: Event) -> None:
    assert event_from_json(event_to_json(event)) == event


def test_fields_of_a_newer_version_are_passed_over() -> None:
    assert event_from_json('{"kind": "time_ran_out", "why": "new"}') == TimeRanOut()


def test_a_field_that_no_debate_has_is_refused() -> None:
    debate = fold(log_of([DebateStarted(setup=a_setup())]))
    with pytest.raises(TypeError, match=r"^A debate has no verdicts\.$"):
        debate.replace(verdicts=1)


def test_folding_keeps_order_time_and_place_in_the_log() -> None:
    debate = fold(log_of([*ALL[:2], TimeRanOut(), DebateConcluded()]))

    assert debate.seq == 4
    assert debate.status is Status.CONCLUDED
    assert debate.out_of_time
    assert debate.ended_at == debate.now
    assert debate.text_of(Act.CRITIQUE, 2, "architect", "security") == "Hm."
    assert debate.text_of(Act.CRITIQUE, 3, "architect", "security") == ""


def test_usage_counts_failed_turns_too_and_an_unknown_price_stays_unknown() -> None:
    unknown = MADE.contribution.model_copy(
        update={
            "turn": TURN.model_copy(update={"target": "simplicity"}),
            "call": Call(provider="p", model="m", usage=Usage(cost=None)),
        }
    )
    log = log_of([ALL[0], MADE, ContributionMade(contribution=unknown), FAILED])

    assert fold(log).usage.input_tokens == 12
    assert fold(log).usage.cost is None


@pytest.mark.parametrize("events", [[], [MADE]], ids=["empty", "headless"])
def test_a_log_without_a_start_is_no_debate(events: list[Event]) -> None:
    with pytest.raises(LogBroken, match=r"no debate|before the start"):
        fold(RecordedEvent("d1", 1, datetime(2026, 1, 1, tzinfo=UTC), event) for event in events)
