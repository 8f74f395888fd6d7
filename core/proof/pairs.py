"""Two texts for one question, judged blind: which is better, and whether that can be told (pure).

Evaluators prefer what stands first, what is longer and what their own family wrote
(arXiv:2306.05685, arXiv:2404.13076). So each pair is judged in both orders, and what changes with
the order counts for neither. No evaluator of a maker whose model wrote one of the texts is heard.
How much an evaluator likes length is measured on pairs whose better text is known, half of them the
longer one, and taken off; who is right on fewer than 60 % of these is not heard.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from random import Random
from statistics import fmean

from core.figures import counted, percent, points
from core.models import ModelChoice
from core.proof.statistics import (
    ALPHA,
    LEAST_QUESTIONS,
    RESAMPLES,
    Interval,
    paired_bootstrap,
)
from core.proof.tasks import Task

#: So many evaluators that made neither text are needed.
LEAST_EVALUATORS = 3
#: Who is right less often on pairs with a known better text is not heard.
LEAST_ACCURACY = 0.6
#: Pairs with a known better text that evaluators are tested on; an even number.
KNOWN_PAIRS = 16
#: From so great a ratio of lengths on, one text counts as the longer one altogether.
_LONGER = 1.1
#: How much longer the padded text of a known pair is, about.
_PADDED = 2.0
_PADDING = (
    "This was weighed with care, and from several sides.",
    "All who will work with it were thought of, now and later.",
    "It is a matter that deserves attention, and it was given some.",
    "There are of course further aspects that could be looked at.",
    "The wider context has to be kept in view at all times.",
)
#: `## Risks`, and `**Risks:**` on a line of its own.
_HEADING = re.compile(
    r"^\s{0,3}#{1,6}\s+[^\n]*$|^\s{0,3}\*\*[^*\n]{1,60}(?::\*\*|\*\*:)[ \t]*$", re.MULTILINE
)
_MARKS = re.compile(r"^\s{0,6}(?:[-*+•]|\d{1,2}[.)])\s+|[*_`>|]+", re.MULTILINE)
_STANCE = re.compile(r"^\W{0,8}stance\W{0,4}:[^\n]*$", re.IGNORECASE | re.MULTILINE)
#: Who spoke and how it was found tells which of the texts a debate wrote.
_TELLING = re.compile(
    r"\b(?:the )?(?:judge|panel(?:ists?)?|voters?|debaters?|agents?|ballots?|debates?)\b",
    re.IGNORECASE,
)


def bare(text: str, names: Collection[str] = ()) -> str:
    """The text without headings, marks, names and words that tell how it was made.

    Args:
        text: Markdown.
        names: Of agents; they are called "somebody".
    """
    plain = _STANCE.sub("", _HEADING.sub("", text))
    plain = _MARKS.sub("", plain)
    for name in sorted(names, key=len, reverse=True):
        if name.strip():
            plain = re.sub(rf"\b{re.escape(name.strip())}\b", "somebody", plain)
    plain = _TELLING.sub("somebody", plain)
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return "\n".join(filter(None, lines))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two texts for one question; which is whose, no evaluator is told."""

    id: str
    question: str
    #: Of the arm that is asked about, and of its baseline; in a known pair the better one is ours.
    ours: str
    theirs: str
    #: Who made them: nobody of theirs judges.
    makers: frozenset[str] = frozenset()

    @property
    def longer(self) -> float:
        """1 where ours is clearly longer, −1 where theirs is, between them for about as long."""
        ratio = log(max(1, len(self.ours)) / max(1, len(self.theirs))) / log(_LONGER)
        return max(-1.0, min(1.0, ratio))


