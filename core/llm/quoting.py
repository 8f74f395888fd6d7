"""Foreign text as labelled data in a prompt: cleaned, redacted, between random delimiters (pure).

Injection cannot be prevented, only contained. A part stands between two lines that nobody could
have guessed (`<<<CODE TEAM "Question"` and `>>>CODE`); who wrote it is a field before the label.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from core.redaction import clean, redact
from core.request import Part, PartKind

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
