"""What the offline engine knows: its data files, and how their words are looked for in a text."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

#: Key under which a role keeps the points that fit every question about software.
ANY = "any"
#: Answers for roles without a checklist of their own.
GENERALIST = "generalist"
_DATA = Path(__file__).parent / "data"
_WORD = re.compile(r"[a-z0-9+#]+")
#: Words up to this length are not taken for the beginning of longer ones.
_SHORT = 3


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Technology(_Entry):
    title: str
    #: All the ways an option may be written, in lower case and in the singular.
    names: tuple[str, ...]
    #: By criterion: -2 (clearly bad) to 2 (clearly good), and a predicate that follows the title.
    notes: Mapping[str, tuple[int, str]]


class Topic(_Entry):
    words: tuple[str, ...]
    #: Keys of the things that compete here. Only things of one topic can be compared.
    things: tuple[str, ...] = ()
    #: False: it is about people, money or words.
    software: bool = True


class OpenPoint(_Entry):
    question: str
    assumption: str
    #: Words in a text that settle it.
    words: tuple[str, ...] = ()
    #: Topics it matters for; empty: every question.
    topics: tuple[str, ...] = ()


class RoleChecklist(_Entry):
    """A point of view: what it values and what it asks."""

    #: Completes "the checklist of …".
    title: str
    #: Weight of each criterion.
    values: Mapping[str, int]
    #: Keys of open points, most important first.
    asks: tuple[str, ...]
    #: What it asks about a matter that is not about software.
    anything: tuple[str, ...]
    #: What it asks about software, by topic.
    checks: Mapping[str, tuple[str, ...]]


class Checklists(_Entry):
    things: Mapping[str, Technology]
    topics: Mapping[str, Topic]
    open_points: Mapping[str, OpenPoint]
    roles: Mapping[str, RoleChecklist]


@cache
def checklists() -> Checklists:
    parts = {name: _read(_DATA / f"{name}.yaml") for name in ("things", "topics", "open_points")}
    roles = {file.stem: _read(file) for file in sorted((_DATA / "roles").glob("*.yaml"))}
    return Checklists.model_validate({**parts, "roles": roles})


def _read(file: Path) -> object:
    """What a data file holds; by libyaml where it is there, ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text("utf-8"), Loader=loader)  # noqa: S506 - both are safe loaders


@cache
def things_by_name() -> Mapping[str, str]:
    """Every name of every thing, as `singular` writes it, with the thing's key."""
    things = checklists().things.items()
    return {singular(name): key for key, thing in things for name in thing.names}


def normal(text: str) -> str:
    """The words of a text in lower case with one space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def singular(phrase: str) -> str:
    """A short phrase in lower case, without the plural s of its last word."""
    return normal(phrase).strip().removesuffix("s")


def mentions(normalised: str, word: str) -> bool:
    """Whether a text from `normal` has this word or, from four letters on, one beginning with it.

    A plural s is allowed to shorter ones.
    """
    if len(word) > _SHORT:
        return f" {word}" in normalised
    return f" {word} " in normalised or f" {word}s " in normalised
