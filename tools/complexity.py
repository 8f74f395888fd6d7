"""Measures the complexity of every function of core and bot, and the size of the project.

`python tools/complexity.py` fails where a function is above `MOST` and not on the list of known
ones, where a listed one got worse, and where the list is out of date. `--write` takes from the list
what got better; it never adds or raises. Complexity is 1 + branches, loops, `except` clauses,
conditional expressions, boolean operands after the first, comprehensions and `match` cases;
functions within a function count with it.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
KNOWN = ROOT / "tools" / "complexity_known.txt"
MEASURED = ("core", "bot")
#: Limit for every function.
MOST = 15
_BRANCHES = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp),
    *(ast.comprehension, ast.match_case),
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def complexity(function: ast.AST) -> int:
    """The complexity of a function; see the module."""
    nodes = list(ast.walk(function))
    operands = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operands + sum(isinstance(node, _BRANCHES) for node in nodes)


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Functions and methods by their qualified name, those within functions left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def measured(root: Path) -> Mapping[str, int]:
    """`path:name` → complexity, of every function of the measured packages."""
    return {
        f"{path.relative_to(root).as_posix()}:{name}": complexity(function)
        for package in MEASURED
        for path in sorted((root / package).rglob("*.py"))
        for name, function in functions(ast.parse(path.read_text("utf-8")))
    }


def listed(text: str) -> dict[str, int]:
    """The list of known functions: a line each, `path:name complexity`."""
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line.strip())
    return {name: int(value) for name, value in rows}


def faults(values: Mapping[str, int], limits: Mapping[str, int]) -> Iterator[str]:
    """The faults, a line each."""
    for name, value in sorted(values.items()):
        most = max(MOST, limits.get(name, 0))
        if value > most:
            yield f"{name}: complexity {value}, at most {most}. Split it, or make it a table."
    for name, value in sorted(limits.items()):
        now = values.get(name, 0)
        if now < value:
            state = "gone" if name not in values else f"now {now}"
            yield f"{name}: listed with {value}, {state}. Run: tools/complexity.py --write"


def lowered(values: Mapping[str, int], limits: Mapping[str, int]) -> dict[str, int]:
    """The list without functions that were removed or simplified, and with lower values."""
    return {
        name: min(value, values[name])
        for name, value in limits.items()
        if values.get(name, 0) > MOST
    }


def sizes(root: Path) -> Iterator[str]:
    """Lines and files of each part, and the words of the documents."""
    for part in ("core", "bot", "tests", "packages", "bench"):
        paths = [path for path in (root / part).rglob("*.py") if ".venv" not in path.parts]
        lines = sum(len(path.read_text("utf-8").splitlines()) for path in paths)
        yield f"{part}: {lines:,} lines in {len(paths)} files"
    documents = [path for path in (root / "docs").rglob("*.md") if "decisions" not in path.parts]
    words = sum(len(path.read_text("utf-8").split()) for path in documents)
    yield f"docs: {words:,} words without decision records"


def main() -> None:
    """Check, or with `--write` lower the list."""
    values = measured(ROOT)
    limits = listed(KNOWN.read_text("utf-8"))
    if "--write" in sys.argv[1:]:
        limits = lowered(values, limits)
        KNOWN.write_text("".join(f"{name} {value}\n" for name, value in sorted(limits.items())))
    wrong = list(faults(values, limits))
    for line in (*wrong, *sizes(ROOT)):
        print(line)  # noqa: T201 - a command
    count = sum(value > MOST for value in values.values())
    print(f"functions above {MOST}: {count}")  # noqa: T201
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
