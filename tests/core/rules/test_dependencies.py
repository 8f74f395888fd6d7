"""A turn is ready as soon as what its format says it needs is there, in any debate."""

from hypothesis import given, settings

from core.models import Act, Setup
from core.rules import schedule
from core.rules.dependencies import dependencies
from tests.core.dice import Luck, Play, lucks, setups


@settings(max_examples=60)
@given(setups, lucks)
def test_what_a_turn_needs_is_there_when_it_is_ready(setup: Setup, luck: Luck) -> None:
    play = Play(setup, luck)
    while True:
        for turn in schedule.ready(play.debate):
            missing = [
                key for key in dependencies(play.debate, turn) if key not in play.debate.times
            ]
            assert not missing, turn.key
        if not play.step():
            break


@settings(max_examples=60)
@given(setups, lucks)
def test_a_turn_becomes_ready_with_the_last_outcome_it_needs(setup: Setup, luck: Luck) -> None:
    # Steering moves turns too, and so does an agent that is lost: none of it here.
    play = Play(setup, Luck(seed=luck.seed, failing=0.0, disturbed=0.0))
    known: set[str] = set()
    while True:
        debate = play.debate
        order = list(debate.times)
        for turn in schedule.ready(debate):
            is_new, known = turn.key not in known, known | {turn.key}
            # A gate needs only as much as makes it clear; a count may wait for more than ballots.
            if is_new and turn.act not in {Act.SUMMARY, Act.TALLY, Act.GATE}:
                last = max((order.index(key) for key in dependencies(debate, turn)), default=0)
                assert order[last] == order[-1], turn.key
        if not play.step():
            break
