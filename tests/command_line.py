"""`moot` as people type it, but in this process: starting another takes over a second each time."""

import gc
import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from bot.cli import main
from bot.log import OWN


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def moot(*words: str, folder: Path, env: Mapping[str, str] | None = None, typed: str = "") -> Ended:
    """Run `moot` in a folder, with these variables on top of an environment without settings.

    `CliRunner.invoke` would stop short of what `main` does: words and exit codes of errors.
    """
    code = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        process_kept(),
        CliRunner(env=env).isolation(typed) as (out, err, _),
    ):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["moot", *words])
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        return Ended(code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def process_kept() -> Generator[None]:
    """Put back what a command sets for its whole process: the logs, and no garbage collection."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name in OWN:
            logging.getLogger(name).setLevel(logging.NOTSET)
        structlog.reset_defaults()
        gc.enable()
