"""The chart of what each arm costs and what it gets right."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING

from core.figures import money, percent, score

from moot_bench.comparison import ArmKind, ArmMeasure, ArmScores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The file in the output folder.
CHART = "cost.svg"
_COLOURS = {ArmKind.SOLO: "#6b7280", ArmKind.VOTE: "#0f766e", ArmKind.DEBATE: "#b45309"}
_WORDS = {ArmKind.SOLO: "one answer", ArmKind.VOTE: "drafts and a vote", ArmKind.DEBATE: "debate"}


def has_charts() -> bool:
    return find_spec("matplotlib") is not None


@dataclass(frozen=True)
class Point:
    """An arm in the chart. Cost in US dollars; `worth` is higher where the arm is better."""

    arm: ArmScores
    cost: float
    worth: float


def cost_chart(arms: Sequence[ArmScores], measure: ArmMeasure) -> bytes | None:
    """Cost per question (to the right, logarithmic) against the score (better is higher), as SVG.

    The line joins the arms that no other one beats at the same or a lower cost. Arms whose cost is
    unknown or nothing are left out; None: none is left.
    """
    sign = 1 if measure is ArmMeasure.ACCURACY else -1
    points = [Point(arm, float(arm.cost), sign * arm.by(measure)) for arm in arms if arm.cost]
    if not points:
        return None
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(9, 5))
    axes = figure.add_subplot()
    axes.set_xscale("log")
    for kind in dict.fromkeys(point.arm.kind for point in points):
        of_kind = [point for point in points if point.arm.kind is kind]
        axes.plot(
            [point.cost for point in of_kind],
            [point.worth for point in of_kind],
            "o",
            color=_COLOURS[kind],
            label=_WORDS[kind],
        )
    front = front_of(points)
    axes.plot(
        [point.cost for point in front],
        [point.worth for point in front],
        "--",
        color="#111827",
        linewidth=1,
    )
    for point in points:
        axes.annotate(
            point.arm.arm,
            (point.cost, point.worth),
            xytext=(6, 4),
            textcoords="offset points",
            color=_COLOURS[point.arm.kind],
            parse_math=False,  # a name is no formula, whatever it holds
        )
    show = percent if measure is ArmMeasure.ACCURACY else score
    axes.xaxis.set_major_formatter(lambda cost, _: money(Decimal(str(cost))))
    axes.yaxis.set_major_formatter(lambda worth, _: show(sign * worth))
    axes.set_xlabel("Cost per question")
    axes.set_ylabel(measure.capitalize())
    axes.set_title(f"{measure.capitalize()} and cost per question of each arm")
    axes.grid(color="#e5e7eb")
    axes.legend()
    return _svg(figure)


def _svg(figure: "Figure") -> bytes:
    """Draw it; the same figure gives the same bytes, as date and ids are left out."""
    from matplotlib import rc_context  # noqa: PLC0415 # pyright: ignore[reportUnknownVariableType]

    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "moot", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return out.getvalue()


def front_of(points: Sequence[Point]) -> Sequence[Point]:
    """The points that none beats at the same or a lower cost, cheapest first."""
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.cost, -point.worth)):
        if not front or point.worth > front[-1].worth:
            front.append(point)
    return front
