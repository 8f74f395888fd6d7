"""`moot` as people type it, but in this process: starting another takes over a second each time."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import main
from tests.logs import process_kept


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
