"""`docs/security.md` names tests and files that exist, and every test of this folder's subjects."""

import ast
import re

import pytest

from tests.frame.files import ROOT, read

TEXT = read("docs/security.md")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.partition("## Threats")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and "---" not in line
][1:]
NAMED = sorted({name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])})
FILES = sorted({name for row in ROWS for name in re.findall(r"`([\w/.]+)`", row[1])})


def names_in(file: str) -> set[str]:
    tree = ast.parse(read(file))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


def test_every_threat_has_what_stops_it_and_a_test() -> None:
    assert len(ROWS) > 30
    assert [row for row in ROWS if len(row) != 3 or not row[1] or "`" not in row[2]] == []


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name: str) -> None:
    file, _, test = name.partition("::")

    assert (ROOT / "tests" / file).is_file()
    assert not test or test in names_in(f"tests/{file}")


@pytest.mark.parametrize("file", FILES)
def test_a_named_file_exists(file: str) -> None:
    assert (ROOT / file).exists()


def test_every_file_of_security_tests_is_named() -> None:
    files = {f"security/{path.name}" for path in (ROOT / "tests/security").glob("test_*.py")}
    named = {name.partition("::")[0] for name in NAMED}

    assert files - named == {"security/test_threat_model.py"}
