"""`docs/security.md` names existing tests and files, and covers the tests of this folder."""

import ast
import re
from functools import cache

from tests.frame.files import ROOT, read

TEXT = read("docs/security.md")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.partition("## Threats")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and "---" not in line
][1:]
NAMED = sorted({name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])})
FILES = sorted({name for row in ROWS for name in re.findall(r"`([\w/.]+)`", row[1])})


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse(read(file))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


def test_every_threat_has_what_stops_it_and_a_test() -> None:
    assert len(ROWS) > 30
    assert [row for row in ROWS if len(row) != 3 or not row[1] or "`" not in row[2]] == []


def test_every_named_file_and_test_exists() -> None:
    assert [file for file in FILES if not (ROOT / file).exists()] == []
    missing = [
        name
        for name in NAMED
        for file, _, test in [name.partition("::")]
        if not (ROOT / "tests" / file).is_file() or (test and test not in names_in(f"tests/{file}"))
    ]
    assert missing == []


def test_every_file_of_security_tests_is_named() -> None:
    files = {f"security/{path.name}" for path in (ROOT / "tests/security").glob("test_*.py")}
    named = {name.partition("::")[0] for name in NAMED}

    assert files - named == {"security/test_threat_model.py"}
