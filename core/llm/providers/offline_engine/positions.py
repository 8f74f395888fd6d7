"""Reads a position out of any text: which option it takes, what it covers, what it leaves out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from core.llm.providers.offline_engine.checklist import Check
from core.llm.providers.offline_engine.cleaning import argument_of
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.question import Reading, own_words
from core.llm.providers.offline_engine.requirements import Requirement
from core.llm.providers.offline_engine.wording import is_heading, mentions, normal, plain, sentences

_ASIDE = re.compile(
    r"\b(?:rather than|instead of|and not|, not|over|statt|not)\b.*$", re.IGNORECASE
)
_NO = re.compile(
    r"\b(?:do not|don['’]t|should not|shouldn['’]t|not|no|against|nicht|kein\w*)\b|ない",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(?P<item>\S.*)$")
#: Sentences at the beginning in which a text says what it takes.
_OPENING = 2


@dataclass(frozen=True)
class Position:
    """What a text stands for. Two texts that argue the same are the same position."""

    text: str
    option: Option | None
    met: tuple[Requirement, ...]
    missing: tuple[Requirement, ...]

    @property
    def claim(self) -> str:
        """Its first sentence."""
        return next(iter(sentences(self.text)), "")


@lru_cache(maxsize=512)
def read_position(text: str, reading: Reading) -> Position:
    """Read a text that somebody wrote as a position on the question."""
    argued = argument_of(text)
    met = tuple(r for r in reading.requirements if r.is_met_in(argued))
    return Position(
        text=argued,
        option=stance(argued, reading.options),
        met=met,
        missing=tuple(r for r in reading.requirements if r not in met),
    )


def stance(argued: str, options: tuple[Option, ...]) -> Option | None:
    """The option a text takes, judged by its opening, else by all of it; None if it takes none."""
    opening = sentences(argued)[:_OPENING]
    for sentence in opening:
        if found := _taken(sentence, options):
            return found
    return _taken(" ".join(sentences(argued)), options) if argued else None


def _taken(sentence: str, options: tuple[Option, ...]) -> Option | None:
    exact = [option for option in options if normal(option.say).strip() in normal(sentence)]
    if exact:
        return max(exact, key=lambda option: len(option.say))
    if len(options) > 1 and options[1].negated:
        return _yes_or_no(sentence, options)
    kept = normal(_ASIDE.sub("", sentence) or sentence)
    counts = {o: sum(mentions(kept, word) for word in own_words(o, options)) for o in options}
    best = max(counts.values(), default=0)
    leaders = [option for option, count in counts.items() if count == best]
    return leaders[0] if best and len(leaders) == 1 else None


def _yes_or_no(sentence: str, options: tuple[Option, ...]) -> Option | None:
    words = [word for word in normal(options[0].say).split() if len(word) > 3]  # noqa: PLR2004 - real words only
    if not any(mentions(normal(sentence), word) for word in words):
        return None
    return options[1] if _NO.search(sentence) else options[0]


def checks_met(checks: Iterable[Check], text: str) -> tuple[Check, ...]:
    """The checks a text deals with."""
    return tuple(check for check in checks if check.is_met_by(text))


def checks_missing(checks: Iterable[Check], text: str) -> tuple[Check, ...]:
    """The checks a text does not deal with."""
    return tuple(check for check in checks if not check.is_met_by(text))


def items_under(text: str, title: str) -> tuple[str, ...]:
    """The list items below a heading of a Markdown text."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item and inside:
            found.append(item["item"].strip())
        elif is_heading(line):
            inside = plain(line).strip(": ").lower() == title.lower()
    return tuple(found)


def piece_about(text: str, words: Iterable[str]) -> str:
    """The first sentence of a text that has most of these words; empty when none has any."""
    wanted = tuple(words)
    scored = [(sum(mentions(normal(s), w) for w in wanted), s) for s in sentences(text)]
    best = max((score for score, _ in scored), default=0)
    return next((s for score, s in scored if score == best), "") if best else ""
