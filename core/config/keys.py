"""Keys of the settings file as its model has them: camelCase too, the nearest name (pure)."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.config.source import Path, WrittenFile

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def keys_of(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    fields = model.model_fields.items()
    return {str(field.validation_alias or name): field for name, field in fields}


def model_in(annotation: object) -> type[BaseModel] | None:
    """The model in `X` or `X | None`."""
    if get_origin(annotation) in {Union, UnionType}:
        return next(filter(None, map(model_in, get_args(annotation))), None)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def inside(annotation: object, step: str | int) -> object:
    """The type of what is under a key, or of a list's item; None if the key is unknown."""
    if model := model_in(annotation):
        field = keys_of(model).get(str(step))
        return field.annotation if field else None
    if get_origin(annotation) in {Union, UnionType}:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0]
    return get_args(annotation)[1] if get_origin(annotation) is Mapping else Any


#: Stands between a problem and all names that there are.
LISTED = " There are: "


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the name that may have been meant, or at all of them."""
    matches = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return f'Did you mean "{matches[0]}"?' if matches else f"{LISTED.lstrip()}{', '.join(names)}."


def elsewhere(name: str, model: type[BaseModel]) -> str:
    """A hint at the section that has a key of exactly this name; empty if none has."""
    name = name.lower()
    if name in keys_of(model):
        return f' Did you mean "{name}" at the top of the file?'
    for section, field in keys_of(model).items():
        part = model_in(field.annotation)
        if part and name in keys_of(part):
            return f' Did you mean "{section}.{name}"?'
    return ""


def in_snake_case(source: WrittenFile, value: Any, annotation: object, path: Path = ()) -> Any:
    """The value with `timeoutPerRound` as `timeout_per_round`, where keys are the model's.

    `annotation` is its type, or None under an unknown key. `source` records the new keys.
    """
    if isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
        return [
            in_snake_case(source, item, inside(annotation, at), (*path, at)) for at, item in items
        ]
    if not isinstance(value, dict):
        return value
    is_ours = annotation is None or model_in(annotation) is not None
    result: dict[str, Any] = {}
    for key, inner in cast("dict[str, Any]", value).items():
        name = _HUMP.sub("_", key).lower() if is_ours and _HUMP.search(key) else key
        if name != key:
            source.move((*path, key), (*path, name))
        within = inside(annotation, name) if annotation is not None else None
        result[name] = in_snake_case(source, inner, within, (*path, name))
    return result
