"""`moot bench`: the same questions through one model, a vote and debates, at stated cost.

What the command needs is imported when it runs, so that help is there at once.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer


def bench(  # noqa: PLR0913 - one per option
    tasks: Annotated[
        Path | None, typer.Argument(help="Questions with answers; none: those of Moot.")
    ] = None,
    *,
    answers: Annotated[
        Path | None, typer.Option(help="ForecastBench's resolutions of the questions.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Recorded answers (JSONL) instead of models.")
    ] = None,
    arms: Annotated[
        str, typer.Option(help="solo, think, vote, best-of, gate, critique, council, panel.")
    ] = "",
    models: Annotated[
        str, typer.Option(help="provider/model, with commas between; several: mixed, too.")
    ] = "",
    questions: Annotated[
        int | None,
        typer.Option("--questions", "-n", min=1, max=10_000, help="Only so many of them."),
    ] = None,
    max_usd: Annotated[
        float,
        typer.Option(min=0, max=100_000, help="Never spend more on this log; 0: no cap."),
    ] = 5.0,
    log: Annotated[
        Path, typer.Option(help="The bench's own database; run again, it goes on from it.")
    ] = Path("moot-bench.db"),
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="A YAML or JSON file with settings.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for report and picture.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write a page with the report, and how it came about.")
    ] = None,
    readers: Annotated[
        str,
        typer.Option(
            help="provider/model, with commas between: look for later-named reasons in the texts."
        ),
    ] = "",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show arms, calls, cost and the first prompts; ask no model."
        ),
    ] = False,
) -> None:
    """Put questions with known answers to one model, a vote and debates; say what is better.

    Run the same command again to go on after an interruption: nothing is paid twice.
    """
    from moot_bench.bench import BenchCommand, hold_bench

    command = BenchCommand(
        tasks=tasks,
        answers=answers,
        replay=replay,
        arms=_names(arms),
        models=_names(models),
        questions=questions,
        max_usd=Decimal(str(max_usd)) if max_usd else None,
        log=log,
        config=config,
        output=output,
        page=page,
        readers=_names(readers),
        dry_run=dry_run,
    )
    raise typer.Exit(asyncio.run(hold_bench(command)))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
