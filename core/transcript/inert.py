"""Foreign text made harmless for documents and terminals (pure).

A report is opened in editors, browsers and wikis, and a terminal obeys escape sequences. What
people and models wrote must read as they wrote it and do nothing: no HTML, no image that is loaded
from elsewhere, no link but to the web, no heading that poses as the document's own, and no block of
code that swallows what follows it.
"""

import re
from collections.abc import Iterator

from core.redaction import clean

_MAYBE_ACTIVE = re.compile(r"[<\[\]]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_CODE = re.compile(r"(?<!`)(`+)(?!`)")
_OTHER_LINK = re.compile(r"\]\((?!https?://|mailto:|#)", re.IGNORECASE)
_HEADING = re.compile(r"\s{1,3}(?=#{1,6}(?:\s|$))")
_UNDERLINE = re.compile(r"\s*(=+|-+)\s*")
#: A line that opens a block of code, white space at its ends taken off.
FENCE = re.compile(r"(`{3,})[^`]*|(~{3,}).*", re.DOTALL)


def visible(text: str) -> str:
    """The text without escape sequences and signs that nobody sees: fit for a terminal."""
    return clean(text)


def inert_line(text: str) -> str:
    """The text as one line of Markdown in which at most links to the web are active."""
    return _Block().line(" ".join(clean(text).split()))


def inert(text: str) -> str:
    """The text as Markdown in which at most links to the web are active; its code is closed."""
    return "\n".join(_inert_lines(clean(text).split("\n")))


def _inert_lines(lines: list[str]) -> Iterator[str]:
    """Lines outside of fences escaped, those inside as they are.

    A fence is put at the margin: where it stands in a list, it ends for some readers with the list
    and for others not, and then nobody can tell what is code.
    """
    fence, block, before = "", _Block(), ""
    for line in lines:
        bare = line.strip()
        if fence:
            is_end = ends(fence, bare)
            yield bare if is_end else line
            fence, before = "" if is_end else fence, ""
        elif found := FENCE.fullmatch(bare):
            fence = found[1] or found[2]
            # What follows the fence can be a table's head to readers that look for tables first.
            yield _escaped(bare).replace("|", "&#124;")
        else:
            if _UNDERLINE.fullmatch(line) and before:
                yield ""  # no heading, but a line
            yield block.line(_HEADING.sub("", line, count=1) if _HEADING.match(line) else line)
            before = line.strip(" \t")  # to readers of Markdown nothing else is an empty line
    if fence:
        yield fence


def ends(fence: str, line: str) -> bool:
    """Whether the line, white space at its ends taken off, closes a block of code."""
    return line.startswith(fence) and not line.strip(fence[0])


class _Block:
    """Lines that may share a span of code; only what surely is one stays as it is."""

    def __init__(self) -> None:
        self._sure = True

    def line(self, line: str) -> str:
        """The next line, escaped."""
        if "`" not in line:
            return _escaped(line)
        runs = list(_CODE.finditer(line))
        pairs = [(one, other) for one, other in zip(runs[::2], runs[1::2], strict=False)]
        paired = len(runs) % 2 == 0 and all(len(one[1]) == len(other[1]) for one, other in pairs)
        # A table's cells and escapes end spans in ways that readers differ about.
        self._sure = self._sure and paired and "|" not in line and "\\" not in line
        if not self._sure:
            return _escaped(line)
        pieces, done = list[str](), 0
        for one, other in pairs:
            pieces += [_escaped(line[done : one.start()]), line[one.start() : other.end()]]
            done = other.end()
        return "".join([*pieces, _escaped(line[done:])])


def _escaped(text: str) -> str:
    """Text outside of code: no tag, no image, no definition of a link, no link but to the web."""
    if not _MAYBE_ACTIVE.search(text):
        return text  # most lines are so, and long documents have many
    text = _TAG.sub("&lt;", text).replace("![", "&#33;[").replace("]:", "]&#58;")
    return _OTHER_LINK.sub("]&#40;", text)
