"""What reading a file gives: its sections and what was left out, or why it cannot be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field


class Unreadable(Exception):
    """Nothing can be read; the words are for people."""


@dataclass
class Section:
    """A piece of a file that people can find: a page, a sheet, a slide."""

    #: "page 3", "sheet Load"; empty: lines are counted.
    label: str
    text: str
    #: What its lines are called where they can be found by number: "row".
    counts: str = ""


@dataclass
class Extract:
    """What a file holds."""

    #: For people: "PDF", "Word".
    kind: str
    sections: Iterable[Section]
    #: What was left out. Complete when the sections were gone through.
    warnings: list[str] = field(default_factory=list[str])
