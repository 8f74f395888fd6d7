"""Charts, drawn by matplotlib, which the extra `charts` installs."""

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from core.calibration import CONFIDENCE, Calibration
from core.errors import BadInput
from core.figures import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Formats matplotlib writes without further packages, by the file's ending.
FORMATS = ("svg", "png", "pdf")
_NAME_LIMIT = 40
_BAR, _DOT, _STATED = "#0f766e", "#0b4f4a", "#b45309"


def has_charts() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def check_chart(path: Path | None) -> None:
    """Check that a chart can be written to a file, before anything is counted.

    Raises:
        BadInput: matplotlib is missing, or the file's ending names no known format.
    """
    if path is None:
        return
    if path.suffix.lower().lstrip(".") not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise BadInput(f"{path} cannot be written: the name of a picture ends in {endings}.")
    if not has_charts():
        raise BadInput(
            "Pictures need matplotlib, which is not installed here. Install it beside Moot: "
            "`pip install matplotlib`, or the extra `moot[charts]`."
        )


def picture(figure: "Figure", form: str = "svg") -> bytes:
    """The figure as a file of that format; the same figure gives the same bytes."""
    from matplotlib import rc_context  # noqa: PLC0415 # pyright: ignore[reportUnknownVariableType]

    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "moot", "svg.fonttype": "none"}):
        # A PNG has no date, and matplotlib warns about one.
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        figure.savefig(out, format=form, metadata=stamp, bbox_inches="tight")
    return out.getvalue()


def calibration_chart(calibration: Calibration, form: str = "svg") -> bytes | None:
    """A line per row: the share that held as a dot, its 95 % interval as a bar.

    Rows of confidences have a mark for what the confidence promised. None: there are no outcomes.
    """
    if not calibration.rows:
        return None
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    rows = list(calibration.rows)
    figure = Figure(figsize=(9, 1.6 + 0.32 * len(rows)))
    axes = figure.add_subplot()
    names: list[str] = []
    for place, row in enumerate(rows):
        share = row.share
        axes.hlines(place, share.low, share.high, color=_BAR, linewidth=6, alpha=0.35)
        axes.plot([share.mean], [place], "o", color=_DOT, label="" if place else "held")
        if row.group == CONFIDENCE and row.stated is not None:
            axes.plot([row.stated], [place], "|", color=_STATED, markersize=14, markeredgewidth=3)
        counts = f"{row.held} of {row.count} ({percent(share.mean)})"
        axes.annotate(counts, (1.02, place), xycoords=("axes fraction", "data"), va="center")
        name = row.name if len(row.name) <= _NAME_LIMIT else f"{row.name[: _NAME_LIMIT - 1]}…"
        names.append(name if row.group == row.name else f"{row.group}: {name}")
    # A name is no formula, whatever it holds.
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], [percent(step / 4) for step in range(5)])
    axes.grid(axis="x", color="#e5e7eb")
    axes.set_xlabel(
        "Share that held (dot) with its 95% interval (bar); | is what the confidence promised"
    )
    axes.set_title("How often accepted decisions held")
    return picture(figure, form)
