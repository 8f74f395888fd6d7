"""Small checks that combine into shapes: value and path in, problems out (pure)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from slack_on_loopback.json_values import Json, as_list, as_object

Check = Callable[[Any, str], Iterable[str]]
Rule = Callable[[Json], str | None]


def problem(path: str, words: str) -> str:
    """Word a problem as Slack does in `response_metadata.messages`."""
    return f"[ERROR] {words} [json-pointer:{path}]"


def string(most: int, least: int = 1) -> Check:
    """A string of `least` to `most` characters."""

    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield problem(path, "must be a string")
        elif len(value) > most:
            yield problem(path, f"must be less than {most + 1} characters")
        elif len(value) < least:
            yield problem(path, f"must be more than {least - 1} characters")

    return check


def flag(value: Any, path: str) -> Iterator[str]:
    """True or false."""
    if not isinstance(value, bool):
        yield problem(path, "must be a boolean")


def anything(value: Any, path: str) -> Iterator[str]:
    """Whatever it is: parts that no rule of ours describes."""
    del value, path
    yield from ()


def whole(low: int, high: int) -> Check:
    """A whole number within bounds."""

    def check(value: Any, path: str) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield problem(path, "must be an integer")
        elif not low <= value <= high:
            yield problem(path, f"must be between {low} and {high}")

    return check


def choice(*values: str) -> Check:
    """One of a few words."""

    def check(value: Any, path: str) -> Iterator[str]:
        if value not in values:
            yield problem(path, f"must be one of: {', '.join(values)}")

    return check


def matching(pattern: str, words: str) -> Check:
    """A string that a pattern matches as a whole."""
    compiled = re.compile(pattern)

    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            yield problem(path, words)

    return check


def many(item: Check, most: int, least: int = 1) -> Check:
    """A list of `least` to `most` items, each of which passes."""

    def check(value: Any, path: str) -> Iterator[str]:
        items = as_list(value)
        if items is None:
            yield problem(path, "must be an array")
            return
        yield from _count(len(items), most, least, path)
        for index, one in enumerate(items):
            yield from item(one, f"{path}/{index}")

    return check


def _count(count: int, most: int, least: int, path: str) -> Iterator[str]:
    if count > most:
        yield problem(path, f"no more than {most} items allowed")
    if count < least:
        yield problem(path, f"no fewer than {least} items allowed")


def shape(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    *rules: Rule,
) -> Check:
    """An object with these fields and no others.

    Args:
        required: field → check; a missing one is a problem.
        optional: field → check; null counts as absent.
        rules: what concerns several fields; each returns words when broken.
    """
    known = {**required, **(optional or {})}

    def check(value: Any, path: str) -> Iterator[str]:
        found = as_object(value)
        if found is None:
            yield problem(path, "must be an object")
            return
        yield from (
            problem(path, f"missing required field: {k}") for k in required if k not in found
        )
        yield from (
            problem(path, f"invalid additional property: {k}") for k in found if k not in known
        )
        yield from _fields(found, known, required, path)
        yield from (problem(path, words) for words in (rule(found) for rule in rules) if words)

    return check


def _fields(
    found: Json, known: Mapping[str, Check], required: Mapping[str, Check], path: str
) -> Iterator[str]:
    for key, item in found.items():
        if key in known and (item is not None or key in required):
            yield from known[key](item, f"{path}/{key}")


def tagged(kinds: Mapping[str, Check], noun: str) -> Check:
    """An object whose `type` picks the check; the mapping is read late, so it may be recursive."""

    def check(value: Any, path: str) -> Iterator[str]:
        found = as_object(value)
        kind = found.get("type") if found is not None else None
        if not isinstance(kind, str):
            yield problem(path, "missing required field: type")
        elif kind not in kinds:
            yield problem(path, f"unsupported type for {noun}: {kind}")
        else:
            yield from kinds[kind](value, path)

    return check


def either(*keys: str) -> Rule:
    """A rule: exactly one of the fields must be there."""

    def rule(found: Json) -> str | None:
        given = [key for key in keys if found.get(key) is not None]
        return None if len(given) == 1 else f"must define exactly one of: {', '.join(keys)}"

    return rule


def at_least_one(*keys: str) -> Rule:
    """A rule: one or more of the fields must be there."""

    def rule(found: Json) -> str | None:
        if any(found.get(key) for key in keys):
            return None
        return f"must define at least one of: {', '.join(keys)}"

    return rule
