"""What a bench found: a report in Markdown with its last line, and every answer as CSV (pure)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from core.figures import money, percent, points, quantity, score
from core.transcript.words import bullets, csv_cell, table

from moot_bench.comparison import (
    ArmMeasure,
    ArmScores,
    Comparison,
    compare,
    conclusion,
    smallest_effect,
)
from moot_bench.scores import accuracy, brier, calibration, changes_of_side, share_interval

#: What each kind of arm does.
_ARMS = {
    "solo": "one answer of one model",
    "vote": "drafts made in isolation, and a blind vote on them",
    "best-of": "the same with as many drafts as cost what a debate costs",
    "think": "one model that rewrites its answer until it has used a debate's output tokens",
    "gate": "a debate where first answers differ, else the vote",
    "critique": "a debate on every question: proposals, critiques, refinements, vote, judge",
    "council": "a debate on every question in the council's form",
    "panel": "a debate on every question in the panel's form",
}
_COLUMNS = (
    "mixed: several models, one agent each in turn",
    "Brier, log loss: of the probabilities stated; 0 is perfect, lower is better",
    "not read: answers that stated no probabilities, all options counted as equally likely",
)
_P_DECIDES = (
    "p decides: where only a few questions come out differently, an interval that leaves out zero "
    "is too narrow."
)
#: From this corrected p value down a difference is called one.
_EVIDENT = "yes"


@dataclass(frozen=True, kw_only=True)
class Recall:
    """How many of the later-named reasons an arm's texts held."""

    arm: str
    found: int
    reasons: int
    #: The mean share over questions, with its 95 % interval.
    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Recalls:
    rows: Sequence[Recall]
    #: Which texts were not read, and why.
    notes: Sequence[str] = ()


def report(
    arms: Sequence[ArmScores],
    measure: ArmMeasure,
    *,
    notes: Sequence[str] = (),
    picture: str = "",
    recalls: Recalls | None = None,
    rules: str = "",
) -> str:
    """The whole report; its last line is the finding.

    `notes` say what was left out, `picture` names a file, `rules` is the report of the same name.
    """
    comparisons = compare(arms, measure)
    questions = max((len(arm.answers) for arm in arms), default=0)
    size = f"{quantity(questions, 'question')}, {quantity(len(arms), 'arm')}"
    # What the arms and the columns are, for who sees nothing else.
    there = dict.fromkeys(arm.arm.partition(" ")[0] for arm in arms)
    lines = [f"{name}: {_ARMS[name]}" for name in there if name in _ARMS]
    legend = bullets([*lines, *_COLUMNS])
    parts = ["# Bench", f"{size}, compared by {measure}.", _scores(arms), legend]
    if picture:
        parts.append(f"![What each arm costs and gets right]({picture})")
    if comparisons:
        parts += ["## Differences", _differences(comparisons, measure)]
        unsure = [result.gain for result in comparisons if result.gain and not result.is_evident]
        if any(gain.low > 0 or gain.high < 0 for gain in unsure):
            parts.append(_P_DECIDES)
    # Who changed sides in debates that were held.
    sided = [
        f"{arm.arm}: {changes_of_side(arm.answers).words}"
        for arm in arms
        if any(answer.sides for answer in arm.answers)
    ]
    parts += ["## Changes of side", bullets(sided)] if sided else []
    parts += _calibration(arms)
    parts += _recalls(recalls) if recalls else ()
    parts += [rules] if rules else ()
    if notes:
        parts += ["## Notes", bullets(notes)]
    parts += ["## Finding", conclusion(comparisons, measure)]
    return "\n\n".join(parts) + "\n"


def answers_csv(arms: Sequence[ArmScores]) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(
        ("question", "arm", "right option", "chosen", "probability", "right", "brier", "usd")
    )
    for arm in arms:
        for answer in arm.answers:
            share = score(answer.probabilities.get(answer.truth, 0.0))
            figures = (
                score(accuracy(answer)),
                score(brier(answer)),
                "" if answer.cost is None else answer.cost,
            )
            names = csv_cell(answer.question), csv_cell(answer.arm)
            rows.writerow((*names, answer.truth, " ".join(answer.chosen), share, *figures))
    return out.getvalue()


