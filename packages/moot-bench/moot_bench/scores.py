"""What an answer to a question with a known answer is worth: accuracy, Brier, log loss (pure).

Brier score = ½ Σ over options of (probability − 1 for the right one, else 0)², so that of a
forecast of yes or no it is the usual (probability − outcome)². 0 is perfect, lower is better.
Sources: G. W. Brier, Monthly Weather Review 78 (1950); I. J. Good, "Rational decisions" (1952).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import log, sqrt
from statistics import NormalDist

from core.figures import percent

#: Probabilities count as at least this in the log loss: one certain miss must not outweigh all.
LEAST_PROBABILITY = 0.01
#: Where the bands of calibration begin.
BANDS = (0.0, 0.6, 0.75, 0.9)


@dataclass(frozen=True, kw_only=True)
class ArmAnswer:
    arm: str
    question: str
    #: Id of the right option.
    truth: str
    #: Probabilities by option id, 1 together.
    probabilities: Mapping[str, float]
    #: The option chosen; several where they are level, none where nothing was chosen.
    chosen: tuple[str, ...]
    #: US dollars; None: a price is unknown.
    cost: Decimal | None = Decimal(0)
    #: Whether probabilities could be read; else all options count as equally likely.
    is_read: bool = True
    #: First and last choice of each agent that voted before and after a debate; "" for level.
    sides: Sequence[tuple[str, str]] = field(default_factory=tuple[tuple[str, str], ...])


def accuracy(answer: ArmAnswer) -> float:
    """1 for the right option, its share of a tie, else 0."""
    return 1 / len(answer.chosen) if answer.truth in answer.chosen else 0.0


def brier(answer: ArmAnswer) -> float:
    """The Brier score, 0 to 1; lower is better."""
    options = {*answer.probabilities, answer.truth}
    shares = ((answer.probabilities.get(option, 0.0), option == answer.truth) for option in options)
    return sum((share - is_right) ** 2 for share, is_right in shares) / 2


def log_loss(answer: ArmAnswer) -> float:
    """−ln of the probability given to the right option, at least `LEAST_PROBABILITY`."""
    share = answer.probabilities.get(answer.truth, 0.0)
    return -log(min(1.0, max(LEAST_PROBABILITY, share)))


@dataclass(frozen=True)
class Changes:
    """Agents that chose another option after a debate than before it."""

    wrong_to_right: int
    right_to_wrong: int

    @property
    def words(self) -> str:
        return f"{self.wrong_to_right} wrong → right, {self.right_to_wrong} right → wrong"


def changes_of_side(answers: Sequence[ArmAnswer]) -> Changes:
    """How many agents went over to the right option, and how many left it."""
    sides = [(before == a.truth, after == a.truth) for a in answers for before, after in a.sides]
    return Changes(sides.count((False, True)), sides.count((True, False)))


@dataclass(frozen=True)
class Band:
    """Answers whose best option had a probability in this range."""

    least: float
    below: float
    answers: int
    mean_probability: float
    #: Share of them whose best option was right, with its 95 % interval.
    right: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """For people: "75% to 90%"."""
        return f"{percent(self.least)} to {percent(self.below)}"


def calibration(answers: Sequence[ArmAnswer]) -> Sequence[Band]:
    """How often the best option was right, by how likely it was held; empty bands are left out."""
    bands: list[Band] = []
    pairs = list[tuple[float, float]]()
    for answer in (answer for answer in answers if answer.is_read):
        most = max(answer.probabilities.values(), default=0.0)
        tied = tuple(item for item, share in answer.probabilities.items() if share == most)
        # Whether the best option is the right one: a share where several are the best.
        pairs.append((most, 1 / len(tied) if answer.truth in tied else 0.0))
    for least, below in zip(BANDS, (*BANDS[1:], 1.0), strict=True):
        band = [
            (share, accuracy_of_best)
            for share, accuracy_of_best in pairs
            if least <= share < below or (share >= below == 1.0)
        ]
        if not band:
            continue
        shares, hits = zip(*band, strict=True)
        low, high = share_interval(sum(hits), len(hits))
        mean, right = sum(shares) / len(shares), sum(hits) / len(hits)
        bands.append(Band(least, below, len(band), mean, right, low, high))
    return bands


def share_interval(hits: float, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, 1927)."""
    z = NormalDist().inv_cdf(0.975)
    share, spread = hits / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / trials + spread / trials / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
