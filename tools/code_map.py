"""Writes `docs/code_map.md` from the first line of every file.

`python tools/code_map.py` rewrites the map; with `--check` it only says whether it is up to date.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "code_map.md"
BEGIN, END = "<!-- code map: begin (make docs) -->", "<!-- code map: end -->"


def code_map() -> str:
    """One list per folder, one line per file, in the order of the paths."""
    return "\n".join(line for package in ("core", "bot") for line in _folder(ROOT / package))


def updated(text: str) -> str:
    """The document with the map as it should be.

    Raises:
        ValueError: The document has no place for the map.
    """
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{code_map()}\n{END}{after}"


def _folder(folder: Path) -> Iterator[str]:
    """A folder's heading and files, then its folders."""
    name = folder.relative_to(ROOT).as_posix()
    yield f"\n**{name}/**: {_first_line(folder / '__init__.py')}\n"
    for file in sorted(folder.glob("*.py")):
        if file.name != "__init__.py":
            yield f"- `{name}/{file.name}`: {_first_line(file)}"
    for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
        yield from _folder(inner)


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.splitlines()[0] if docstring else ""


def main() -> None:
    """Rewrite the map, or check it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        DOCUMENT.write_text(updated(text), encoding="utf-8")
    elif text != updated(text):
        sys.exit("`docs/code_map.md` is out of date: run `make docs`.")


if __name__ == "__main__":
    main()