def power_words(questions: int, arms: int) -> str:
    """What so many questions can show, said before anything is spent."""
    effect = smallest_effect(questions, comparisons=max(1, arms))
    if effect is None:
        return (
            f"{quantity(questions, 'question')} are too few to show any difference in accuracy "
            "between these arms: take the figures as a try."
        )
    return (
        f"{quantity(questions, 'question')} show a gain in accuracy of {points(effect)} points or "
        "more four times of five (if arms differ on three of ten questions, with Holm's "
        f"correction for {quantity(max(1, arms), 'comparison')})."
    )


def _scores(arms: Sequence[ArmScores]) -> str:
    rows: list[tuple[object, ...]] = []
    for arm in arms:
        low, high = share_interval(sum(map(accuracy, arm.answers)), len(arm.answers))
        rows.append(
            (
                arm.arm,
                f"{percent(arm.accuracy)} ({percent(low)} to {percent(high)})",
                score(arm.brier),
                score(arm.log_loss),
                money(arm.cost),
                arm.unread or "–",
            )
        )
    head = ("Arm", "Right (95% interval)", "Brier", "Log loss", "Cost per question", "Not read")
    return table(head, rows)


def _differences(comparisons: Sequence[Comparison], measure: ArmMeasure) -> str:
    rows = [
        (
            f"{comparison.arm.arm} − {comparison.baseline.arm}",
            points(comparison.gain.mean) if comparison.gain else "–",
            f"{points(comparison.gain.low)} to {points(comparison.gain.high)}"
            if comparison.gain
            else "–",
            score(comparison.p),
            _EVIDENT if comparison.is_evident else "no",
        )
        for comparison in comparisons
    ]
    unit = "points" if measure is ArmMeasure.ACCURACY else "points of Brier score"
    return table(("Difference", f"Better by ({unit})", "95% interval", "p (Holm)", "Evident"), rows)


def _recalls(recalls: Recalls) -> Sequence[str]:
    rows = [
        (
            recall.arm,
            f"{recall.found} of {recall.reasons}",
            f"{percent(recall.share)} ({percent(recall.low)} to {percent(recall.high)})",
        )
        for recall in recalls.rows
    ]
    head = ("Arm", "Reasons found", "Share per question (95% interval)")
    scope = "Reasons that were named after the event, each shown by words of the text."
    parts = ["## Reasons named later", scope, *([table(head, rows)] if rows else [])]
    return [*parts, *([bullets(recalls.notes)] if recalls.notes else [])]


def _calibration(arms: Sequence[ArmScores]) -> Sequence[str]:
    rows = [
        (
            arm.arm,
            band.words,
            band.answers,
            percent(band.mean_probability),
            f"{percent(band.right)} ({percent(band.low)} to {percent(band.high)})",
        )
        for arm in arms
        for band in calibration(arm.answers)
    ]
    head = ("Arm", "Held likely", "Answers", "On average", "Right (95% interval)")
    return ["## Calibration", table(head, rows)] if rows else []


_COMMAND = """```
make results
```

It puts the questions that come with Moot to one answer alone, to a vote, to the gate and to a
debate on each, and writes this page anew; at most $5 are spent. A server on your own machine serves
as well: `make results ARGS="--config local.yaml --max-usd 0"`, with a file that names it
([proof.md](../proof.md))."""


def results_page(report: str, origin: str) -> str:
    """The page of a report; `origin` says how its answers came about."""
    body = report.replace("\n# ", "\n## ").partition("\n")[2].strip()
    return f"# Results\n\n{origin}\n\n{_COMMAND}\n\n{body}\n"


def held_words(*, questions: int, models: Sequence[str], days: tuple[str, str], spent: str) -> str:
    first, last = days
    when = first if first == last else f"{first} to {last}"
    return (
        f"Held {when}: {quantity(questions, 'question')}, {', '.join(models)}; {spent}. "
        "What it says holds for these models, these prompts and this time. Hold it with your own:"
    )


def replayed_words(questions: int) -> str:
    """What recorded answers can be said to show."""
    return (
        "**Nobody has published a run with models yet.** Below stands the replay of "
        f"{quantity(questions, 'question')} with made-up answers of made-up models: it shows what "
        "the report looks like, and says nothing about debates. Whoever has a key holds the real "
        "one:"
    )
