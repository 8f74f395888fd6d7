"""Runs the rules of options, gate, vote, confidence and movement on recorded answers.

    python -m bench.judgement_replay [FILE.jsonl]

Without a file it makes a synthetic set with planted truths, so that anybody can see whether the
rules find what was planted. A line of a file holds `question`, `model`, `phase` ("first" before the
models read each other, "second" after), `probability` (of "yes", 0 to 1) and, once it is known,
`answer` (true or false). Nothing is asked of any model.
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.models import Act, Ballot, Option, Turn
from core.rules.agreement import agreement, moved
from core.rules.confidence import Grounds, confidence
from core.rules.options import OptionList, leading
from core.rules.voting import count_options, winning_options

YES, NO = Option(id="o1", name="yes"), Option(id="o2", name="no")
OPTIONS = OptionList(items=(YES, NO))
#: Calls of a whole debate of three agents and one round, and of drafts and blind ballots alone.
CALLS_DEBATED, CALLS_SKIPPED = 6 + 6 + 3 + 3, 6
#: Where the bands of confidence begin, in percent.
BANDS = (0, 60, 75, 90)


@dataclass(frozen=True)
class Item:
    """One question with every model's answers: probabilities of "yes"."""

    question: str
    first: Mapping[str, float]
    second: Mapping[str, float]
    answer: bool


@dataclass(frozen=True)
class Outcome:
    """What the rules make of one question."""

    is_debated: bool
    #: Probability of "yes" by the mean of the first and second answers, and as the gate has it.
    vote: float
    debate: float
    gated: float
    #: How sure the verdict is, in percent, and for which option it is; empty for a tie.
    confidence: int
    verdict: str
    #: Models that moved, by whether they moved to the right side or away from it.
    moved_right: int
    moved_wrong: int


def read(path: Path) -> list[Item]:
    """The items of a file; questions without an answer or a phase are left out."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    found: dict[str, dict[str, dict[str, float]]] = {}
    answers: dict[str, bool] = {}
    for line in lines:
        question = str(line["question"])
        phases = found.setdefault(question, {"first": {}, "second": {}})
        phases[line["phase"]][line["model"]] = float(line["probability"])
        if "answer" in line:
            answers[question] = bool(line["answer"])
    return [
        Item(question, phases["first"], phases["second"], answers[question])
        for question, phases in found.items()
        if question in answers and phases["first"] and phases["second"]
    ]


def planted(questions: int = 400, seed: int = 7) -> list[Item]:
    """A set with planted truths: three of four questions are easy, and debating helps on the rest.

    On easy ones all models lie within 20 points on the right side, and talk changes nothing. On
    hard ones they split, and after reading each other move by half of the way to the truth.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret: the same set every time
    return [_planted(chance, number) for number in range(questions)]


def _planted(chance: random.Random, number: int) -> Item:
    answer = chance.random() < 0.5
    right = float(answer)
    models: Sequence[str] = ("one/a", "two/b", "three/c")
    if number % 4:
        first: Mapping[str, float] = {
            model: abs(1 - right - chance.uniform(0.82, 0.94)) for model in models
        }
        return Item(f"q{number}", first, first, answer)
    said = (chance.uniform(0.55, 0.9), chance.uniform(0.1, 0.45), chance.uniform(0.3, 0.7))
    first = dict[str, float](zip(models, said, strict=True))
    second = {model: (share + right) / 2 for model, share in first.items()}
    return Item(f"q{number}", first, second, answer)


def judged(item: Item) -> Outcome:
    """What gate, vote, confidence and movement make of one question."""
    first = {model: _shares(share) for model, share in item.first.items()}
    second = {model: _shares(share) for model, share in item.second.items()}
    debated = not agreement(first).is_agreed
    final = second if debated else first
    ballots = [_ballot(model, shares) for model, shares in final.items()]
    winners = winning_options(count_options(OPTIONS, ballots))
    verdict = winners[0] if len(winners) == 1 else ""
    grounds = Grounds(
        option=verdict,
        votes=final,
        first_votes=first,
        models={m: m for m in final},
        voters=len(final),
    )
    sure = confidence(grounds)
    right = YES.id if item.answer else NO.id
    moves = [(leading(first[m]), leading(second[m])) for m in final if moved(first[m], second[m])]
    return Outcome(
        is_debated=debated,
        vote=_mean(item.first),
        debate=_mean(item.second),
        gated=_mean(item.second if debated else item.first),
        confidence=sure.percent or 0,
        verdict=verdict,
        moved_right=sum(before != right == after for before, after in moves),
        moved_wrong=sum(before == right != after for before, after in moves),
    )


def report(items: Sequence[Item]) -> Iterator[str]:
    """What came out, line by line."""
    outcomes = [judged(item) for item in items]
    debated = sum(outcome.is_debated for outcome in outcomes)
    spent = debated * CALLS_DEBATED + (len(outcomes) - debated) * CALLS_SKIPPED
    yield f"questions {len(items)}, debated {debated} ({debated / len(items):.0%})"
    yield f"calls saved by the gate: {1 - spent / (len(outcomes) * CALLS_DEBATED):.0%}"
    pairs = list(zip(items, outcomes, strict=True))
    vote, debate, gated = (
        sum((getattr(one, name) - item.answer) ** 2 for item, one in pairs) / len(pairs)
        for name in ("vote", "debate", "gated")
    )
    yield f"Brier: vote {vote:.4f}, debate {debate:.4f}, gate {gated:.4f}"
    if vote != debate:
        yield f"gain of the debate kept by the gate: {(vote - gated) / (vote - debate):.0%}"
    right, wrong = (sum(getattr(o, f"moved_{way}") for o in outcomes) for way in ("right", "wrong"))
    yield f"changes of side: {right} wrong to right, {wrong} right to wrong"
    for least, below in zip(BANDS, (*BANDS[1:], 101), strict=True):
        band = [(i, o) for i, o in pairs if o.verdict and least <= o.confidence < below]
        if band:
            hits = sum((o.verdict == YES.id) == i.answer for i, o in band)
            share = f"{hits / len(band):.0%} right"
            yield f"confidence {least} to {below - 1}: {len(band)} verdicts, {share}"


def _shares(yes: float) -> Mapping[str, float]:
    return {YES.id: yes, NO.id: 1 - yes}


def _ballot(voter: str, shares: Mapping[str, float]) -> Ballot:
    turn = Turn(act=Act.BALLOT, round=1, agent=voter)
    return Ballot(turn=turn, ranking=(voter,), probabilities=shares)


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / len(shares)


def main() -> None:
    """Print what the rules make of the file, or of the planted set."""
    items = read(Path(sys.argv[1])) if len(sys.argv) > 1 else planted()
    if not items:
        sys.exit("No question in this file has both phases and an answer.")
    for line in report(items):
        print(line)


if __name__ == "__main__":
    main()
