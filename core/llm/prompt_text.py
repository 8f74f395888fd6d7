"""A request as the pieces of text a provider sends (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from core.llm.prices import size_of
from core.llm.quoting import quote
from core.request import ModelRequest, Part

#: No vendor takes more marked places in one prompt.
MOST_BREAKPOINTS = 4
#: Between the system text and the rest.
_GAP = "\n\n"


@dataclass(frozen=True)
class Piece:
    """Text that is cached together, or the rest of the prompt."""

    text: str
    #: The vendor shall cache the prompt up to the end of this piece.
    breakpoint: bool = False

    @cached_property
    def size(self) -> int:
        """How long it is, as `size_of` counts: asked for as often as the prompt is measured."""
        return size_of(self.text)


def pieces(request: ModelRequest) -> list[Piece]:
    """The prompt after the system text, cut where a shared beginning ends.

    The cuts are always in the same places, also where there are more shared beginnings than a
    vendor can mark: a vendor only finds a cached beginning that is cut in the same way.
    """
    return list(_cut(tuple(request.parts), request.delimiter))


# A request is measured five times before it is sent, and once when its reply has come.
# Each is a whole prompt: enough for those that are sent and come at about the same time.
@lru_cache(maxsize=32)
def _cut(parts: tuple[Part, ...], delimiter: str) -> tuple[Piece, ...]:
    """Quote the parts, and join those between two cache breakpoints."""
    pieces: list[Piece] = []
    texts: list[str] = []
    for part in parts:
        texts.append(quote(part, delimiter))
        if part.ends_shared:
            pieces.append(Piece(_joined(texts), breakpoint=True))
            texts = []
    if texts:
        pieces.append(Piece(_joined(texts)))
    # Vendors limit the number of breakpoints: keep the last ones.
    marked = [index for index, piece in enumerate(pieces) if piece.breakpoint]
    breakpoints = set(marked[-MOST_BREAKPOINTS:])
    return tuple(
        Piece(piece.text, breakpoint=index in breakpoints) for index, piece in enumerate(pieces)
    )


def _joined(texts: Sequence[str]) -> str:
    """Parts with blank lines between and after them."""
    return "".join(f"{text}\n\n" for text in texts)


def prompt_text(request: ModelRequest) -> str:
    """All that is sent, as one text."""
    return request.system + _GAP + "".join(piece.text for piece in pieces(request))


def prompt_size(request: ModelRequest) -> int:
    """How long that text is, as `size_of` counts."""
    return size_of(request.system) + len(_GAP) + sum(piece.size for piece in pieces(request))
