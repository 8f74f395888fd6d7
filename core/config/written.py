"""Values of a configuration file, and where in it each was written (pure).

Apart from what reads such files: most debates in the terminal have none, and need no YAML.
"""

from dataclasses import dataclass, field
from typing import Any

#: A key's way from the top of the file: `("agents", 0, "model")`.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class ValuePosition:
    words: str
    line: int


@dataclass(frozen=True)
class WrittenFile:
    name: str
    values: dict[str, Any]
    marks: dict[Path, ValuePosition] = field(default_factory=dict[Path, ValuePosition])

    def at(self, path: Path) -> str:
        """File, line and key of a value, for messages; the nearest parent's line if unknown."""
        nearest = path
        while nearest and nearest not in self.marks:
            nearest = nearest[:-1]
        mark = self.marks.get(nearest)
        if mark is None:
            return f"{self.name}: {words_of(path)}"
        rest = words_of(path[len(nearest) :])
        joint = "." if rest and not rest.startswith("[") else ""
        return f"{self.name}, line {mark.line}: {mark.words}{joint}{rest}"

    def move(self, old: Path, new: Path) -> None:
        """Remember that what was written at `old` counts as written at `new`."""
        for path, mark in list(self.marks.items()):
            if path[: len(old)] == old:
                self.marks[(*new, *path[len(old) :])] = mark


def words_of(path: Path) -> str:
    """The path as people write it: `agents[0].model`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
