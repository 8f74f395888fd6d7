"""The files and modules of the project, for the tests of its frame."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The package in `packages/`: a separate product with the same house rules.
LOCAL_SLACK = "packages/slack-on-loopback/slack_on_loopback"
LOCAL_SLACK_TESTS = "packages/slack-on-loopback/tests"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def project_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in sorted(set(listed.split("\0"))) if (ROOT / name).is_file()]


def modules(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
