"""What one can do with records: list, show, explain, export."""

import sys
from collections.abc import Sequence
from pathlib import Path

from bot.building import estimating, load_settings, open_records
from bot.log import set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.files import check_writable, put_out, tell
from bot.terminal.summary import metrics as metrics_of
from core.events import Recorded, fold
from core.figures import counted, duration, money, when
from core.ports import DebateEntry, DebateFilter
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.explain import explanation
from core.transcript.inert import visible
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.words import seconds_taken, status_words


async def read_log(debate_id: str) -> Sequence[Recorded]:
    """The log of a debate in the database of the environment.

    Raises:
        DebateUnknown: There is no such debate.
        StoreDown: The database cannot be opened.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    async with open_records(environment.moot_database) as store:
        return await store.events(debate_id)


async def list_records(limit: int, *, running_only: bool) -> None:
    """Print the newest debates: a table on a terminal, tab-separated lines elsewhere."""
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    wanted = DebateFilter(limit=limit, open_only=running_only)
    async with open_records(environment.moot_database) as store:
        entries = await store.find(wanted)
    if not entries:
        tell(f"There are no debates in {environment.moot_database}.")
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - only where somebody looks
        from rich.table import Table  # noqa: PLC0415 - see above
        from rich.text import Text  # noqa: PLC0415 - see above

        grid = Table("Id", "Status", "Started", "Question", box=None)
        for entry in entries:
            grid.add_row(*(Text(cell) for cell in _row(entry)))
        Console().print(grid)
    else:
        put_out("".join(f"{chr(9).join(_row(entry))}\n" for entry in entries), None)


async def show_record(debate_id: str, *, metrics: bool) -> None:
    """Print a debate's state and decision."""
    log = await read_log(debate_id)
    debate = fold(log)
    setup = debate.setup
    names = ", ".join(agent.name for agent in setup.agents)
    parts = [
        "\n".join(
            [
                f"Debate {debate.id}: {status_words(debate)}",
                f"Question: {' '.join(setup.question.split())}",
                f"Asked by {setup.asked_by.name or setup.asked_by.id}, {when(debate.started_at)}",
                f"{setup.format}, {counted(setup.rounds, 'round')}, {names}",
                f"Took {duration(seconds_taken(debate))}, cost {money(debate.usage.cost)}",
            ]
        ),
        decision_text(debate),
    ]
    if metrics:
        expected = setup.forecast
        if expected is None:  # nobody estimated when it began
            settings = (await load_settings(read_settings())).settings
            expected = (await estimating(settings)(setup)).forecast
        parts.append(metrics_of(log, expected))
    put_out(visible("\n\n".join(parts)) + "\n", None)


async def explain_record(debate_id: str) -> None:
    """Print why each turn ran when it did."""
    put_out(explanation(await read_log(debate_id)), None)


async def export_record(debate_id: str, form: str, output: Path | None) -> None:
    """Write a debate in one of its forms: json, md (report) or adr (decision record)."""
    check_writable(output)
    log = await read_log(debate_id)
    match form:
        case "json":
            text = record_json(log)
        case "adr":
            text = adr(fold(log))
        case _:
            text = report(fold(log))
    put_out(text, output)


def _row(entry: DebateEntry) -> tuple[str, str, str, str]:
    question = " ".join(visible(entry.question).split())
    return entry.debate_id, entry.status, when(entry.started_at), question
