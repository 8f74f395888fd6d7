"""Foreign text made harmless for documents and terminals (pure).

A report is opened in editors, browsers and wikis, and a terminal obeys escape sequences. What
people and models wrote must read as they wrote it and do nothing: no HTML, no image that is loaded
from elsewhere, no link but to the web, no heading that poses as the document's own, and no block of
code that swallows what follows it.
"""

import re
from bisect import bisect_right
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
#: What makes an item of a list, with the space behind it; within a paragraph only some do.
_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])( +|$)")
_MARKER_IN_TEXT = re.compile(r"(?:[-+*]|1[.)])( +)")
#: The signs of quotations and items that begin a line.
_SIGNS = re.compile(r"(?:(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))[ \t]*)*")
#: What begins a block and no paragraph, beside fences and items: headings, lines across the page.
_RULE_OR_TITLE = re.compile(r"#{1,6}(?:\s.*)?|([-*_])(?: *\1){2,}", re.DOTALL)
#: Columns of a tab. So much space before a line means code, or that a paragraph goes on.
_TAB = 4
#: Items within items that begin in one line.
_DEEPEST = 10
#: Where the text of a quotation begins: no line goes on with it but by its own sign.
_QUOTATION = 10**9


def visible(text: str) -> str:
    """The text without escape sequences and signs that nobody sees: fit for a terminal."""
    return clean(text)


def inert_line(text: str) -> str:
    """The text as one line of Markdown in which at most links to the web are active."""
    line = " ".join(clean(text).split())
    rest = _SIGNS.sub("", line, count=1)
    if FENCE.fullmatch(rest):  # all of it would be the name of a language
        return f"{line[: len(line) - len(rest)]}&#{ord(rest[0])};{_escaped(rest[1:])}"
    return _Block().line(line)


def inert(text: str) -> str:
    """The text as Markdown in which at most links to the web are active; its code is closed."""
    return "\n".join(_inert_lines(clean(text).split("\n")))


def _inert_lines(lines: list[str]) -> Iterator[str]:
    """Lines outside of fences escaped, those inside as they are.

    A fence is put at the margin, and what follows it in the same item of a list, too: where it
    stands in a list, it ends for some readers with the list and for others not, and then nobody can
    tell what is code. Many write code at the margin in an item: where the block's own fence still
    comes, it stays whole.
    """
    fence, column, block, before, items = "", 0, _Block(), "", _Items()
    opened = kept = 0  # the line that opened it, and the one to which no item's end closes it
    was_moved = False  # whether the line before is text that left its item for the margin
    for at, line in enumerate(lines):
        if fence and at > kept and items.end_before(line):
            kept = _closing(fence, lines, opened, at, column=column)
            column = 0
            if not kept:
                yield fence
                fence, before = "", ""
        if fence:
            is_end = ends(fence, line.strip())
            yield line.strip() if is_end else _moved(line, column)
            fence, before = "" if is_end else fence, ""
            continue
        markers, rest = items.take(line)
        found, right = FENCE.fullmatch(bare := rest.strip()), items.text_at
        sign = (found[1] or found[2]) if found else ""
        # So far to the right it is a fence to people, and to some readers, but not without another.
        is_text = not sign or items.is_deep
        if sign and is_text:
            is_text = not _closing(sign, lines, at, at + 1, column=right, least=right)
        if not is_text:
            if markers:
                yield from ("", markers) if before else (markers,)  # no heading's underline
            fence, column, opened = sign, items.leave(), at
            # What follows the fence can be a table's head to readers that look for tables first.
            yield _escaped(bare).replace("|", "&#124;")
        else:
            shown = line if sign else _moved(line, items.left)
            if before and (_UNDERLINE.fullmatch(shown) or (markers and was_moved)):
                yield ""  # no heading, but a line; no more of the paragraph, but an item
            was_moved = bool(items.left) and not markers
            yield block.line(_HEADING.sub("", shown, count=1) if _HEADING.match(shown) else shown)
            before = line.strip(" \t")  # to readers of Markdown nothing else is an empty line
    if fence:
        yield fence


def ends(fence: str, line: str) -> bool:
    """Whether the line, white space at its ends taken off, closes a block of code."""
    return line.startswith(fence) and not line.strip(fence[0])


