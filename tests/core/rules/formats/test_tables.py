"""Golden tables of each format: turns that are ready together, and the effect of failed turns.

Below them are tests of what the tables do not show.

Look at a change before you accept it with `pytest --inline-snapshot=fix`.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from inline_snapshot import external_file
from pydantic import ValidationError

from core.debate.agenda import Agenda, Phase
from core.debate.contributions import Answer, Failure, FailureCause
from core.debate.debate_events import ClarificationsClosed
from core.debate.log import Event
from core.debate.message_events import ClarificationAnswered
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import FacilitatorDecided, TurnFailed
from core.debate.vote import Guidance, NextStep
from core.rules.formats import panel
from core.rules.formats.registry import format_of
from core.rules.steps import Format
from core.testing import AN_AGENDA
from tests.core.dice import DANA, Luck, Play, outcome
from tests.core.rules.formats.debates import (
    AGENTS,
    a_format_setup,
    debate_with,
    decided,
    failed,
    of_all,
    speeches,
)

NAMES = ("critique", "council", "panel", "review", AN_AGENDA.name)
ROUNDS = 2


@pytest.mark.parametrize("name", NAMES)
def test_the_turns_of_a_format_are_as_approved(name: str) -> None:
    table = "\n".join(rows(name)) + "\n"

    assert table == external_file(f"../../../golden/formats/{name}.txt", format=".txt")


@pytest.mark.parametrize("name", NAMES)
def test_the_effect_of_each_failed_turn_is_as_approved(name: str) -> None:
    table = "\n".join(losses(name)) + "\n"

    assert table == external_file(f"../../../golden/formats/{name}-losses.txt", format=".txt")


def losses(name: str) -> Iterator[str]:
    """For each act and cause the debate in which the first turn of that act fails."""
    setup = a_format_setup(name, rounds=ROUNDS, agenda=AN_AGENDA)
    for act, cause in product(Act, (FailureCause.PASSING, FailureCause.KEY)):
        play = Play(setup, Luck(seed=1, failing=0, disturbed=0))
        waves, lost = list[str](), None
        while turns := format_of(play.debate).ready(play.debate, ROUNDS):
            waves.append(", ".join(turn.key for turn in turns))
            lost = lost or next((turn for turn in turns if turn.act is act), None)
            for event in [
                outcome_of(play, turn) if turn is not lost else down(turn, cause) for turn in turns
            ]:
                play.add(event)
            answer(play)
        if lost:
            yield from state_without(play.debate, lost, cause, waves)


def down(turn: Turn, cause: FailureCause) -> Event:
    """A failure of the turn."""
    return TurnFailed(failure=Failure(turn=turn, reason="down", cause=cause))


def state_without(
    debate: Debate, lost: Turn, cause: FailureCause, waves: Sequence[str]
) -> Iterator[str]:
    """The turns that were taken, and the agents, drafts and positions at the end."""
    form = format_of(debate)
    yield f"\n{lost.key}: {cause}"
    yield from (f"  {wave}" for wave in waves)
    yield f"  alive: {', '.join(form.alive(debate))}"
    for title, texts in (("drafts", form.drafts(debate)), ("positions", form.positions(debate))):
        yield f"  {title}: {', '.join(text.turn.key for text in texts.values())}"


def rows(name: str) -> Iterator[str]:
    """The debate wave by wave: all ready turns are taken together."""
    setup = a_format_setup(name, rounds=ROUNDS, agenda=AN_AGENDA)
    play = Play(setup, Luck(seed=1, failing=0, disturbed=0))
    form, wave = format_of(play.debate), 0
    yield f"{form.name}: {', '.join(form.phases)}; stance: {form.stance_act}"
    yield f"planned: {', '.join(turn.key for turn in form.planned_turns(play.debate, 1))}"
    while turns := form.ready(play.debate, ROUNDS):
        wave += 1
        yield f"\nWave {wave}"
        for turn in turns:
            yield from row(form, play.debate, turn)
        for event in [outcome_of(play, turn) for turn in turns]:
            play.add(event)
        answer(play)


def answer(play: Play) -> None:
    """Answer all open questions."""
    for clarification in play.debate.open_clarifications:
        reply = Answer(number=clarification.number, text="yes", by=DANA)
        play.add(ClarificationAnswered(answer=reply))
    for card in play.debate.open_cards:
        play.add(ClarificationsClosed(which=card.turn.key))


def row(form: Format, debate: Debate, turn: Turn) -> Iterator[str]:
    yield turn.key
    if inputs := form.inputs(debate, turn):
        yield f"  after {', '.join(inputs)}"
    for part in form.shown_parts(debate, turn):
        shared = ", shared up to here" if part.ends_shared else ""
        yield f"  {part.kind}: {part.label} (trim {part.trim_priority}{shared})"
    if carried := form.carried_over(debate, turn):
        yield f"  carried over from {carried.turn.key}"


def outcome_of(play: Play, turn: Turn) -> Event:
    if turn.act is Act.FACILITATION:
        guidance = Guidance(turn=turn, next_step=NextStep.GO_ON, focus="cost")
        return FacilitatorDecided(guidance=guidance)
    return outcome(play.debate, turn, play.dice)


def test_no_act_is_on_an_agenda_twice() -> None:
    phases = (Phase(act=Act.PROPOSAL), Phase(act=Act.ADJUST), Phase(act=Act.ADJUST))

    with pytest.raises(ValidationError, match="only once"):
        Agenda(name="twice", words="Twice", phases=phases)


def test_a_panel_of_an_older_version_has_no_closing_round() -> None:
    spoken = speeches(*of_all("r1/statement/*"), *of_all("r2/statement/*"))
    calls = [decided(1, NextStep.GO_ON), decided(2, NextStep.VOTE)]
    debate = debate_with(a_format_setup("panel"), *spoken, *calls)

    assert panel.FORMAT.ready(debate, 7) == ()


@pytest.mark.parametrize(
    ("missed", "is_out"),
    [
        (["r1/statement/security"], True),
        (["r2/statement/security"], False),
        (["r2/statement/security", "r3/statement/security"], True),
        (["r2/statement/security", "r4/statement/security"], False),
        (["r2/statement/security", "r3/statement/architect"], False),
        (["r1/facilitation/facilitator", "r2/ballot/security", "r1/ballot/security"], False),
    ],
    ids=["the first", "one", "two in a row", "two apart", "one each", "other turns"],
)
def test_an_agent_that_misses_the_first_statement_or_two_in_a_row_is_out(
    missed: Sequence[str], *, is_out: bool
) -> None:
    agents = panel.FORMAT.alive(debate_with(a_format_setup("panel", rounds=5), *failed(*missed)))

    assert agents == tuple(agent for agent in AGENTS if agent != "security" or not is_out)
