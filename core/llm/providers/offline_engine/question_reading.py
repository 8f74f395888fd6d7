"""Reads a question: what it chooses between, whether the checklists know that, what it demands.

Plain English only: "A or B", "A vs B", "from X to Y", "should we X". All of it is linear in the
length of the text, and of long texts only the beginning is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklists import (
    checklists,
    mentions,
    normal,
    singular,
    things_by_name,
)

#: Characters of one text that are read.
READ_AT_MOST = 12_000
#: A longer sentence is not searched for options.
_LONGEST_ASKED = 400
_MOST_OPTIONS = 6
_MOST_DEMANDS = 5
_MOST_TOPICS = 2
#: Longest piece of somebody's words in a post.
_QUOTED = 160
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_BETWEEN_OPTIONS = re.compile(r",? (?:or|vs|versus) (?:else )?|, ")
#: Words that may lead to an option and change nothing about it.
_LEADING = (
    "should shall could can would will do does did we i you they one it is are was better best to "
    "either whether use using choose choosing pick take adopt try prefer run between which what "
    "our the a an two move migrate switch from"
)
_PURPOSE = (" for ", " as ", " in ", " on ", " to ", " when ", " with ", " if ")
_DEMANDS = ("must", "shall", "need to", "needs to", "at most", "at least", "no more than", "never")


@dataclass(frozen=True)
class QuestionReading:
    """What the engine makes of a question."""

    #: Keys of the things it chooses between; empty unless the checklists know all of them.
    things: tuple[str, ...]
    #: Keys of the topics it is about.
    topics: tuple[str, ...]
    #: Sentences that demand something, in the people's own words.
    demands: tuple[str, ...]
    #: Why the checklists do not know the matter, as a sentence; empty where they do.
    unknown: str


def read_question(question: str, context: str = "") -> QuestionReading:
    """Read a question and what was said with it."""
    said = sentences(question)
    everything = (*said, *sentences(context))
    demanding = list[str]()
    for one in everything:
        words = normal(one)
        if not one.endswith("?") and any(f" {word} " in words for word in _DEMANDS):
            demanding.append(quote(one))
    demands = tuple(demanding[:_MOST_DEMANDS])
    asked = next((one for one in said if " or " in one or " vs" in one), "")
    asked = asked or next((one for one in said if one.endswith("?")), said[0] if said else "")
    options, purpose = _options(asked)
    things = tuple(things_by_name().get(singular(option), "") for option in options)
    about = normal("\n".join([purpose, *(one for one in everything if one != asked)]))
    shared = _shared_topics(things)
    if shared and purpose:
        shared = tuple(
            key
            for key in shared
            if any(mentions(about, word) for word in checklists().topics[key].words)
        )
    if shared:
        return QuestionReading(things, shared, demands, unknown="")
    whole = normal("\n".join(everything))
    counts = {
        key: sum(mentions(whole, word) for word in topic.words)
        for key, topic in checklists().topics.items()
    }
    topics = sorted((key for key in counts if counts[key]), key=lambda key: -counts[key])
    strange = [quote(o) for o, thing in zip(options, things, strict=True) if not thing]
    if len(options) > 1 and " or " in asked and strange:
        unknown = f"No checklist holds anything about {' or '.join(strange)}."
    elif _shared_topics(things) and purpose:
        unknown = f"The checklists know these options, but nothing about {quote(purpose)}."
    else:
        unknown = "No checklist knows this matter."
    return QuestionReading((), tuple(topics[:_MOST_TOPICS]), demands, unknown)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text's beginning; a line ends one."""
    read = text[:READ_AT_MOST].replace(" vs. ", " vs ")
    return tuple(one for piece in _SENTENCE_END.split(read) if (one := piece.strip()))


def quote(text: str) -> str:
    """Somebody's words in quotation marks, cut visibly if they are long."""
    words = text.strip().strip("“”\"'")
    return f"“{words}”" if len(words) <= _QUOTED else f"“{words[: _QUOTED - 1].rstrip()}…”"


def _options(asked: str) -> tuple[Sequence[str], str]:
    """What a sentence chooses between, without the words around it; and what for."""
    if len(asked) > _LONGEST_ASKED:
        return (), ""
    parts = asked.rstrip("?!. ").split(": ")
    text = next((part for part in parts if " or " in part or " vs" in part), parts[-1])
    pieces = [piece for piece in _BETWEEN_OPTIONS.split(f" {text} ") if piece.strip()]
    if len(pieces) > 1:
        bare = [_without_purpose(piece) for piece in pieces]
        purposes = [purpose for _, purpose in bare if purpose]
        return [_bare(option) for option, _ in bare][:_MOST_OPTIONS], " ".join(purposes)
    before, moves, after = f" {text} ".partition(" to ")
    start = before.lower()
    if moves and (" from " in start or " move " in start or " migrate " in start):
        old = before.rpartition(" from ")[2] if " from " in start else _bare(before)
        new, purpose = _without_purpose(f" {after.strip()} ")
        return (_bare(old), _bare(new)), purpose
    return (_bare(text),), ""


def _without_purpose(piece: str) -> tuple[str, str]:
    """An option, and what comes after "for", "as" and the like."""
    padded = f" {piece.strip()} "
    ends = [at for word in _PURPOSE if (at := padded.find(word, 1)) > 0]
    end = min(ends, default=len(padded))
    return padded[:end], padded[end:].strip()


def _bare(option: str) -> str:
    """An option without the words that lead to it; never nothing."""
    words, leading = option.split(), _LEADING.split()
    start = 0
    while start < len(words) - 1 and words[start].lower().strip(",") in leading:
        start += 1
    return " ".join(words[start:])


def _shared_topics(things: Sequence[str]) -> tuple[str, ...]:
    """Topics in which all of these things compete; none for fewer than two different things."""
    if len(set(things)) < 2 or len(set(things)) < len(things):  # noqa: PLR2004 - a choice is of two
        return ()
    return tuple(
        key for key, topic in checklists().topics.items() if set(things) <= set(topic.things)
    )
