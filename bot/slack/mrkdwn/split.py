"""Long mrkdwn → pieces within Slack's limits, cut where a reader would pause (pure).

Cuts come at ends of paragraphs, then of lines, then of sentences, then between words. A block of
code that must be cut is closed and opened again. Entities and links stay whole. Nothing but white
space at the cuts is dropped.
"""

import re
from enum import IntEnum

from bot.slack.mrkdwn.escape import LINK

_FENCE = "```"
_CLOSE = f"\n{_FENCE}"
_OPEN = f"{_FENCE}\n"
# What must stay together: entities, links, a sign with the marks that belong to it, and a word
# after an @: the beginning of "@channels" is the name of everybody.
_ATOM = re.compile(
    rf"&(?:amp|lt|gt);|{LINK.pattern}|```|@[A-Za-z0-9]{{1,16}}"
    "|.(?:[\u0300-\u036f\u200d\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|(?<=\u200d).){0,16}",
    re.DOTALL,
)
# With those of Chinese and Japanese, which no space follows.
_WIDE_ENDS = "\u3002\uff01\uff1f"
_SENTENCE_ENDS = ".!?…:;" + _WIDE_ENDS


class _BreakKind(IntEnum):
    """What ends at a place; the smaller, the better to cut there."""

    PARAGRAPH = 0
    LINE = 1
    LINE_OF_CODE = 2
    SENTENCE = 3
    WORD = 4
    ANYWHERE = 5


def split(text: str, limit: int) -> list[str]:
    """Safe mrkdwn in pieces of at most `limit` characters, 40 at least."""
    longest = limit // 2

    def shortened(match: re.Match[str]) -> str:
        # A link that would fill a piece of its own becomes text.
        link = match.group()
        return link if len(link) <= longest else link[1:-1].replace("|", " ")

    pieces, rest = list[str](), LINK.sub(shortened, text)
    while len(rest) > limit:
        cut = _cut(rest, limit - len(_CLOSE))
        piece, rest = rest[:cut], rest[cut:]
        if piece.count(_FENCE) % 2:  # inside a block of code
            pieces.append(piece.removesuffix("\n") + _CLOSE)
            rest = _OPEN + rest.removeprefix("\n")
        else:
            pieces.append(piece.rstrip())
            rest = rest.lstrip("\n")
    return [piece for piece in (*pieces, rest) if piece.strip()]


def _cut(text: str, limit: int) -> int:
    """Where to cut: the last place of the best kind, unless that leaves too little before it."""
    last_of_kind, in_code = dict[_BreakKind, int](), False
    for atom in _ATOM.finditer(text):
        if atom.end() > limit:
            break
        in_code ^= atom.group() == _FENCE
        last_of_kind[_kind(text, atom.end(), in_code=in_code)] = atom.end()
    worthwhile = [kind for kind, place in last_of_kind.items() if place >= limit // 3]
    return last_of_kind[min(worthwhile)]


def _kind(text: str, place: int, *, in_code: bool) -> _BreakKind:
    before = text[place - 1]
    if before == "\n" and not in_code:
        return _BreakKind.PARAGRAPH if text[place - 2 : place] == "\n\n" else _BreakKind.LINE
    if before == "\n":
        return _BreakKind.LINE_OF_CODE
    if not before.isspace():
        return _BreakKind.SENTENCE if before in _WIDE_ENDS else _BreakKind.ANYWHERE
    return _BreakKind.SENTENCE if text[place - 2] in _SENTENCE_ENDS else _BreakKind.WORD
