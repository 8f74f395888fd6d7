"""`moot calibration`: how accepted decisions turned out, as a table, a picture, CSV or JSON."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from bot.building import database_place, open_records
from bot.log import logger, set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.charts import calibration_chart, check_chart
from bot.terminal.files import check_writable, form_for, put_out, tell, write_file
from core.calibration import (
    Calibration,
    Case,
    calibration,
    interval_words,
    states,
)
from core.figures import percent
from core.transcript.words import table
from core.use_cases.calibrate import CountOutcomes

_log = logger(__name__)

#: More than any database holds.
_ALL = 2**31
_HEADS = ("", "Held", "Partly", "Reversed", "Share held (95% interval)", "Confidence said")
_NOTE = (
    "Held in part counts as not held. Intervals are Wilson's; with many rows one in twenty misses. "
    "Only decisions your teams accepted are here, and only those somebody spoke of again. *Against "
    "it*: decisions of which this model or role held another option best to the end. Moot weights "
    "nothing by these figures."
)


async def show_calibration(
    channel: str, form: str | None, output: Path | None, picture: Path | None
) -> None:
    """Count all outcomes of the database, or of one channel, and print or write them.

    Args:
        channel: Its id; empty: all of them.
        form: md, csv (a line per decision) or json (both); None: what the file's suffix says.
        output: A file to write into; None: standard output.
        picture: A file for the chart, .svg, .png or .pdf; None: none.

    Raises:
        BadInput: A file cannot be written, or matplotlib is missing.
        StoreDown: The database cannot be opened.
    """
    form = form_for(output, form, ("md", "csv", "json"))
    check_writable(output)
    check_writable(picture)
    check_chart(picture)
    environment = read_settings()
    set_up_logs(LogLevel.WARNING, environment.moot_log_format, environment.secrets)
    async with open_records(environment.moot_database) as store:
        counting = CountOutcomes(
            store=store,
            on_unreadable=lambda debate_id, error: _log.warning(
                "debate not counted", debate=debate_id, reason=str(error)
            ),
        )
        cases = await counting.cases(None, [channel] if channel else None, _ALL)
    found = calibration(cases)
    match form:
        case "csv":
            text = cases_csv(cases)
        case "json":
            values = {"summary": _summary(found), "decisions": [_values(case_) for case_ in cases]}
            text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
        case _:
            text = calibration_text(found)
    put_out(text, output)
    if not cases:
        tell(f"No accepted decision is known in {database_place(environment.moot_database)}.")
    if picture is None:
        return
    if chart := calibration_chart(found, picture.suffix.lower().lstrip(".")):
        write_file(picture, chart)
        tell(f"Wrote {picture}.")
    else:
        tell("There is no picture: nobody has said how a decision turned out.")


def calibration_text(found: Calibration) -> str:
    """What is known, the plainest sentence first, then a table per group; Markdown."""
    parts = [" ".join(found.findings), states(found)]
    for group in dict.fromkeys(row.group for row in found.rows):
        rows = [
            (
                row.name,
                row.held,
                row.partly,
                row.reversed,
                interval_words(row.share),
                "" if row.stated is None else percent(row.stated),
            )
            for row in found.rows
            if row.group == group
        ]
        parts.append(table((group, *_HEADS[1:]), rows))
    return "\n\n".join([*parts, _NOTE]) + "\n"


def cases_csv(cases: Sequence[Case]) -> str:
    """A line per accepted decision."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for case in cases:
        values = _values(case)
        rows.writerow([_cell(values[name]) for name in _COLUMNS])
    return out.getvalue()


_COLUMNS = (
    *("debate", "accepted_at", "asked", "replaced", "outcome", "said_at", "confidence"),
    *("was_skipped", "alone_agrees", "models_for", "models_against", "roles_for", "roles_against"),
    "overruled",
)


def _values(case: Case) -> dict[str, Any]:
    """A case for programs; times in ISO 8601."""
    return {
        "debate": case.debate_id,
        "accepted_at": case.accepted_at.isoformat() if case.accepted_at else None,
        "asked": case.asked,
        "replaced": case.replaced,
        "outcome": case.outcome.value if case.outcome else None,
        "said_at": case.said_at.isoformat() if case.said_at else None,
        "confidence": case.confidence,
        "was_skipped": case.was_skipped,
        "alone_agrees": case.alone_agrees,
        "models_for": [voice.model for voice in case.voices if voice.is_for],
        "models_against": [voice.model for voice in case.voices if not voice.is_for],
        "roles_for": [voice.role for voice in case.voices if voice.is_for],
        "roles_against": [voice.role for voice in case.voices if not voice.is_for],
        "overruled": case.overruled,
    }


def _cell(value: object) -> str:
    """A value in a spreadsheet, where nothing is a formula; several have `|` between."""
    several = isinstance(value, tuple | list)
    words = "" if value is None else str(value)
    if several:
        words = " | ".join(map(str, cast("Sequence[object]", value)))
    return f"'{words}" if words[:1] in "=+-@" and words else words


def _summary(found: Calibration) -> dict[str, Any]:
    return {
        "accepted": found.accepted,
        "known": found.known,
        "too_early": found.too_early,
        "unanswered": found.unanswered,
        "not_asked": found.not_asked,
        "replaced": found.replaced,
        "findings": list(found.findings),
        "rows": [
            {
                "group": row.group,
                "name": row.name,
                "held": row.held,
                "partly": row.partly,
                "reversed": row.reversed,
                "share_held": round(row.share.mean, 4),
                "low": round(row.share.low, 4),
                "high": round(row.share.high, 4),
                "confidence_said": None if row.stated is None else round(row.stated, 4),
            }
            for row in found.rows
        ],
    }
