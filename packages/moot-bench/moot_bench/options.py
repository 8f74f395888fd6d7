"""The options of `moot bench`.

Imports nothing heavy, so that `--help` is fast.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer
from bot.terminal.options import Config


@dataclass(frozen=True, kw_only=True)
class BenchCommand:
    """The arguments of `moot bench`."""

    tasks: Annotated[
        Path | None, typer.Argument(help="Questions with answers; none: those of Moot.")
    ] = None
    answers: Annotated[
        Path | None, typer.Option(help="ForecastBench's resolutions of the questions.")
    ] = None
    replay: Annotated[
        Path | None, typer.Option(help="Recorded answers (JSONL) instead of models.")
    ] = None
    arms: Annotated[
        str, typer.Option(help="solo, think, vote, best-of, gate, critique, council, panel.")
    ] = ""
    models: Annotated[
        str, typer.Option(help="provider/model, with commas between; several: mixed, too.")
    ] = ""
    questions: Annotated[
        int | None,
        typer.Option("--questions", "-n", min=1, max=10_000, help="Only so many of them."),
    ] = None
    max_usd: Annotated[
        float,
        typer.Option(min=0, max=100_000, help="Never spend more on this log; 0: no cap."),
    ] = 5.0
    log: Annotated[
        Path, typer.Option(help="The bench's own database; run again, it goes on from it.")
    ] = Path("moot-bench.db")
    config: Config = None
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for report and picture.")
    ] = None
    page: Annotated[
        Path | None, typer.Option(help="Write a page with the report, and how it came about.")
    ] = None
    readers: Annotated[
        str,
        typer.Option(
            help="provider/model, with commas between: look for later-named reasons in the texts."
        ),
    ] = ""
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show arms, calls, cost and the first prompts; ask no model."
        ),
    ] = False

    @property
    def arm_names(self) -> Sequence[str]:
        return _names(self.arms)

    @property
    def model_names(self) -> Sequence[str]:
        return _names(self.models)

    @property
    def reader_names(self) -> Sequence[str]:
        return _names(self.readers)

    @property
    def cap(self) -> Decimal | None:
        """US dollars for the whole log; None: no cap."""
        return Decimal(str(self.max_usd)) if self.max_usd else None


def _names(text: str) -> Sequence[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
