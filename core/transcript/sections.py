"""Sections and lines of a result, and how they read as Markdown (pure).

Texts are Markdown as models and people wrote it: whoever shows it makes it safe.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.debate.people import Person
from core.debate.turn import Turn
from core.transcript.markdown import inert_line
from core.transcript.words import blocks, bullets, nested, table, titled


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    """A line of a section."""

    text: str
    #: Stands before the text.
    label: str = ""
    #: Who said it; without a label who did it: the text goes on after their name.
    by: Person | None = None
    #: The turn whose post says more.
    turn: Turn | None = None
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class ResultSection:
    """A titled part of a result: a text, lines, a table; what is empty is not shown."""

    title: str
    text: str = ""
    lines: Sequence[ResultLine] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    #: Stands below all of it: words of ours, safe Markdown.
    note: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.text.strip() or self.lines or self.rows or self.note)


def lines_of(texts: Iterable[str]) -> Sequence[ResultLine]:
    """A line for each text that says something."""
    return tuple(ResultLine(text=text) for text in texts if text)


def line_words(line: ResultLine) -> str:
    """A line as Markdown: `Note 1, Sam: No Kafka people.`; `Sam added the option "SQS".`."""
    who = line.by.display_name if line.by else ""
    if who and not line.label:
        return f"{who} {line.text}"
    label = ", ".join(filter(None, (line.label, who)))
    return f"{label}: {line.text}" if label else line.text


def as_markdown(section: ResultSection, level: int) -> str:
    """A section as inert Markdown under a heading of that level; empty where it says nothing."""
    return titled(inert_line(section.title), body_words(section, level), level=level)


def body_words(section: ResultSection, level: int) -> str:
    """The same without its heading."""
    return blocks(
        nested(section.text, level),
        bullets(map(line_words, section.lines)),
        table(section.head, section.rows),
        section.note,
    )
