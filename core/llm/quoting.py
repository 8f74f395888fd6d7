"""Foreign text as labelled data in a prompt: cleaned, redacted, between random delimiters (pure).

Injection cannot be prevented, only contained. What people and agents wrote stands between two
lines that nobody could have guessed (`<<<CODE Question (from the team)` and `>>>CODE`), and holds
nothing that a reader cannot see. The system prompt says how to read that.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from core.redaction import redact
from core.request import Part, PartKind

_SHORTEST = 2
#: What the team wrote says so in its first line: it is authoritative, as the system text explains.
_BY_TEAM = "from the team"
_TEAMS: Mapping[PartKind, str] = {
    PartKind.QUESTION: f"({_BY_TEAM})",
    PartKind.CONTEXT: f"({_BY_TEAM})",
    PartKind.CLARIFICATIONS: f"(the answers are {_BY_TEAM})",
    PartKind.NOTES: f"({_BY_TEAM})",
    PartKind.FACTS: f"({_BY_TEAM})",
}
_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_ONE_EMOJI = f"{_EMOJI}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_INVISIBLE = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers, joiners
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors, which can carry hidden bytes
    "\U000e0000-\U000e007f"  # tags, which can carry hidden text
    "\ud800-\udfff"  # half characters, which cannot be sent
    "]"
)
_KEEP_OR_DROP = re.compile(
    f"({_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*|[0-9#*]\ufe0f\u20e3)|{_INVISIBLE}"
)


# The same parts are sent to every agent, and measured before they are sent.
@lru_cache(maxsize=512)
def quote(part: Part, delimiter: str) -> str:
    """The part as it stands in a prompt: a task as it is, anything else as labelled data.

    Args:
        part: The piece of the prompt.
        delimiter: Random per debate; where the text itself has it, it is broken up.

    Raises:
        ValueError: The delimiter is too short to be one.
    """
    if part.kind is PartKind.TASK:
        return part.text
    if len(delimiter) < _SHORTEST:
        raise ValueError("The delimiter is too short.")
    # No other text passes for the team's, whatever an agent is called.
    label = re.sub(_BY_TEAM, "", " ".join(clean(part.label).split()), flags=re.IGNORECASE)
    label = _without(delimiter, " ".join(f"{label} {_TEAMS.get(part.kind, '')}".split()))
    body = _without(delimiter, redact(clean(part.text)))
    return f"<<<{delimiter} {label}\n{body}\n>>>{delimiter}"


def clean(text: str) -> str:
    """The text without characters nobody sees; emoji stay whole."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _KEEP_OR_DROP.sub(lambda found: found[1] or "", lines)


def _without(delimiter: str, text: str) -> str:
    """The text with the delimiter broken up wherever it occurs, in any case."""
    middle = len(delimiter) // 2
    broken = re.compile(
        f"({re.escape(delimiter[:middle])})({re.escape(delimiter[middle:])})", re.IGNORECASE
    )
    while broken.search(text):  # breaking one up may leave another: "aa" in "aaa"
        text = broken.sub(r"\1 \2", text)
    return text
