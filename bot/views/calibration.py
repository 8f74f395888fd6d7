"""How accepted decisions turned out, as Home shows it to one person (pure)."""

from bot.slack.mrkdwn.escape import literal
from bot.views.message import Block, context, header, listed, sections
from core.calibration import (
    FEWEST,
    Calibration,
    interval_words,
    states,
)

_LIMIT = 2500
_NOTE = "In channels you are in. Moot weights nothing by these figures."
_ROWS_NOTE = (
    "Held in part counts as not held; behind each share stands its 95% interval. *Against it*: "
    "decisions of which this model or role held another option best to the end."
)


def calibration_blocks(found: Calibration) -> list[Block]:
    """Return what is known of how decisions turned out; nothing where none was accepted."""
    if not found.accepted:
        return []
    lines = [*map(literal, found.findings), f"_{literal(states(found))}_"]
    blocks = [header("How decisions turned out"), *sections(listed(lines, _LIMIT))]
    for group in dict.fromkeys(row.group for row in found.rows[1:] if found.known >= FEWEST):
        rows = [
            f"• {literal(row.name)}: {row.held} of {row.count} held, {interval_words(row.share)}"
            f"{f', {row.partly} in part' if row.partly else ''}"
            f"{f', {row.reversed} reversed' if row.reversed else ''}"
            for row in found.rows
            if row.group == group
        ]
        blocks += sections(listed([f"*{literal(group)}*", *rows], _LIMIT))
    return [*blocks, *context(*([_ROWS_NOTE] if found.known >= FEWEST else []), _NOTE)]
