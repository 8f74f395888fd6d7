"""A unified diff as a source: its places are files and the lines of the changed file (pure)."""

import re
from collections.abc import Iterator

from core.debate.evidence import Mark, SourceText

#: How a diff begins, also one that `git show` or `git format-patch` wrote.
_BEGINS = re.compile(r"\s{0,100}(?:diff --git |--- |Index: |commit [0-9a-f]{7}|From [0-9a-f]{7})")
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_PATH = re.compile(r'(?:---|\+\+\+) "?(?:[abciow]/)?([^\t"]{1,400})')
_RENAMED = re.compile(r'diff --git "?a/.{1,400} "?b/([^"]{1,400})')
_NOTHING = "/dev/null"


def with_hunks(source: SourceText) -> SourceText:
    """The text with a mark for each file and hunk, if it is a diff; else as it is."""
    if source.marks or not _BEGINS.match(source.text):
        return source
    marks = tuple(_marks(source.text))
    return (
        source.model_copy(update={"marks": marks})
        if any(mark.hunk_at for mark in marks)
        else source
    )


def _marks(text: str) -> Iterator[Mark]:
    path, header = "", 0
    for number, line in _outside_hunks(text):
        hunk, begins = _HUNK.match(line), line.startswith("diff --git ")
        if header and (hunk or begins):
            yield Mark(line=header, label=path)
            header = 0
        if hunk:
            # Of a file that is gone only the old lines have numbers.
            yield Mark(line=number, label=path, hunk_at=max(1, int(hunk[3]) or int(hunk[1])))
        elif begins:
            renamed = _RENAMED.match(line)
            header, path = number, renamed[1] if renamed else ""
        elif (named := _PATH.match(line)) and not line.startswith("---- "):
            header = header or number
            path = named[1] if named[1] != _NOTHING else path
    if header and path:
        yield Mark(line=header, label=path)


def _outside_hunks(text: str) -> Iterator[tuple[int, str]]:
    """Lines by their number, but for those within hunks: there "--- x" is a line taken out."""
    old_left = new_left = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if hunk := _HUNK.match(line):
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
        elif line.startswith("diff --git "):
            old_left = new_left = 0
        elif old_left > 0 or new_left > 0:
            if not line.startswith("\\"):
                old_left -= not line.startswith("+")
                new_left -= not line.startswith("-")
            continue
        yield number, line
