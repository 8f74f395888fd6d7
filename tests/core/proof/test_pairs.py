"""Pairs of texts: evaluators biased on purpose find no difference where there is none."""

import random
from collections.abc import Callable, Mapping, Sequence

import pytest

from core.proof.pairs import (
    KNOWN_PAIRS,
    Judged,
    Pair,
    PairFinding,
    bare,
    compare_pairs,
    examine,
    known_pairs,
)
from core.proof.tasks import Task, a_task

RUNS = 200
#: Which way one judgment goes: of ours (1) or theirs (−1), given the pair and where
#: ours stands: first (1) or second (−1).
Evaluator = Callable[[random.Random, Pair, int], int]


def tasks(count: int = KNOWN_PAIRS) -> Sequence[Task]:
    return [
        a_task(
            identity=f"t{n}",
            question=f"Case {n}?",
            options=["Keep it", "Replace it"],
            answer="Keep it",
            reasons=[f"Nobody could run number {n} at night", f"It had cost {n} months before"],
        )
        for n in range(count)
    ]


KNOWN = known_pairs(tasks())


def a_pair(number: int, *, longer: float = 1.0, makers: Sequence[str] = ()) -> Pair:
    """Two texts of the same worth, ours that many times as long."""
    return Pair(
        id=f"q{number}",
        question="Which?",
        ours="word " * int(60 * longer),
        theirs="word " * 60,
        makers=frozenset(makers),
    )


def fair(
    skill: float = 0.85, *, taste: float = 0.0, order: float = 0.0, gain: float = 0.5
) -> Evaluator:
    """Prefers what stands first, or what is longer, that often; else the better text.

    Args:
        skill: How often it is right on a known pair.
        taste: How often length decides.
        order: How often the place decides.
        gain: How often it finds ours better in a pair that is not known.
    """

    def choose(dice: random.Random, pair: Pair, place: int) -> int:
        if dice.random() < order:
            return place
        if pair.longer and dice.random() < taste:
            return 1 if pair.longer > 0 else -1
        share = skill if pair.id.startswith("known/") else gain
        return 1 if dice.random() < share else -1

    return choose


def judgments(
    dice: random.Random, evaluators: Mapping[str, Evaluator], pairs: Sequence[Pair]
) -> list[Judged]:
    return [
        Judged(
            evaluator=name,
            pair=pair.id,
            ours_first=choose(dice, pair, 1),
            ours_second=choose(dice, pair, -1),
        )
        for name, choose in evaluators.items()
        for pair in pairs
    ]


def found(seed: int, evaluators: Mapping[str, Evaluator], pairs: Sequence[Pair]) -> PairFinding:
    judged = judgments(random.Random(seed), evaluators, [*KNOWN, *pairs])
    families = {name: name for name in evaluators}
    return compare_pairs(pairs, judged, KNOWN, families, resamples=100)


def evident(evaluators: Mapping[str, Evaluator], pairs: Sequence[Pair]) -> int:
    return sum(found(seed, evaluators, pairs).is_evident for seed in range(RUNS))


def three(one: Evaluator) -> Mapping[str, Evaluator]:
    return {"a": one, "b": one, "c": one}


ALIKE = [a_pair(number) for number in range(30)]


def test_evaluators_with_a_bias_for_order_find_no_difference() -> None:
    always = fair(order=1.0)
    judged = judgments(random.Random(1), {"a": always}, KNOWN)
    known = examine("a", KNOWN, judged)
    assert (known.accuracy, known.flips, known.is_heard) == (0.5, 1.0, False)
    assert "not heard: below 60%" in known.words
    assert found(1, three(always), ALIKE).fault

    # Half of the time only, so that they pass the test.
    assert evident(three(fair(0.95, order=0.5)), ALIKE) <= 0.06 * RUNS


def test_evaluators_with_a_bias_for_length_find_no_difference() -> None:
    # Every text of ours is longer, and no better.
    longer = [a_pair(number, longer=1.6) for number in range(30)]
    always = examine("a", KNOWN, judgments(random.Random(1), {"a": fair(taste=1.0)}, KNOWN))
    assert (always.accuracy, always.length, always.is_heard) == (0.5, 1.0, False)

    often = three(fair(0.95, taste=0.4))
    raw = [found(seed, often, longer) for seed in range(RUNS)]
    assert sum(one.raw is not None and one.raw.low > 0 for one in raw) > 0.9 * RUNS
    assert sum(one.is_evident for one in raw) <= 0.06 * RUNS


def test_evaluators_with_a_bias_for_their_own_family_find_no_difference() -> None:
    # One is of the maker of our texts, and prefers them always.
    evaluators = {**three(fair()), "ours": fair(gain=1.0)}
    own = [a_pair(number, makers=["ours", "others"]) for number in range(30)]
    assert evident(evaluators, own) <= 0.06 * RUNS
    assert found(1, evaluators, own).evaluators == ("a", "b", "c")
    # Where nobody knew who made the texts it would be heard, and be believed.
    assert evident(evaluators, ALIKE) > 0.3 * RUNS


def test_without_three_evaluators_that_made_neither_nothing_is_said() -> None:
    own = [a_pair(number, makers=["a"]) for number in range(30)]
    finding = found(1, three(fair()), own)
    assert not finding.is_evident
    assert "Fewer than 3 evaluators" in finding.fault


def test_a_planted_difference_is_found_whatever_its_length() -> None:
    for longer in (0.6, 1.0, 1.6):
        pairs = [a_pair(number, longer=longer) for number in range(30)]
        better = three(fair(0.95, taste=0.2, gain=0.85))
        assert evident(better, pairs) > 0.8 * RUNS
    worse = found(1, three(fair(gain=0.1)), ALIKE)
    assert worse.is_evident
    assert worse.raw
    assert worse.raw.high < 0


def test_evaluators_that_guess_are_mostly_not_heard_and_find_nothing() -> None:
    assert evident(three(fair(0.5)), ALIKE) <= 0.06 * RUNS


def test_known_pairs_are_balanced_in_length_and_their_better_text_holds_the_reasons() -> None:
    assert len(KNOWN) == KNOWN_PAIRS
    assert sum(pair.longer for pair in KNOWN) == 0
    for number, pair in enumerate(KNOWN):
        reason = f"Nobody could run number {number} at night."
        assert reason in pair.ours
        assert reason not in pair.theirs
    assert known_pairs([]) == []


def test_a_text_is_bared_of_what_tells_who_wrote_it_and_how() -> None:
    text = (
        "# Decision\n\n**Take a queue.**\n\n## Dissent\n\n- The Architect and two agents of "
        "the debate would *wait*.\n1. Start small.\n\nStance: o1 70 %, o2 30 %\n"
    )
    assert bare(text, ["Architect"]) == (
        "Take a queue.\nThe somebody and two somebody of somebody would wait.\nStart small."
    )


@pytest.mark.parametrize("longer", [1.0, 1.02, 0.98])
def test_about_as_long_counts_in_part(longer: float) -> None:
    pair = a_pair(1, longer=longer)
    assert -1 < pair.longer < 1
