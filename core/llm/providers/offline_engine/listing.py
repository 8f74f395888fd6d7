"""Names listed in questions that ask which of them: "Which of A, B and C should we use for X?"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.asking import clean

#: Verbs that end the list after "which of …".
_VERB = (
    r"(?:should|shall|do|does|can|could|would|will|must|is|are|fits?|suits?|works?|serves?|has|"
    r"have|makes?|sollen|sollten|wollen|müssen|können|soll|sollte|ist|sind|wäre|passt|passen|"
    r"nehmen|nutzen)"
)
#: Words that compare; they stand after the names in "Is A or B better for us?".
_BETTER = (
    r"(?:the\s+|a\s+|die\s+|der\s+|das\s+)?(?:(?:more|most|less|am)\s+\w+|better|best|right|worse|preferable|"
    r"good|besser\w*|geeignet\w*|cheaper|faster|safer|simpler|easier|richtig\w*|günstiger|"
    r"schneller|einfacher|sicherer|sinnvoller)"
)
_FORMS = (
    re.compile(
        r"^(?:which|what|who)(?: one)?(?: out)? of (?:(?:these|them|the following)\s*:?\s+)?"
        rf"(?P<names>.+?)\s+{_VERB}\b(?P<rest>.*)$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^welche[rsn]? (?:von|der) (?P<names>.+?)\s+{_VERB}\b(?P<rest>.*)$", re.IGNORECASE
    ),
    re.compile(
        rf"^(?:which|what|who)(?: one)?\s+{_VERB}\b(?P<rest>[^:,]*)[:,]\s+(?P<names>.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:was|wer|welche[rsn]?)\b(?P<rest>[^:,]*)[:,]\s+(?P<names>.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:is|are|was|were|would|ist|sind|wäre|wären)\s+(?P<names>.+?\s(?:or|oder)\s.+?)\s+(?:be\s+)?"
        rf"{_BETTER}\b(?P<rest>.*)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<names>.+?)\s*[:,–—-]\s+(?:which|what|who|was|wer|welche[rsn]?)\b(?P<rest>.*)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:(?:help us|let us|we (?:need|want|have) to|how (?:do|should|can) we)\s+)?"
        r"(?:choose|choosing|pick|select|decide|compare|vote)"
        r"(?:\s+(?:on|for))?(?:\s+one)?"
        r"(?:\s*(?::|\b(?:of|from|among|between)\b))\s*"
        r"(?:(?:these|the following)\s*:?\s+)?(?P<names>[^:]+)$",
        re.IGNORECASE,
    ),
    re.compile(r"^compare\s+(?P<names>.+)$", re.IGNORECASE),
)
_COMMA = re.compile(r"\s*[,;]\s*(?:(?:and|or|und|oder)\s+)?|\s+(?:or|oder|vs\.?|versus)\s+")
_AND = re.compile(r"\s+(?:and|und)\s+")
#: What the names are for; German words would not fit into an English sentence.
_FOR = re.compile(r"(?:^|\s)(?P<tail>(?:for|as|in|on)\s+(?!us$|you$).+)$", re.IGNORECASE)
_LAST_FOR = re.compile(r"^(?P<name>.+?)(?P<tail>\s+(?:for|as)\s+.+)$", re.IGNORECASE)
#: Words that are no part of a name: the piece was read wrongly.
_NO_NAME = re.compile(
    r"\b(?:should|shall|which|sollen|sollten|welche[rsn]?|we|wir|who)\b", re.IGNORECASE
)
_ADVERB = re.compile(r"^(?:both|either|beide|lieber|eher|better|besser)\s+", re.IGNORECASE)
_MOST_WORDS = 6
#: Fewer names than this are no choice.
_CHOICE = 2


@dataclass(frozen=True)
class Listed:
    """The names of a choice, and what they are for with a space before it, if that was said."""

    names: tuple[str, ...]
    tail: str = ""


def listed_in(asked: str) -> Listed | None:
    """The names that a question lists, in its order; None if it does not list any so."""
    for form in _FORMS:
        found = form.match(asked)
        if found and (listed := _listed(found["names"], found.groupdict().get("rest") or "")):
            return listed
    return None


def _listed(text: str, rest: str) -> Listed | None:
    pieces = [_ADVERB.sub("", clean(piece)) for piece in _pieces(text)]
    tail = _FOR.search(rest)
    said = f" {clean(tail['tail'])}" if tail else ""
    if not said and len(pieces) >= _CHOICE and (last := _LAST_FOR.match(pieces[-1])):
        pieces[-1], said = last["name"], last["tail"]
    kept = tuple(dict.fromkeys(filter(None, pieces)))
    return Listed(kept, said) if len(kept) >= _CHOICE and all(map(_is_name, kept)) else None


def _pieces(text: str) -> Sequence[str]:
    """The pieces of "A, B and C"; an "and" between two names counts where no comma or "or" does."""
    parts = _COMMA.split(text)
    if len(parts) == 1:
        return _AND.split(text)
    return [*parts[:-1], *(_AND.split(parts[-1]) if not _has_or(text) else parts[-1:])]


def _has_or(text: str) -> bool:
    return bool(re.search(r"\s(?:or|oder|vs\.?|versus)\s", text, re.IGNORECASE))


def _is_name(piece: str) -> bool:
    return len(piece.split()) <= _MOST_WORDS and not _NO_NAME.search(piece)
