"""What a bench found: a report in Markdown with its last line, and every answer as CSV (pure)."""

import csv
import io
from collections.abc import Sequence

from core.figures import counted, money, percent, points, score
from core.proof.comparison import ArmScores, Comparison, Measure, compare, conclusion
from core.proof.scores import accuracy, brier, calibration, changes_of_side, share_interval
from core.proof.statistics import smallest_effect
from core.transcript.words import bullets, table

#: From this corrected p value down a difference is called one.
_EVIDENT = "yes"


def report(
    arms: Sequence[ArmScores],
    measure: Measure,
    *,
    notes: Sequence[str] = (),
    picture: str = "",
) -> str:
    """The whole report; its last line is the finding.

    Args:
        arms: Each with its answers to the same questions.
        measure: What arms are compared by.
        notes: What was left out, stopped or failed.
        picture: The file with the picture; empty: there is none.
    """
    found = compare(arms, measure)
    asked = max((len(arm.answers) for arm in arms), default=0)
    size = f"{counted(asked, 'question')}, {counted(len(arms), 'arm')}"
    parts = ["# Bench", f"{size}, compared by {measure}.", _scores(arms)]
    if picture:
        parts.append(f"![What each arm costs and gets right]({picture})")
    if found:
        parts += ["## Differences", _differences(found, measure)]
    parts += _changes(arms)
    parts += _calibration(arms)
    if notes:
        parts += ["## Notes", bullets(notes)]
    parts += ["## Finding", conclusion(found, measure)]
    return "\n\n".join(parts) + "\n"


def answers_csv(arms: Sequence[ArmScores]) -> str:
    """One row per arm and question."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(
        ("question", "arm", "right option", "chosen", "probability", "right", "brier", "usd")
    )
    for arm in arms:
        for one in arm.answers:
            share = score(one.probabilities.get(one.truth, 0.0))
            figures = (
                score(accuracy(one)),
                score(brier(one)),
                "" if one.cost is None else one.cost,
            )
            # A spreadsheet must not take an id for a formula.
            name = f"'{one.question}" if one.question[:1] in "=+-@" else one.question
            rows.writerow((name, one.arm, one.truth, " ".join(one.chosen), share, *figures))
    return out.getvalue()


def power_words(questions: int, arms: int) -> str:
    """What so many questions can show, said before anything is spent."""
    seen = smallest_effect(questions, comparisons=max(1, arms))
    if seen is None:
        return (
            f"{counted(questions, 'question')} are too few to show any difference in accuracy "
            "between these arms: take the figures as a try."
        )
    return (
        f"{counted(questions, 'question')} show a gain in accuracy of {points(seen)} points or "
        "more four times of five (if arms differ on three of ten questions, with Holm's "
        f"correction for {counted(max(1, arms), 'comparison')})."
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


def _differences(found: Sequence[Comparison], measure: Measure) -> str:
    rows = [
        (
            f"{one.arm.arm} − {one.baseline.arm}",
            points(one.gain.mean) if one.gain else "–",
            f"{points(one.gain.low)} to {points(one.gain.high)}" if one.gain else "–",
            score(one.p),
            _EVIDENT if one.is_evident else "no",
        )
        for one in found
    ]
    unit = "points" if measure is Measure.ACCURACY else "points of Brier score"
    return table(("Difference", f"Better by ({unit})", "95% interval", "p (Holm)", "Evident"), rows)


def _changes(arms: Sequence[ArmScores]) -> Sequence[str]:
    """Who changed sides in debates that were held."""
    lines = [
        f"{arm.arm}: {changes_of_side(arm.answers).words}"
        for arm in arms
        if any(answer.sides for answer in arm.answers)
    ]
    return ["## Changes of side", bullets(lines)] if lines else []


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
