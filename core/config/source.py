"""YAML or JSON text → plain values that remember the line each key was written on (pure)."""

import json
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any, cast

import yaml

from core.config.written import Path, ValuePosition, WrittenFile, words_of
from core.errors import ConfigurationBroken

#: More values or deeper nesting than any honest file has: aliases of aliases can grow for ever.
_MOST_VALUES = 20_000
_DEEPEST = 30
_MOST_CHARACTERS = 1_000_000


def read_source(text: str, name: str, *, example: str = "debate: …") -> WrittenFile:
    """The values in a configuration file or a playbook.

    Args:
        text: Its content.
        name: Its name; one that ends in `.json` is read as JSON, any other as YAML.
        example: A line as it may hold, for whoever wrote something else.

    Raises:
        ConfigurationBroken: It is no YAML or JSON, or no mapping; names file and line.
    """
    is_json = name.lower().endswith(".json")
    if len(text) > _MOST_CHARACTERS:
        raise ConfigurationBroken(f"{name} is too large or too deeply nested.")
    marks = dict[Path, ValuePosition]()
    try:
        # YAML reads 1e3 as a text.
        values: object = json.loads(text) if is_json else None
        # JSON that YAML cannot read: its lines are not known.
        with suppress(yaml.YAMLError) if is_json else nullcontext():
            # JSON is YAML, except for tabs between its values.
            loader = _Loader(text.replace("\t", " ") if is_json else text)
            if node := loader.get_single_node():
                # First, as it says how much there is: keys that are merged can grow without bounds.
                marks = dict(_Walk(name).marks(node, ()))
                values = values if is_json else loader.construct_document(node)  # pyright: ignore[reportUnknownMemberType] - stubs
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigurationBroken(_why_unreadable(name, error)) from None
    if values is None:
        return WrittenFile(name, {})
    if not isinstance(values, dict):
        raise ConfigurationBroken(f"{name} must hold settings by name, like `{example}`.")
    return WrittenFile(name, cast("dict[str, Any]", values), marks)


def _why_unreadable(name: str, error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{name}, line {error.lineno}: {error.msg}."
        case yaml.MarkedYAMLError():
            context = f" {error.context}" if error.context else ""
            line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
            problem = f"{error.problem}{context}."
            if "<stream end>" in problem:
                problem = "the file ends in the middle of a value; close its bracket or quote."
            return f"{name}{line}: {problem}"
        case yaml.YAMLError():
            return f"{name} is no YAML: {error}."
        case RecursionError():
            return f"{name} is too large or too deeply nested."
        case _:
            return f"{name} cannot be read: {error}."


class _Loader(yaml.SafeLoader):
    """Stops at deep nesting while it reads: each level takes longer than the one before."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self._depth > _DEEPEST:
            raise RecursionError
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Walk:
    def __init__(self, name: str) -> None:
        self._name = name
        self._seen = 0

    def marks(self, node: yaml.Node, path: Path) -> Iterator[tuple[Path, ValuePosition]]:
        self._seen += 1
        if self._seen > _MOST_VALUES or len(path) > _DEEPEST:
            raise ConfigurationBroken(f"{self._name} is too large or too deeply nested.")
        if isinstance(node, yaml.MappingNode):
            yield from self._mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                yield from self._marked(item, (*path, index), item.start_mark.line + 1)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[Path, ValuePosition]]:
        first_lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            word = key.value if isinstance(key, yaml.ScalarNode) else "this"
            if key.tag not in {_TEXT, _MERGE}:
                raise ConfigurationBroken(
                    f"{self._name}, line {line}: the key {word} must be text; put it in quotes."
                )
            if word in first_lines:
                raise ConfigurationBroken(
                    f"{self._name}, line {line}: {words_of((*path, word))} is here a second time; "
                    f"first on line {first_lines[word]}."
                )
            first_lines[word] = line
            if key.tag == _MERGE:  # keys taken over from elsewhere in the file
                merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for source in merged:
                    yield from self.marks(source, path)
            else:
                yield from self._marked(value, (*path, word), line)

    def _marked(
        self, node: yaml.Node, path: Path, line: int
    ) -> Iterator[tuple[Path, ValuePosition]]:
        yield path, ValuePosition(words_of(path), line)
        yield from self.marks(node, path)


_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
