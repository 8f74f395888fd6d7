"""Unified diffs as sources; places are files and line numbers of the new files (pure)."""

import re
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Indel

from core.debate.evidence import Citation, CitationStatus, Mark, Source, SourceText
from core.evidence.citations import check, lines_of

#: The beginning of a diff, also of `git show` or `git format-patch`.
_BEGINS = re.compile(r"\s{0,100}(?:diff --git |--- |Index: |commit [0-9a-f]{7}|From [0-9a-f]{7})")
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_PATH = re.compile(r'(?:---|\+\+\+) "?(?:[abciow]/)?([^\t"]{1,400})')
_RENAMED = re.compile(r'diff --git "?a/.{1,400} "?b/([^"]{1,400})')
_OCTAL = re.compile(r"(?:\\[0-3][0-7]{2})+")
_NOTHING = "/dev/null"


def with_hunks(source: SourceText) -> SourceText:
    """The source with a mark for each file and hunk if it is a diff; else unchanged."""
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
            # A deleted file has line numbers of the old file only.
            yield Mark(line=number, label=path, hunk_at=max(1, int(hunk[3]) or int(hunk[1])))
        elif begins:
            match = _RENAMED.match(line)
            header, path = number, _readable(match[1]) if match else ""
        elif (match := _PATH.match(line)) and not line.startswith("---- "):
            header = header or number
            path = _readable(match[1]) if match[1] != _NOTHING else path
    if header and path:
        yield Mark(line=header, label=path)


def _readable(path: str) -> str:
    """The path with letters instead of git's octal bytes."""

    def letters(match: re.Match[str]) -> str:
        return bytes(int(byte, 8) for byte in match[0].split("\\")[1:]).decode(errors="replace")

    return _OCTAL.sub(letters, path)


def _outside_hunks(text: str) -> Iterator[tuple[int, str]]:
    """Lines outside hunks with their numbers; in a hunk, "--- x" is a deleted line."""
    old_remaining = new_remaining = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if hunk := _HUNK.match(line):
            old_remaining, new_remaining = int(hunk[2] or 1), int(hunk[4] or 1)
        elif line.startswith("diff --git "):
            old_remaining = new_remaining = 0
        elif old_remaining > 0 or new_remaining > 0:
            if not line.startswith("\\"):
                old_remaining -= not line.startswith("+")
                new_remaining -= not line.startswith("-")
            continue
        yield number, line


#: Lines of a diff that are shown per side, and characters per line.
_MOST_LINES, _LINE_LIMIT = 6, 300
#: Most pairs of lines to compare; each needs one bit of memory.
_MOST_PAIRS = 400_000_000


def revision_of(
    cited: Citation, subject: Sequence[Source], revisions: Sequence[Source]
) -> Source | None:
    """The newest revision of the cited source; None if there is none.

    A revision has the title of its source. If the subject has only one source, any title counts.
    """
    original = next((source for source in subject if source.id == cited.source), None)
    if original is None or not revisions:
        return None
    same_title = [
        revision for revision in revisions if revision.reference.title == original.reference.title
    ]
    newest = same_title or (revisions if len(subject) == 1 else ())
    return newest[-1] if newest else None


def is_gone(cited: Citation, revision: Source | None) -> bool:
    """Whether the revision no longer contains the cited words."""
    return revision is not None and lines_of(cited.words, revision.text) is None


def quoted_in(words: str, revisions: Sequence[Source]) -> Citation | None:
    """A verified citation of the newest revision that contains the words."""
    citations = (check(revision.id, words, revisions) for revision in reversed(revisions))
    return next(
        (citation for citation in citations if citation.status is CitationStatus.VERIFIED), None
    )


def changes_at(cited: Citation, before: Source, after: Source) -> tuple[str, ...]:
    """The changed lines of the cited words: "- old", then "+ new".

    Empty if these lines did not change or the texts are too long to compare.
    """
    lines = lines_of(cited.words, before.text)
    old, new = before.text.split("\n"), after.text.split("\n")
    if lines is None or len(old) * len(new) > _MOST_PAIRS:
        return ()
    first, last = lines[0] - 1, lines[1]
    old_lines, new_lines = list[str](), list[str]()
    for step in Indel.opcodes(old, new):
        # Includes insertions directly before or after the words.
        is_near = step.src_start <= last and step.src_end >= first
        if step.tag != "equal" and is_near:
            old_lines += old[step.src_start : step.src_end]
            new_lines += new[step.dest_start : step.dest_end]
    return (*_marked_lines("-", old_lines), *_marked_lines("+", new_lines))


def _marked_lines(sign: str, lines: Sequence[str]) -> Sequence[str]:
    texts = [line.strip() for line in lines if line.strip()]
    marked_lines = [f"{sign} {line[:_LINE_LIMIT]}" for line in texts[:_MOST_LINES]]
    more = len(texts) - _MOST_LINES
    return [*marked_lines, f"{sign} … and {more} more"] if more > 0 else marked_lines
