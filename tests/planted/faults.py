"""The planted faults: patches with a header, and the table of the tests that kill them."""

import ast
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
TABLE = FOLDER / "killers.json"
#: Faults of removed code → the removed code. Their patches stay for tables that name them.
GONE: Mapping[str, str] = {
    "drawn-28-voting": "Nothing called this check of a ranking, which is gone.",
    "drawn-61-refused-features": "One flag for each workspace took the place of the table.",
}
KINDS = ("known", "chosen", "drawn")
#: One line of context is enough where the code around a fault has changed.
_APPLY = ("git", "apply", "--recount", "-C1", "--whitespace=nowarn")
_HEADER = re.compile(r"(Fault|Kind|Tests): (.+)")


@dataclass(frozen=True)
class Fault:
    """One patch that makes the program wrong."""

    name: str
    #: The fault in one sentence.
    words: str
    #: One of `KINDS`.
    kind: str
    #: Files with the tests of its area, the likeliest to notice it first.
    tests: tuple[str, ...]
    patch: Path

    def applies(self, tree: Path) -> bool:
        """Whether the code that it changes is still in a tree."""
        return _run((*_APPLY, "--check", str(self.patch)), tree).returncode == 0

    def plant(self, tree: Path) -> None:
        """Change the tree.

        Raises:
            ValueError: The patch does not apply.
        """
        process = _run((*_APPLY, str(self.patch)), tree)
        if process.returncode:
            raise ValueError(f"{self.name} does not apply: {process.stderr.strip()}")

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files that it changes."""
        return tuple(re.findall(r"^\+\+\+ b/(\S+)", self.patch.read_text("utf-8"), re.MULTILINE))


def faults() -> Mapping[str, Fault]:
    """Return all faults by name.

    Raises:
        ValueError: A patch has no full header; says which one and what is missing.
    """
    return {patch.stem: _read(patch) for patch in sorted(FOLDER.glob("faults/*.patch"))}


def _read(patch: Path) -> Fault:
    head = dict(_HEADER.findall(patch.read_text("utf-8").partition("diff --git")[0]))
    missing = [field for field in ("Fault", "Kind", "Tests") if field not in head]
    if missing or head["Kind"] not in KINDS:
        raise ValueError(f"{patch.name}: the header lacks {missing or 'a known kind'}.")
    tests = tuple(head["Tests"].split())
    return Fault(patch.stem, head["Fault"], head["Kind"], tests, patch)


def table() -> dict[str, Any]:
    """Return what was recorded: name of a run → its commit and results by fault."""
    return json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}


def is_defined(test_id: str, tree: Path = ROOT) -> bool:
    """Whether the file of a test's id defines a test of that name; nothing is imported."""
    path, _, name = test_id.partition("::")
    name = name.partition("[")[0].rpartition("::")[2]
    file = tree / path
    if not file.is_file():
        return False
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return name in {function.name for function in functions} or not name


def _run(command: Sequence[str], tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)  # noqa: S603 - git
