"""Parses YAML or JSON and keeps the line of each value; gives hints for unknown keys (pure)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.errors import ConfigurationBroken

#: The path of a key from the top of the file: `("agents", 0, "model")`.
Path = tuple[str | int, ...]

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Sections whose keys are names and stay unchanged: of models and agents, and (at any depth) the
#: arguments of a tool.
_NAMES, _ARGUMENTS = (("prices",), ("weights",)), "arguments"


class _JSONLoader(yaml.SafeLoader):
    """Reads 1e3 as a number."""


_JSONLoader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType] - stubs
    "tag:yaml.org,2002:float", re.compile(r"-?\d+(?:\.\d+)?[eE][-+]?\d+$"), [*"-0123456789"]
)


class ValuePosition(NamedTuple):
    words: str
    line: int


@dataclass(frozen=True)
class WrittenFile:
    name: str
    values: dict[str, Any]
    #: Line and written name of each value.
    marks: dict[Path, ValuePosition] = field(default_factory=dict[Path, ValuePosition])

    def at(self, path: Path) -> str:
        """Return file, line and key of a value for messages; without its line, its parent's."""
        marked_path = path
        while marked_path and marked_path not in self.marks:
            marked_path = marked_path[:-1]
        suffix = words_of(path[len(marked_path) :])
        if not marked_path:
            return f"{self.name}: {suffix}"
        words, line = self.marks[marked_path]
        separator = "." if suffix and not suffix.startswith("[") else ""
        return f"{self.name}, line {line}: {words}{separator}{suffix}"

    def section(self, path: Path) -> dict[str, Any]:
        """Return the mapping at this path; empty if there is none."""
        place: Any = self.values
        for step in path:
            place = place[step] if isinstance(step, int) else _mapping(place).get(step)
        return _mapping(place)

    def move(self, old: Path, new: Path) -> None:
        """Move the value at `old`, with its line, to `new`, unless `new` has a value already."""
        section, key = self.section(old[:-1]), str(old[-1])
        if key not in section:
            return
        place: Any = self.values
        for step in new[:-1]:
            place = place[step] if isinstance(step, int) else place.setdefault(step, {})
            if type(place) not in {dict, list}:
                return
        for path, mark in list(self.marks.items()):
            if path[: len(old)] == old:
                self.marks[(*new, *path[len(old) :])] = mark
        value = section.pop(key)
        if value is not None:
            place.setdefault(new[-1], value)


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def words_of(path: Path) -> str:
    """Return the path as text: `agents[0].model`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def read_source(text: str, name: str, *, example: str = "debate: …") -> WrittenFile:
    """Parse a configuration file or a playbook. Keys in camelCase become snake_case.

    Args:
        text: The content of the file.
        name: Name of the file, for messages.
        example: A valid line, for the message about a file that is not a mapping.

    Raises:
        ConfigurationBroken: It is no valid YAML or JSON, or no mapping; names file and line.
    """
    is_json = name.lower().endswith(".json")
    try:
        # JSON is YAML except for tabs between values and numbers like 1e3.
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
    if not isinstance(values, dict | None):
        raise ConfigurationBroken(f"{name} must contain settings by name, like `{example}`.")
    return WrittenFile(name, cast("dict[str, Any]", values or {}), marks)


def _marks(
    name: str, node: yaml.Node, path: Path, written: Path = ()
) -> Iterator[tuple[Path, ValuePosition]]:
    """Yield the position of every key and list item in a node. Changes keys to snake_case.

    `written`: the path as written in the file.
    """
    places = list[tuple[str | int, str | int, int, yaml.Node]]()
    if isinstance(node, yaml.SequenceNode):
        items = enumerate(node.value)
        places += [(index, index, item.start_mark.line + 1, item) for index, item in items]
    first_lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        line = key.start_mark.line + 1
        word = key.value if isinstance(key, yaml.ScalarNode) else "this"
        if key.tag not in {_TEXT, _MERGE}:
            raise ConfigurationBroken(
                f"{name}, line {line}: the key {word} must be text; put it in quotes."
            )
        if path[-1:] not in _NAMES and _ARGUMENTS not in path:
            key.value = _HUMP.sub("_", word).lower() if _HUMP.search(word) else word
        if key.value in first_lines:
            raise ConfigurationBroken(
                f"{name}, line {line}: {words_of((*written, word))} is set twice; first on line "
                f"{first_lines[key.value]}."
            )
        first_lines[key.value] = line
        if key.tag == _MERGE:  # keys of other mappings in the file (`<<: *anchor`)
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                yield from _marks(name, mapping, path, written)
        else:
            places.append((key.value, word, line, value))
    for step, word, line, value in places:
        here, words = (*path, step), (*written, word)
        yield here, ValuePosition(words_of(words), line)
        yield from _marks(name, value, here, words)


def keys_of(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    fields = model.model_fields.items()
    return {str(field.validation_alias or name): field for name, field in fields}


def model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model class in `X` or `X | None`; None if there is none."""
    if get_origin(annotation) in {Union, UnionType}:
        return next(filter(None, map(model_in, get_args(annotation))), None)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def inside(annotation: object, step: str | int) -> object:
    """Return the type of a key's value or of a list's item; None if the key is unknown."""
    if model := model_in(annotation):
        field = keys_of(model).get(str(step))
        return field.annotation if field else None
    if get_origin(annotation) in {Union, UnionType}:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0]
    return get_args(annotation)[1] if get_origin(annotation) is Mapping else Any


def section_hint(name: str, model: type[BaseModel]) -> str:
    """Return a hint at the section that has a key of this name; empty if there is none."""
    name = name.lower()
    if name in keys_of(model):
        return f' Did you mean "{name}" at the top of the file?'
    for section, info in keys_of(model).items():
        part = model_in(info.annotation)
        if part and name in keys_of(part):
            return f' Did you mean "{section}.{name}"?'
    return ""
