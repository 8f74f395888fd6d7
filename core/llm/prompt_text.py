"""A request as the pieces of text a provider sends, foreign text in it as labelled data (pure).

Injection cannot be prevented, only contained. Foreign text is cleaned, redacted, and stands between
two lines that nobody could have guessed (`<<<CODE TEAM "Question"`, `>>>CODE`); who wrote it is a
field before the label.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.redaction import clean, redact
from core.request import ModelRequest, Part, PartKind

#: No vendor takes more marked places in one prompt.
MOST_BREAKPOINTS = 4
_SHORTEST = 2
#: Who wrote a part, as the system text explains: what the team wrote is authoritative.
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
#: Letters of other scripts that look like those of `_CLAIM`, and all quotation marks.
_LOOK_ALIKE = str.maketrans(
    # Cyrillic; then Greek and others.
    "\u0430\u0410\u0435\u0415\u043c\u041c\u04bb\u041d\u043e\u041e\u0433\u0442\u0422\u0443\u0423\u0412"
    "\u03b1\u0391\u0251\u03b5\u0395\u039c\u0192\u0397\u03bf\u039f0\u03c4\u03a4\u03a5\u0392",
    "aaeemmhhoorttyybaaaeemfhooottyb",
)
_MARKS = str.maketrans(dict.fromkeys('"“”„‟«»″〝〞〟\uff02', "'"))


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


def quote(part: Part, delimiter: str) -> str:
    """The part as it stands in a prompt: a task as it is, anything else as labelled data.

    The delimiter is random per debate; where the text itself has it, it is broken up.

    Raises:
        ValueError: The delimiter is too short to be one.
    """
    if part.kind is PartKind.TASK:
        return redact(part.text)
    if len(delimiter) < _SHORTEST:
        raise ValueError("The delimiter is too short.")
    label = _without_claim(" ".join(redact(clean(part.label)).split()))
    label = _without(delimiter, label.translate(_MARKS))
    author = _AUTHORS.get(part.kind, _OTHERS)
    return f'<<<{delimiter} {author} "{label}"\n{as_data(part.text, delimiter)}\n>>>{delimiter}'


def _without_claim(label: str) -> str:
    """The label; where it says that the team wrote it, however spelled, without the word for that.

    What stands in the word's place is no letter: no other one can come together around it.
    """
    plain = unicodedata.normalize("NFKD", label).translate(_LOOK_ALIKE)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _TEAM.sub("…", plain) if _CLAIM.search(plain) else label


# The same text stands under many labels in a debate: as a position, an agent's own, a candidate.
# Most come out as they went in, and are not kept twice: 13 MB where all have 50,000 characters.
@lru_cache(maxsize=256)
def as_data(text: str, delimiter: str) -> str:
    """The text as it stands between delimiters: nothing hidden, no secret, no delimiter."""
    return _without(delimiter, redact(clean(text)))


def _without(delimiter: str, text: str) -> str:
    """The text with the delimiter broken up wherever it occurs, in any case."""
    # Signs of other scripts may count as a letter of it: those are left to the pattern.
    if text.isascii() and delimiter.isascii() and delimiter.lower() not in text.lower():
        return text
    middle = len(delimiter) // 2
    broken = re.compile(
        f"({re.escape(delimiter[:middle])})({re.escape(delimiter[middle:])})", re.IGNORECASE
    )
    while broken.search(text):  # breaking one up may leave another: "aa" in "aaa"
        text = broken.sub(r"\1 \2", text)
    return text
