"""Every format takes as many turns one after another as it says."""

import pytest

from core.events import Event
from core.models import Act, Debate, NextStep, Termination, Turn
from core.rules.formats.registry import FORMATS
from tests.core.rules.formats.told import a_format_setup, decided, said, told


@pytest.mark.parametrize(
    ("form", "rounds", "length"),
    [
        ("critique", 1, 3),
        ("critique", 2, 5),
        ("critique", 4, 9),
        ("panel", 1, 1),
        ("panel", 3, 5),
        ("panel", 7, 13),
        ("panel", 9, 13),
        ("council", 1, 6),
        ("council", 3, 6),
    ],
)
def test_the_longest_chain_is_as_long_as_the_debate_takes_with_all_at_once(
    form: str, rounds: int, length: int
) -> None:
    never = Termination.model_construct(threshold=1.1)
    debate = told(a_format_setup(form, rounds=rounds, termination=never))

    assert waves(debate, rounds) == length
    assert FORMATS[form].longest_chain(rounds) == length


def waves(debate: Debate, rounds: int) -> int:
    """How often a model is waited for when every ready turn is taken at once."""
    form, count, happened = FORMATS[debate.setup.format], 0, list[Event]()
    while turns := form.ready(debate, rounds):
        count += any(form.carried_over(debate, turn) is None for turn in turns)
        happened += [outcome(turn) for turn in turns]
        debate = told(debate.setup, *happened)
    return count


def outcome(turn: Turn) -> Event:
    if turn.act is Act.FACILITATION:
        return decided(turn.round, NextStep.GO_ON)
    return said(turn.key)[0]
