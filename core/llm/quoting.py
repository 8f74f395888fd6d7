"""Foreign text as labelled data in a prompt: cleaned, redacted, between random delimiters (pure).

Injection cannot be prevented, only contained. What people and agents wrote stands between two
lines that nobody could have guessed (`<<<CODE Question (from the team)` and `>>>CODE`), and holds
nothing that a reader cannot see. The system prompt says how to read that.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from core.redaction import clean, redact
from core.request import Part, PartKind

_SHORTEST = 2
#: What the team wrote says so in its first line: it is authoritative, as the system text explains.
_BY_TEAM = "from the team"
_CLAIM = re.compile(r"from[^a-z]{0,9}the[^a-z]{0,9}team", re.IGNORECASE)
_TEAM = re.compile("team", re.IGNORECASE)
_TEAMS: Mapping[PartKind, str] = {
    PartKind.QUESTION: f"({_BY_TEAM})",
    PartKind.CONTEXT: f"({_BY_TEAM})",
    PartKind.CLARIFICATIONS: f"(the answers are {_BY_TEAM})",
    PartKind.PLAYBOOK: f"({_BY_TEAM})",
    PartKind.NOTES: f"({_BY_TEAM})",
}


def quote(part: Part, delimiter: str) -> str:
    """The part as it stands in a prompt: a task as it is, anything else as labelled data.

    Args:
        part: The piece of the prompt.
        delimiter: Random per debate; where the text itself has it, it is broken up.

    Raises:
        ValueError: The delimiter is too short to be one.
    """
    if part.kind is PartKind.TASK:
        return redact(part.text)
    if len(delimiter) < _SHORTEST:
        raise ValueError("The delimiter is too short.")
    # No other text passes for the team's, whatever an agent is called.
    label = _without_claim(" ".join(redact(clean(part.label)).split()))
    label = _without(delimiter, " ".join(f"{label} {_TEAMS.get(part.kind, '')}".split()))
    return f"<<<{delimiter} {label}\n{as_data(part.text, delimiter)}\n>>>{delimiter}"


def _without_claim(label: str) -> str:
    """The label; where it says who wrote it, in letters of any width, without the word for that.

    What stands in the word's place is no letter: no other one can come together around it.
    """
    plain = unicodedata.normalize("NFKC", label)
    return _TEAM.sub("…", plain) if _CLAIM.search(plain) else label


# The same text stands under many labels in a debate: as a position, an agent's own, a candidate.
# Most come out as they went in, and are not kept twice: 13 MB where all have 50,000 characters.
@lru_cache(maxsize=256)
def as_data(text: str, delimiter: str) -> str:
    """The text as it stands between delimiters: nothing hidden, no secret, no delimiter.

    Args:
        text: Foreign text.
        delimiter: Broken up wherever the text has it.
    """
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
