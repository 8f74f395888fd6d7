"""An earlier decision as a source of a debate."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import Event, RecordedEvent, fold
from core.debate.people import Person, Place
from core.debate.people_events import DecisionRecorded
from core.debate.turn_events import VerdictReached
from core.debate.verdict import Decision, DecisionKind
from core.evidence.earlier import FetchEarlierDecisions, decision_reference, earlier_decisions
from core.ports import DebateEntry, DebateFilter, DebateStore
from core.testing import ManualClock, a_setup, log_of
from tests.bot.plays import a_verdict


@pytest.mark.parametrize(
    ("decision", "title"), [("x" * 120, "x" * 120), ("x" * 121, "x" * 119 + "…")]
)
def test_a_long_decision_is_cut_in_its_title(decision: str, title: str) -> None:
    reached = VerdictReached(verdict=a_verdict(decision=decision))
    debate = fold(log_of([DebateStarted(setup=a_setup()), reached, DebateConcluded()]))

    assert decision_reference(debate, Person(id="U1")).title.partition(": ")[2] == title


HERE = a_setup().place
ANN = Person(id="U1", name="Ann")


class Register:
    """A store of accepted decisions by id, newest first, after debates that nobody decided on."""

    def __init__(
        self, decisions: dict[str, str], place: Place = HERE, *, undecided: Sequence[str] = ()
    ) -> None:
        self._decisions, self._place, self._undecided = decisions, place, undecided

    async def find(self, filters: DebateFilter) -> Sequence[DebateEntry]:
        start = ManualClock().now()
        rest = {"workspace": "", "channel": "", "asked_by": "U1", "started_at": start}
        fields: dict[str, Any] = {**rest, "ended_at": start, "status": "concluded", "question": "?"}
        ids = (*(() if filters.having == ("decision/",) else self._undecided), *self._decisions)
        return [DebateEntry(debate_id=debate_id, **fields) for debate_id in ids][: filters.limit]

    async def events(self, debate_id: str) -> Sequence[RecordedEvent]:
        accepted = Decision(kind=DecisionKind.ACCEPT, by=ANN, origin="A")
        setup = a_setup().model_copy(update={"place": self._place})
        events: list[Event] = [
            DebateStarted(setup=setup),
            VerdictReached(verdict=a_verdict(decision=self._decisions[debate_id])),
            DebateConcluded(),
            DecisionRecorded(decision=accepted),
        ]
        return log_of(events, debate_id)


async def earlier(question: str, register: Register) -> tuple[Sequence[str], Sequence[str]]:
    """Ids of the decisions that a debate on the question gets, and the warnings."""
    fetch = FetchEarlierDecisions(cast("DebateStore", register))
    text = await fetch(earlier_decisions(question, ANN), HERE, 0)
    return [reference.fetch for reference in text.references], text.warnings


async def test_the_best_decisions_are_chosen_and_keep_their_order() -> None:
    long = "We keep the queue. " * 150
    register = Register({"d1": long, "d2": f"Kafka. {long}", "d3": long, "d4": "Short."})
    ids, warnings = await earlier("Is Kafka right?", register)
    assert ids == ["d1", "d2", "d4"]
    assert warnings == ("1 earlier decision left out that fit the question less",)
    elsewhere = HERE.model_copy(update={"channel": "C0ELSE"})
    assert await earlier("Is Kafka right?", Register({"d1": long}, elsewhere)) == ([], ())
    undecided = [f"u{number}" for number in range(100)]
    assert await earlier("Why?", Register({"d1": long}, undecided=undecided)) == (["d1"], ())
