"""YAML or JSON text → plain values that remember the line each key was written on (pure)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from core.errors import ConfigurationBroken

#: A key's way from the top of the file: `("agents", 0, "model")`.
Path = tuple[str | int, ...]

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


class _JSONLoader(yaml.SafeLoader):
    """Reads 1e3 as a number."""


_JSONLoader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType] - stubs
    "tag:yaml.org,2002:float", re.compile(r"-?\d+(?:\.\d+)?[eE][-+]?\d+$"), [*"-0123456789"]
)


@dataclass(frozen=True)
class ValuePosition:
    words: str
    line: int


@dataclass(frozen=True)
class WrittenFile:
    name: str
    values: dict[str, Any]
    #: Where each value was written, and under which name.
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


def read_source(text: str, name: str, *, example: str = "debate: …") -> WrittenFile:
    """The values in a configuration file or a playbook; `example` is a line as it may hold.

    Raises:
        ConfigurationBroken: It is no YAML or JSON, or no mapping; names file and line.
    """
    is_json = name.lower().endswith(".json")
    try:
        # Apart from tabs between its values and 1e3 JSON is YAML.
        loader = _JSONLoader(text.replace("\t", " ")) if is_json else yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return WrittenFile(name, {})
        marks = dict(_marks(name, node, ()))
        values: object = loader.construct_document(node)  # pyright: ignore[reportUnknownMemberType] - stubs
    except yaml.MarkedYAMLError as error:
        context = f" {error.context}" if error.context else ""
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = f"{error.problem}{context}."
        if "<stream end>" in problem:
            problem = "the file ends in the middle of a value; close its bracket or quote."
        raise ConfigurationBroken(f"{name}{line}: {problem}") from None
    except RecursionError:
        raise ConfigurationBroken(f"{name} is nested too deeply.") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationBroken(f"{name} cannot be read: {error}.") from None
    if values is None:
        return WrittenFile(name, {})
    if not isinstance(values, dict):
        raise ConfigurationBroken(f"{name} must hold settings by name, like `{example}`.")
    return WrittenFile(name, cast("dict[str, Any]", values), marks)


def _marks(name: str, node: yaml.Node, path: Path) -> Iterator[tuple[Path, ValuePosition]]:
    """The line of every key and list item under the node."""
    places = list[tuple[str | int, int, yaml.Node]]()
    if isinstance(node, yaml.SequenceNode):
        places += [(at, item.start_mark.line + 1, item) for at, item in enumerate(node.value)]
    first_lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        line = key.start_mark.line + 1
        word = key.value if isinstance(key, yaml.ScalarNode) else "this"
        if key.tag not in {_TEXT, _MERGE}:
            raise ConfigurationBroken(
                f"{name}, line {line}: the key {word} must be text; put it in quotes."
            )
        if word in first_lines:
            raise ConfigurationBroken(
                f"{name}, line {line}: {words_of((*path, word))} is here a second time; "
                f"first on line {first_lines[word]}."
            )
        first_lines[word] = line
        if key.tag == _MERGE:  # keys taken over from elsewhere in the file
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                yield from _marks(name, merged, path)
        else:
            places.append((word, line, value))
    for step, line, value in places:
        here = (*path, step)
        yield here, ValuePosition(words_of(here), line)
        yield from _marks(name, value, here)
