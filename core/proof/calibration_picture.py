"""The picture of how often decisions held, with intervals, as SVG (pure)."""

from collections.abc import Sequence

from core.figures import percent
from core.proof.calibration import ALL, CONFIDENCE, Calibration, Row
from core.proof.svg import bar, dot, framed, mark, rule, text

_WIDTH = 880
_LEFT, _RIGHT, _TOP, _BOTTOM = 300, 190, 76, 56
_LINE, _GAP = 24, 16
_BAR, _DOT, _STATED, _QUIET = "#0f766e", "#0b4f4a", "#b45309", "#6b7280"
_STEPS = 4
_NAME_LIMIT = 40


def calibration_svg(found: Calibration) -> str:
    """A line per row: the share that held as a dot, its 95 % interval as a bar.

    Where confidences are shown, a mark says what they promised. Without outcomes there is no
    picture (an empty text).
    """
    if not found.rows:
        return ""
    groups = list(dict.fromkeys(row.group for row in found.rows))
    heights = len(found.rows) * _LINE + (len(groups) - 1) * (_GAP + _LINE)
    height = _TOP + heights + _BOTTOM
    end = height - _BOTTOM
    lines = [text(16, 24, "How often accepted decisions held", size=15)]
    interval, promised = _LEFT + 70, _LEFT + 210
    lines += [
        dot(_LEFT, 45, _DOT),
        text(_LEFT + 10, 49, "held"),
        bar(interval, interval + 30, 45, _BAR),
        text(interval + 38, 49, "95% interval"),
        mark(promised, 45, _STATED),
        text(promised + 8, 49, "what their confidence promised"),
    ]
    for step in range(_STEPS + 1):
        x = _at(step / _STEPS)
        lines.append(rule(x, _TOP - 8, x, end))
        lines.append(text(x, end + 18, percent(step / _STEPS), anchor="middle"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    lines.append(text(middle, end + 40, "Share that held, with 95% interval", anchor="middle"))
    y = float(_TOP + 6)
    for group in groups:
        if group != groups[0]:
            y += _GAP
            lines.append(text(16, y, group, colour=_QUIET))
            y += _LINE
        for row in found.rows:
            if row.group == group:
                lines += _drawn(row, y)
                y += _LINE
    return framed(_WIDTH, round(height), "How often accepted decisions held", lines)


def _at(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _drawn(row: Row, y: float) -> Sequence[str]:
    """Name, interval, share, and what was promised."""
    share, middle = row.share, round(y - 4)
    name = row.name if len(row.name) <= _NAME_LIMIT else f"{row.name[: _NAME_LIMIT - 1]}…"
    counts = f"{row.held} of {row.count} ({percent(share.mean)})"
    low, high, left = _at(share.low), _at(share.high), 16 if row.group == ALL else 28
    lines = [
        text(left, y, name),
        bar(low, high, middle, _BAR),
        dot(_at(share.mean), middle, _DOT),
        text(_WIDTH - _RIGHT + 16, y, counts),
    ]
    if row.group == CONFIDENCE and row.stated is not None:
        lines.append(mark(_at(row.stated), middle, _STATED))
    return lines
