"""Logs that no engine can have written: refused by name, never a `KeyError` for who reads them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.acts.request_for import request_for
from core.debate.contributions import Failure
from core.debate.debate_events import ClarificationsClosed, DebateStarted
from core.debate.log import Event, RecordedEvent, fold
from core.debate.message_events import ClarificationAnswered
from core.debate.people_events import PeopleBallotCast
from core.debate.questions import Answer
from core.debate.setup import Setup
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotCast, TurnFailed, VoteTallied
from core.debate.vote import Ballot, PeopleBallot, Score, Tally
from core.errors import LogBroken
from core.rules import gate, schedule
from core.rules.formats import clarifying
from core.rules.formats.registry import format_of
from core.rules.history.material import material_for
from core.testing import a_setup, log_of
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.explain import explanation
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.summary_metrics import summary_metrics
from tests.core.dice import DANA, Luck, Play, lucks, numbered, odd_logs, setups


def read_everything(log: list[RecordedEvent]) -> None:
    """What reads a debate from its log: the engine's schedule, prompts, and all texts."""
    debate = fold(log)
    for turn in schedule.ready(debate):
        match turn.act:
            case Act.CLARIFICATION:
                clarifying.put(debate, turn)
            case Act.SUMMARY:
                material_for(debate, turn)
            case Act.GATE:
                assert gate.gate_decision(debate, turn)
            case Act.TALLY:
                schedule.ballot_turns(debate)
            case _:
                request_for(debate, turn)
                format_of(debate).carried_over(debate, turn)
    schedule.conclusion(debate)
    schedule.due(debate)
    for number in range(1, debate.setup.rounds + 1):
        format_of(debate).planned_turns(debate, number)
    for text in (report, adr, decision_text):
        text(debate)
    record_json(log)
    summary_metrics(log)


@given(log=odd_logs())
def test_real_events_in_any_order_are_read_or_refused_by_name(log: list[RecordedEvent]) -> None:
    with suppress(LogBroken):
        read_everything(log)


@given(setup=setups, luck=lucks, at=st.integers(0, 1000))
def test_any_log_without_one_of_its_events_is_explained_or_refused(
    setup: Setup, luck: Luck, at: int
) -> None:
    play = Play(setup.model_copy(update={"rounds": 1}), luck)
    play.to_the_end()
    events = [recorded.event for recorded in play.log]
    del events[at % len(events)]
    if not events:
        return
    with suppress(LogBroken):
        explanation(numbered(events))


BALLOT = Turn(act=Act.BALLOT, round=1, agent="architect")
IMPOSSIBLE: list[tuple[Event, str]] = [
    (
        DebateStarted(setup=a_setup()),
        "event 2 (debate_started, key start) begins a debate",
    ),
    (
        TurnFailed(failure=Failure(turn=BALLOT.model_copy(update={"agent": "eve"}), reason="x")),
        "key r1/ballot/eve) is of 'eve', who takes no part",
    ),
    (
        BallotCast(ballot=Ballot(turn=BALLOT, ranking=("architect", "eve"))),
        "ranks the position of 'eve', who takes no part",
    ),
    (BallotCast(ballot=Ballot(turn=BALLOT, ranking=())), "ranks nothing"),
    (
        PeopleBallotCast(ballot=PeopleBallot(by=DANA, ranking=("eve",))),
        "ranks the position of 'eve'",
    ),
    (
        VoteTallied(
            tally=Tally(
                scores=(Score(position="eve", points=1, first_places=1, mean_confidence=0.5),),
                winners=(),
                controversial=False,
                voters=(),
            )
        ),
        "ranks the position of 'eve'",
    ),
    (
        ClarificationAnswered(answer=Answer(number=3, text="yes", by=DANA)),
        "answers question 3, which nobody was asked",
    ),
    (
        ClarificationsClosed(which="r0/clarification/engine/1"),
        "which nobody has opened",
    ),
]


@pytest.mark.parametrize(("event", "words"), IMPOSSIBLE)
def test_what_cannot_follow_is_refused_with_event_key_and_number(event: Event, words: str) -> None:
    with pytest.raises(LogBroken) as caught:
        fold(log_of([DebateStarted(setup=a_setup()), event]))

    assert words in str(caught.value)
    assert f"event 2 ({event.kind}, key {event.key})" in str(caught.value)


def test_a_format_nobody_knows_is_refused_by_name() -> None:
    debate = fold(log_of([DebateStarted(setup=a_setup().model_copy(update={"format": "poll"}))]))
    with pytest.raises(LogBroken, match="'poll': no such format"):
        schedule.ready(debate)
