"""Each format as a table: turns that are ready together, what they wait for and are shown.

Look at a change before you accept it with `pytest --inline-snapshot=fix`.
"""

from collections.abc import Iterator

import pytest
from inline_snapshot import external_file

from core.events import ClarificationAnswered, ClarificationsClosed, Event, FacilitatorDecided
from core.models import Act, Answer, Debate, Guidance, NextStep, Turn
from core.rules.formats.registry import format_of
from core.rules.steps import Format
from core.testing import AN_AGENDA
from tests.core.dice import DANA, Luck, Play, outcome
from tests.core.rules.formats.told import a_format_setup

NAMES = ("critique", "council", "panel", "review", AN_AGENDA.name)
ROUNDS = 2


@pytest.mark.parametrize("name", NAMES)
def test_a_format_is_the_table_that_was_approved(name: str) -> None:
    table = "\n".join(rows(name)) + "\n"

    assert table == external_file(f"../../../golden/formats/{name}.txt", format=".txt")


def rows(name: str) -> Iterator[str]:
    """The debate wave by wave: all that is ready is taken at once."""
    setup = a_format_setup(name, rounds=ROUNDS, agenda=AN_AGENDA)
    play = Play(setup, Luck(seed=1, failing=0, disturbed=0))
    form, wave = format_of(play.debate), 0
    yield f"{form.name}: {', '.join(form.phases)}; stance: {form.stance_act}"
    yield f"planned: {', '.join(turn.key for turn in form.planned(play.debate, 1))}"
    while turns := form.ready(play.debate, ROUNDS):
        wave += 1
        yield f"\nWave {wave}"
        for turn in turns:
            yield from row(form, play.debate, turn)
        for event in [taken(play, turn) for turn in turns]:
            play.add(event)
        for asked in play.debate.open_clarifications:
            answer = Answer(number=asked.number, text="yes", by=DANA)
            play.add(ClarificationAnswered(answer=answer))
        for card in play.debate.open_cards:
            play.add(ClarificationsClosed(which=card.turn.key))


def row(form: Format, debate: Debate, turn: Turn) -> Iterator[str]:
    yield turn.key
    if dependencies := form.dependencies(debate, turn):
        yield f"  after {', '.join(dependencies)}"
    for part in form.shown(debate, turn):
        shared = ", shared up to here" if part.ends_shared else ""
        yield f"  {part.kind}: {part.label} (trim {part.trim_priority}{shared})"
    if carried := form.carried_over(debate, turn):
        yield f"  carried over from {carried.turn.key}"


def taken(play: Play, turn: Turn) -> Event:
    if turn.act is Act.FACILITATION:
        guidance = Guidance(turn=turn, next_step=NextStep.GO_ON, focus="cost")
        return FacilitatorDecided(guidance=guidance)
    return outcome(play.debate, turn, play.dice)