def known_pairs(tasks: Sequence[Task], count: int = KNOWN_PAIRS) -> Sequence[Pair]:
    """Pairs of which one text is known to be better, half of them the longer one.

    The better text takes the right option for its own reasons; the other one a wrong option, or the
    right one, for reasons of another question.
    """
    found = [task for task in tasks if task.reasons]
    pairs: list[Pair] = []
    for at, task in enumerate(found[:count] if len(found) > 1 else ()):
        other = found[(at + 1) % len(found)]
        right = next(one.name for one in task.options if one.id == task.answer)
        wrong = next(one.name for one in task.options if one.id != task.answer)
        better = _argued(right, task.reasons)
        worse = _argued(wrong if at % 4 < 2 else right, other.reasons)  # noqa: PLR2004 - half of them
        if at % 2:
            better = _padded(better, len(worse))
        else:
            worse = _padded(worse, len(better))
        pairs.append(Pair(id=f"known/{task.id}", question=task.question, ours=better, theirs=worse))
    return pairs[: len(pairs) // 2 * 2]


def _argued(option: str, reasons: Sequence[str]) -> str:
    return "\n".join((f"{option}.", *(f"{reason.rstrip('.')}." for reason in reasons)))


def _padded(text: str, length: int) -> str:
    """The text with sentences that say nothing, until it is about twice that length."""
    lines, at = [text], 0
    while len("\n".join(lines)) < _PADDED * length:
        lines.append(_PADDING[at % len(_PADDING)])
        at += 1
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How one evaluator judged one pair in both orders: 1 for ours, −1 for theirs, else 0."""

    evaluator: str
    pair: str
    ours_first: int
    ours_second: int

    @property
    def score(self) -> int:
        """What holds in both orders; 0 where the order decided."""
        return self.ours_first if self.ours_first == self.ours_second else 0

    @property
    def is_flipped(self) -> bool:
        """Whether the order decided."""
        return self.ours_first != self.ours_second


@dataclass(frozen=True, kw_only=True)
class Tested:
    """What is known of an evaluator from pairs whose better text is known."""

    evaluator: str
    #: Share of right judgments, each order for itself.
    accuracy: float
    #: Share of the pairs that were judged otherwise in the other order.
    flips: float
    #: How much more it likes a text for being the longer one: 0 not at all, 1 always.
    length: float
    pairs: int

    @property
    def is_heard(self) -> bool:
        """Whether what it says counts."""
        return self.pairs > 0 and self.accuracy >= LEAST_ACCURACY

    @property
    def words(self) -> str:
        """For people."""
        heard = "" if self.is_heard else f"; not heard: below {percent(LEAST_ACCURACY)}"
        return (
            f"{self.evaluator}: right on {percent(self.accuracy)} of "
            f"{counted(self.pairs, 'known pair')} in both orders, changed with the order on "
            f"{percent(self.flips)}, taste for length {points(self.length)} of 100{heard}"
        )


def examine(evaluator: str, known: Sequence[Pair], judged: Sequence[Judged]) -> Tested:
    """How an evaluator did on known pairs."""
    by_id = {pair.id: pair for pair in known}
    own = [one for one in judged if one.evaluator == evaluator and one.pair in by_id]
    if not own:
        return Tested(evaluator=evaluator, accuracy=0.0, flips=0.0, length=0.0, pairs=0)
    right = [one.ours_first == 1 for one in own] + [one.ours_second == 1 for one in own]
    return Tested(
        evaluator=evaluator,
        accuracy=fmean(right),
        flips=fmean(one.is_flipped for one in own),
        length=_taste(_by_length(own, known)),
        pairs=len(own),
    )


def _by_length(judged: Sequence[Judged], known: Sequence[Pair]) -> Sequence[Sequence[int]]:
    """Scores on known pairs, 1 for the longer text: where it is the better one, and where not."""
    by_id = {pair.id: pair for pair in known}
    own = [(one.score, by_id[one.pair].longer) for one in judged if one.pair in by_id]
    better = [score for score, longer in own if longer > 0]
    return better, [-score for score, longer in own if longer < 0]


def _taste(sides: Sequence[Sequence[int]]) -> float:
    """How much scores follow length where length says nothing of quality.

    The mean over known pairs whose better text is the longer one and over those where it is the
    shorter one, apart, so that unequal numbers of them change nothing.
    """
    return max(0.0, fmean(fmean(side) for side in sides)) if all(sides) else 0.0


@dataclass(frozen=True, kw_only=True)
class PairFinding:
    """Which of two arms' texts evaluators found better."""

    pairs: int
    evaluators: tuple[str, ...]
    #: Mean of the scores, −1 (always theirs) to 1 (always ours); None: too little to say.
    raw: Interval | None = None
    #: The same with each evaluator's taste for length taken off.
    adjusted: Interval | None = None
    #: Share of the judgments that changed with the order.
    flips: float = 0.0
    #: Why nothing can be said; empty where it can.
    fault: str = ""

    @property
    def is_evident(self) -> bool:
        """Whether one is better: as judged, and with the taste for length taken off as well."""
        found = [one for one in (self.raw, self.adjusted) if one]
        better, worse = all(one.low > 0 for one in found), all(one.high < 0 for one in found)
        return bool(found) and (better or worse)


def heard_on(
    pairs: Sequence[Pair],
    judged: Sequence[Judged],
    known: Sequence[Pair],
    families: Mapping[str, str],
) -> Sequence[Judged]:
    """The judgments on these pairs that count: of who passed the test and made neither text."""
    fit = {name for name in families if examine(name, known, judged).is_heard}
    makers = {pair.id: pair.makers for pair in pairs}
    return [
        one
        for one in judged
        if one.evaluator in fit
        and one.pair in makers
        and families[one.evaluator] not in makers[one.pair]
    ]


def compare_pairs(
    pairs: Sequence[Pair],
    judged: Sequence[Judged],
    known: Sequence[Pair],
    families: Mapping[str, str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> PairFinding:
    """What evaluators found, of whom at least three must be fit to judge each pair.

    Args:
        pairs: One per question.
        judged: All judgments, those on known pairs among them.
        known: Pairs with a known better text.
        families: The maker of each evaluator's model.
        seed: The same seed gives the same interval.
        resamples: Draws of pairs, and of known pairs, with replacement.
    """
    by_pair = {pair.id: pair for pair in pairs}
    own = heard_on(pairs, judged, known, families)
    enough = [
        name
        for name in by_pair
        if len({one.evaluator for one in own if one.pair == name}) >= LEAST_EVALUATORS
    ]
    used = [one for one in own if one.pair in enough]
    heard = tuple(name for name in families if any(one.evaluator == name for one in used))
    if len(enough) < LEAST_QUESTIONS:
        fault = (
            f"Fewer than {LEAST_EVALUATORS} evaluators that made neither text and passed the test "
            f"judged {LEAST_QUESTIONS} pairs or more."
        )
        return PairFinding(pairs=len(enough), evaluators=heard, fault=fault)
    scores = {name: [one for one in used if one.pair == name] for name in enough}
    raw = [fmean(one.score for one in scores[name]) for name in enough]
    by_evaluator = {name: [one for one in judged if one.evaluator == name] for name in heard}
    sides = {name: _by_length(own_ones, known) for name, own_ones in by_evaluator.items()}
    longer = [by_pair[name].longer for name in enough]
    return PairFinding(
        pairs=len(enough),
        evaluators=heard,
        raw=paired_bootstrap(raw, seed=seed, resamples=resamples),
        adjusted=_without_length(
            list(scores.values()), longer, sides, seed=seed, resamples=resamples
        ),
        flips=fmean(one.is_flipped for one in used),
    )


def _without_length(
    scores: Sequence[Sequence[Judged]],
    longer: Sequence[float],
    sides: Mapping[str, Sequence[Sequence[int]]],
    *,
    seed: int,
    resamples: int,
) -> Interval:
    """The mean score of pairs with each evaluator's taste for length taken off.

    How well that taste is known counts as well: known pairs are drawn again with the pairs.

    Args:
        scores: The judgments of each pair.
        longer: Whether ours is the longer text in it, 1 to −1.
        sides: Of each evaluator: its scores on known pairs, by length.
        seed: The same seed gives the same interval.
        resamples: Draws with replacement.
    """
    raw = [fmean(one.score for one in of_pair) for of_pair in scores]
    # What one whole unit of an evaluator's taste adds to the score of each pair.
    adds = {
        name: [
            length / len(of_pair) if any(one.evaluator == name for one in of_pair) else 0.0
            for of_pair, length in zip(scores, longer, strict=True)
        ]
        for name in sides
    }

    def mean(drawn: Sequence[int], tastes: Mapping[str, float]) -> float:
        added = (taste * fmean(adds[name][at] for at in drawn) for name, taste in tastes.items())
        return fmean(raw[at] for at in drawn) - sum(added)

    chance = Random(seed)  # noqa: S311 - no secret: the same interval every time
    everything, means = range(len(raw)), list[float]()
    for _ in range(resamples):
        tastes = {
            name: _taste([chance.choices(side, k=len(side)) if side else side for side in both])
            for name, both in sides.items()
        }
        means.append(mean(chance.choices(everything, k=len(raw)), tastes))
    found = {name: _taste(both) for name, both in sides.items()}
    ranked, last = sorted(means), len(means) - 1
    low, high = ranked[round(ALPHA / 2 * last)], ranked[round((1 - ALPHA / 2) * last)]
    middle, wide = mean(everything, found), sqrt(len(raw) / (len(raw) - 1))  # for small numbers
    return Interval(middle, middle - (middle - low) * wide, middle + (high - middle) * wide)


def makers_of(models: Sequence[ModelChoice]) -> frozenset[str]:
    """Who made these models."""
    return frozenset(one.maker for one in models)
