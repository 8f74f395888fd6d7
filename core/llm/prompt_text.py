"""A request as the pieces of text a provider sends (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.llm.quoting import quote
from core.request import ModelRequest, Part

#: No vendor takes more marked places in one prompt.
MOST_BREAKPOINTS = 4


@dataclass(frozen=True)
class Piece:
    """Text that is cached together, or the rest of the prompt."""

    text: str
    #: The vendor shall cache the prompt up to the end of this piece.
    breakpoint: bool = False


def pieces(request: ModelRequest) -> list[Piece]:
    """The prompt after the system text, cut where a shared beginning ends.

    The cuts are always in the same places, also where there are more shared beginnings than a
    vendor can mark: a vendor only finds a cached beginning that is cut in the same way.
    """
    return list(_cut(tuple(request.parts), request.delimiter))


# A request is measured five times before it is sent.
@lru_cache(maxsize=16)
def _cut(parts: tuple[Part, ...], delimiter: str) -> tuple[Piece, ...]:
    """Quote the parts, and put together what no vendor shall cache apart."""
    found: list[Piece] = []
    texts: list[str] = []
    for part in parts:
        texts.append(quote(part, delimiter))
        if part.ends_shared:
            found.append(Piece(_joined(texts), breakpoint=True))
            texts = []
    if texts:
        found.append(Piece(_joined(texts)))
    # A vendor takes only so many breakpoints: the last ones.
    marked = [index for index, piece in enumerate(found) if piece.breakpoint]
    kept = set(marked[-MOST_BREAKPOINTS:])
    return tuple(Piece(piece.text, breakpoint=index in kept) for index, piece in enumerate(found))


def _joined(texts: Sequence[str]) -> str:
    """Parts with blank lines between and after them."""
    return "".join(f"{text}\n\n" for text in texts)


def prompt_text(request: ModelRequest) -> str:
    """All that is sent, as one text: for estimates."""
    return request.system + "\n\n" + "".join(piece.text for piece in pieces(request))
