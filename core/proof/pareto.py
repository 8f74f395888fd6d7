"""The picture of what each arm costs and what it gets right, as SVG (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor, log10

from core.figures import money, percent, score
from core.proof.comparison import ArmKind, ArmMeasure, ArmScores
from core.proof.svg import framed, rule, text

_WIDTH, _HEIGHT = 880, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 250, 48, 64
_COLOURS = {ArmKind.SOLO: "#6b7280", ArmKind.VOTE: "#0f766e", ArmKind.DEBATE: "#b45309"}
_WORDS = {ArmKind.SOLO: "one answer", ArmKind.VOTE: "drafts and a vote", ArmKind.DEBATE: "debate"}
#: Pixels between two labels, so that none covers another.
_LINE = 15
#: Steps of the scale of scores.
_STEPS = 4


@dataclass(frozen=True)
class Point:
    """An arm in the picture. Cost in US dollars; `worth` is higher where the arm is better."""

    arm: ArmScores
    cost: float
    worth: float
    x: float = 0.0
    y: float = 0.0


def pareto_svg(arms: Sequence[ArmScores], measure: ArmMeasure) -> str:
    """Cost per question (to the right, logarithmic) against the score (better is higher).

    The line joins the arms that no other one beats at the same or a lower cost. Arms whose cost is
    unknown or nothing are left out; without any there is no picture (an empty text).
    """
    sign = 1 if measure is ArmMeasure.ACCURACY else -1
    bare = [Point(a, float(a.cost), sign * a.by(measure)) for a in arms if a.cost]
    if not bare:
        return ""
    lowest, highest = min(p.cost for p in bare), max(p.cost for p in bare)
    first, last = floor(log10(lowest)), floor(log10(highest)) + 1
    worst, best = min(p.worth for p in bare), max(p.worth for p in bare)
    room = (best - worst) * 0.1 or 0.05
    worst, best = worst - room, best + room
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at_cost(cost: float) -> float:
        return _LEFT + (log10(cost) - first) / (last - first) * across

    def at_worth(worth: float) -> float:
        return _TOP + (best - worth) / (best - worst) * down

    placed = [Point(p.arm, p.cost, p.worth, at_cost(p.cost), at_worth(p.worth)) for p in bare]
    show = percent if measure is ArmMeasure.ACCURACY else score
    lines: list[str] = []
    for power in range(first, last + 1):
        x = at_cost(10.0**power)
        lines.append(rule(x, _TOP, x, _HEIGHT - _BOTTOM))
        label = money(Decimal(10) ** power)
        lines.append(text(x, _HEIGHT - _BOTTOM + 18, label, anchor="middle"))
    for step in range(_STEPS + 1):
        worth = worst + (best - worst) * step / _STEPS
        y = at_worth(worth)
        lines.append(rule(_LEFT, y, _WIDTH - _RIGHT, y))
        lines.append(text(_LEFT - 8, y + 4, show(min(1.0, abs(worth))), anchor="end"))
    lines.append(text(_LEFT + across / 2, _HEIGHT - 18, "Cost per question", anchor="middle"))
    what = f"{measure.capitalize()} ({'higher' if sign > 0 else 'lower, drawn higher,'} is better)"
    lines.append(text(_LEFT, 24, what))
    front = front_of(placed)
    path = " ".join(f"{round(point.x)},{round(point.y)}" for point in front)
    lines.append(f'<polyline points="{path}" fill="none" stroke="#111827" stroke-dasharray="4 3"/>')
    lines += _dots(placed)
    title = f"{measure.capitalize()} and cost per question of each arm"
    return framed(_WIDTH, _HEIGHT, title, lines)


def front_of(placed: Sequence[Point]) -> Sequence[Point]:
    """The points that none beats at the same or a lower cost, cheapest first."""
    front: list[Point] = []
    for point in sorted(placed, key=lambda one: (one.cost, -one.worth)):
        if not front or point.worth > front[-1].worth:
            front.append(point)
    return front


def _dots(placed: Sequence[Point]) -> Sequence[str]:
    """A dot per arm, joined to its name at the right, where no name covers another."""
    lines: list[str] = []
    column, ranked = _WIDTH - _RIGHT + 18, sorted(placed, key=lambda one: one.y)
    rows, row = list[float](), float(_TOP - _LINE)
    for point in ranked:
        row = max(row + _LINE, point.y)
        rows.append(row)
    # Names that would go below the picture move up, and push up those above them.
    lowest = float(_HEIGHT - _BOTTOM)
    for at in reversed(range(len(rows))):
        rows[at] = min(rows[at], lowest)
        lowest = rows[at] - _LINE
    for point, below in zip(ranked, rows, strict=True):
        colour = _COLOURS[point.arm.kind]
        lines.append(
            f'<line x1="{round(point.x)}" y1="{round(point.y)}" x2="{column - 4}" '
            f'y2="{round(below)}" stroke="{colour}" stroke-opacity="0.35"/>'
        )
        lines.append(f'<circle cx="{round(point.x)}" cy="{round(point.y)}" r="5" fill="{colour}"/>')
        lines.append(text(column, below + 4, point.arm.arm, colour=colour))
    for at, (kind, words) in enumerate(_WORDS.items()):
        x = _LEFT + 300 + 150 * at
        lines.append(f'<circle cx="{x}" cy="20" r="5" fill="{_COLOURS[kind]}"/>')
        lines.append(text(x + 9, 24, words))
    return lines