def _closing(
    fence: str, lines: list[str], opened: int, at: int, *, column: int, least: int = 0
) -> int:
    """The line that closes a block, or 0 where none surely does.

    It comes before any other fence, and before an item that begins left of the block; where
    code stood before the line to begin with, before an empty line, too.

    Args:
        fence: What opened the block.
        lines: The whole text.
        opened: The number of the line that opened it.
        at: The number of the line to begin with.
        column: Where the block begins.
        least: How far to the right its end is.
    """
    is_empty = not any(map(str.strip, lines[opened + 1 : at]))
    for number in range(at, len(lines)):
        space, bare = _parted(lines[number])
        if FENCE.fullmatch(_SIGNS.sub("", bare, count=1).strip()):
            return number if ends(fence, bare.strip()) and len(space) >= least else 0
        if not (bare or is_empty) or (_MARKER.match(bare) and len(space) < column):
            return 0
    return 0


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


def _moved(line: str, columns: int) -> str:
    """The line without so many columns of the space before it, or without all of it."""
    space, bare = _parted(line)
    return space[columns:] + bare if columns else line


def _parted(line: str) -> tuple[str, str]:
    """The space before a line, without tabs, and the rest."""
    bare = line.lstrip(" \t")
    return line[: len(line) - len(bare)].expandtabs(_TAB), bare


class _Items:
    """The items of lists that are open at a line.

    Source: https://spec.commonmark.org/0.31.2/#list-items
    """

    def __init__(self) -> None:
        self._columns: list[int] = []  # where the text of each begins
        self._left = 0  # how many of them a fence has left for the margin
        self.text_at = 0  # where the last line's text begins
        self.is_deep = False  # whether that is so far to the right that no block begins there
        self._in_paragraph = self._is_bare = False

    @property
    def left(self) -> int:
        """Columns by which lines of items that a fence has left move to the margin."""
        return self._columns[self._left - 1] if self._left else 0

    def leave(self) -> int:
        """Take what follows in the open items to the margin; return where the last text begins."""
        del self._columns[bisect_right(self._columns, self.text_at) :]
        self._left, self._in_paragraph = len(self._columns), False
        return self.text_at

    def end_before(self, line: str) -> bool:
        """Whether the innermost item ends before the line; where code is open, no text goes on."""
        space, bare = _parted(line)
        return bool(self._columns and bare) and len(space) < self._columns[-1]

    def take(self, line: str) -> tuple[str, str]:
        """Return the signs of items that begin in a line outside of code, and the rest of it."""
        rest = line.expandtabs(_TAB).rstrip(" ")
        at = len(rest) - len(rest.lstrip(" "))
        depth, begun, rest = bisect_right(self._columns, at), list[int](), rest[at:]
        if not rest:
            depth = len(self._columns) - self._is_bare  # no item begins with two empty lines
        is_deep = at - (self._columns[depth - 1] if depth else 0) >= _TAB
        goes_on = self._in_paragraph and depth == len(self._columns)
        while not is_deep and len(begun) < _DEEPEST and not _RULE_OR_TITLE.fullmatch(rest):
            found = (_MARKER_IN_TEXT if goes_on else _MARKER).match(rest)
            if not found:
                break
            gap = len(found[1])
            goes_on, is_deep = False, gap > _TAB
            begun.append(at + found.end() - gap + (1 if is_deep or not gap else gap))
            at, rest = at + found.end(), rest[found.end() :]
        is_title = bool(not is_deep and _RULE_OR_TITLE.fullmatch(rest))
        if rest[:1] == ">" and not is_deep:
            begun.append(_QUOTATION)
        self.text_at, self.is_deep = at, is_deep
        is_text = rest and not begun and not is_title and (is_deep or not FENCE.fullmatch(rest))
        if self._in_paragraph and is_text:
            self._in_paragraph = is_deep or not (goes_on and _UNDERLINE.fullmatch(rest))
            return "", line  # of the item, however little space is before it
        self._columns[depth:], self._left = begun, min(self._left, depth)
        self._in_paragraph = bool(rest.strip("> ")) and not is_deep and not is_title
        self._is_bare = bool(begun) and not rest
        return line.expandtabs(_TAB)[:at].rstrip(), rest
