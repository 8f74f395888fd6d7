"""A request as the pieces of text a provider sends (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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


# A request is measured five times before it is sent, and once when its reply has come.
# Each is a whole prompt: enough for those that are sent and come at about the same time.
@lru_cache(maxsize=32)
def _cut(parts: tuple[Part, ...], delimiter: str) -> tuple[Piece, ...]:
    """Quote the parts, and join those between two cache breakpoints, with blank lines between."""
    texts = [""]
    for part in parts:
        texts[-1] += f"{quote(part, delimiter)}\n\n"
        if part.ends_shared:
            texts.append("")
    # Vendors limit the number of breakpoints: the last ones count.
    marked = range(len(texts) - 1)[-MOST_BREAKPOINTS:]
    return tuple(
        Piece(text, breakpoint=index in marked) for index, text in enumerate(texts) if text
    )


def prompt_text(request: ModelRequest) -> str:
    """All that is sent, as one text."""
    return f"{request.system}\n\n" + "".join(piece.text for piece in pieces(request))


def blocks(
    cut: Iterable[Piece], mark: Mapping[str, Any], kind: str = "text"
) -> list[dict[str, Any]]:
    """The pieces as a list of content, as most vendors take them; `mark` ends what is cached."""
    return [
        {"type": kind, "text": piece.text, **(mark if piece.breakpoint else {})} for piece in cut
    ]
