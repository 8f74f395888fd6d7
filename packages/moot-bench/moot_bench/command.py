"""`moot bench`: the same questions through one model, a vote and debates, at stated cost."""

import asyncio

import typer
from bot.terminal.options import command_for

from moot_bench.options import BenchCommand


def _hold(command: BenchCommand) -> None:
    from moot_bench.bench import hold_bench  # noqa: PLC0415 - help must not wait for it

    raise typer.Exit(asyncio.run(hold_bench(command)))


_BENCH = """\
Put questions with known answers to one model, a vote and debates; say what is better.

Run the same command again to go on after an interruption: nothing is paid twice.
"""
bench = command_for(BenchCommand, _hold, _BENCH)
