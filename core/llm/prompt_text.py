"""A request as pieces of prompt text, with foreign text quoted as labelled data (pure).

Injection cannot be prevented, only contained. Foreign text is cleaned, redacted and put between two
lines with a random code (`<<<CODE TEAM "Question"`, `>>>CODE`). The word before the label names the
author.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.redaction import clean, redact
from core.request import ModelRequest, Part, PartKind

#: The most cache breakpoints that all vendors accept in a prompt.
MOST_BREAKPOINTS = 4
_SHORTEST = 2
#: Authors of parts. The system text says that the text of the team is authoritative.
_AUTHORS: Mapping[PartKind, str] = {
    PartKind.QUESTION: "TEAM",
    PartKind.CONTEXT: "TEAM",
    PartKind.CLARIFICATIONS: "TEAM-ANSWERS",
    PartKind.PLAYBOOK: "TEAM",
    PartKind.NOTES: "TEAM",
}
_OTHERS = "OTHERS"
_CLAIM = re.compile(r"(?:from|by)[^a-z]{0,9}(?:the[^a-z]{0,9})?team", re.IGNORECASE)
_TEAM = re.compile("team", re.IGNORECASE)
#: Letters of other scripts that look like those of `_CLAIM`.
_LOOK_ALIKE = str.maketrans(
    # Cyrillic; then Greek and others.
    "\u0430\u0410\u0435\u0415\u043c\u041c\u04bb\u041d\u043e\u041e\u0433\u0442\u0422\u0443\u0423\u0412"
    "\u03b1\u0391\u0251\u03b5\u0395\u039c\u0192\u0397\u03bf\u039f0\u03c4\u03a4\u03a5\u0392",
    "aaeemmhhoorttyybaaaeemfhooottyb",
)
_MARKS = str.maketrans(dict.fromkeys('"“”„‟«»″〝〞〟\uff02', "'"))


@dataclass(frozen=True)
class Piece:
    """Text up to a cache breakpoint, or the rest of the prompt."""

    text: str
    #: Asks the vendor to cache the prompt up to the end of this piece.
    breakpoint: bool = False


def pieces(request: ModelRequest) -> list[Piece]:
    """The prompt after the system text, cut at the end of each shared prefix.

    The prompt is also cut at prefixes beyond `MOST_BREAKPOINTS`: a vendor finds a cached prefix
    only if it is cut in the same way.
    """
    return list(_cut(tuple(request.parts), request.delimiter))


# A request is measured five times before it is sent, and once after its reply. The size is enough
# for concurrent calls; each entry is a whole prompt.
@lru_cache(maxsize=32)
def _cut(parts: tuple[Part, ...], delimiter: str) -> tuple[Piece, ...]:
    """Quote the parts, and join those between two cache breakpoints with blank lines."""
    texts = [""]
    for part in parts:
        texts[-1] += f"{quote(part, delimiter)}\n\n"
        if part.ends_shared:
            texts.append("")
    # Vendors limit the number of breakpoints: the last ones count.
    breakpoints = range(len(texts) - 1)[-MOST_BREAKPOINTS:]
    return tuple(
        Piece(text, breakpoint=index in breakpoints) for index, text in enumerate(texts) if text
    )


def prompt_text(request: ModelRequest) -> str:
    """The system text and the whole prompt as one text."""
    return f"{request.system}\n\n" + "".join(piece.text for piece in pieces(request))


def blocks(
    cut: Iterable[Piece], mark: Mapping[str, Any], kind: str = "text"
) -> list[dict[str, Any]]:
    """The pieces as content blocks of a vendor's API; `mark` is the field for a breakpoint."""
    return [
        {"type": kind, "text": piece.text, **(mark if piece.breakpoint else {})} for piece in cut
    ]


def quote(part: Part, delimiter: str) -> str:
    """The text of a part in a prompt: a task unchanged, anything else as labelled data.

    The delimiter is random per debate; a space splits it if it occurs in the text.

    Raises:
        ValueError: The delimiter is too short.
    """
    if part.kind is PartKind.TASK:
        return redact(part.text)
    if len(delimiter) < _SHORTEST:
        raise ValueError("The delimiter is too short.")
    label = " ".join(redact(clean(part.label)).split())
    # A label that claims to be by the team loses the word. A sign that is no letter replaces it, so
    # that its neighbours cannot form it again.
    plain = unicodedata.normalize("NFKD", label).translate(_LOOK_ALIKE)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    label = _TEAM.sub("…", plain) if _CLAIM.search(plain) else label
    label = _without(delimiter, label.translate(_MARKS))
    author = _AUTHORS.get(part.kind, _OTHERS)
    return f'<<<{delimiter} {author} "{label}"\n{as_data(part.text, delimiter)}\n>>>{delimiter}'


# A debate shows the same text under many labels: as a position, an agent's own, a candidate. The
# result is mostly the same object; the cache takes 13 MB if all texts have 50,000 characters.
@lru_cache(maxsize=256)
def as_data(text: str, delimiter: str) -> str:
    """The text between two delimiters: without hidden characters, secrets and delimiters."""
    return _without(delimiter, redact(clean(text)))


def _without(delimiter: str, text: str) -> str:
    """The text with each occurrence of the delimiter, in upper or lower case, split by a space."""
    # The pattern also matches signs of other scripts that fold to an ASCII letter.
    if text.isascii() and delimiter.isascii() and delimiter.lower() not in text.lower():
        return text
    middle = len(delimiter) // 2
    broken = re.compile(
        f"({re.escape(delimiter[:middle])})({re.escape(delimiter[middle:])})", re.IGNORECASE
    )
    while broken.search(text):  # splitting one may leave another: "aa" in "aaa"
        text = broken.sub(r"\1 \2", text)
    return text
