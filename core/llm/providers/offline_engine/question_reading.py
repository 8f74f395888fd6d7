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
_LONGEST_CHOICE = 400
_MOST_OPTIONS = 6
_MOST_DEMANDS = 5
_MOST_TOPICS = 2
#: Longest piece of somebody's words in a post.
_QUOTED = 160
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_BETWEEN_OPTIONS = re.compile(r",? (?:or|vs|versus) (?:else )?|, ")
_CHOOSES = re.compile(r" or | vs|\?$")
_MOVES = re.compile(r"\b(?:from|move|migrate) ", re.IGNORECASE)
#: Words that may lead to an option and change nothing about it.
_LEADING = (
    "should shall could can would will do does did we i you they one it is are was better best to "
    "either whether use using choose choosing pick take adopt try prefer run between which what "
    "our the a an two move migrate switch from"
)
#: What begins the words that say what an option is for.
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
    own = sentences(question)
    everything = (*own, *sentences(context))
    demands = tuple(quote(sentence) for sentence in everything if _demands(sentence))
    choice = next((sentence for sentence in own if _CHOOSES.search(sentence)), "".join(own[:1]))
    options, purpose = _options(choice)
    things = tuple(things_by_name().get(singular(option), "") for option in options)
    rest = "\n".join([purpose, *(sentence for sentence in everything if sentence != choice)])
    topics, unknown = _shared_topics(things, purpose, normal(rest)), ""
    if not topics:
        strange = [quote(o) for o, thing in zip(options, things, strict=True) if not thing]
        unknown = "No checklist knows this matter."
        if strange and " or " in choice and len(options) > 1:
            unknown = f"No checklist holds anything about {' or '.join(strange)}."
        things, topics = (), _mentioned_topics(normal("\n".join(everything)))
    return QuestionReading(things, topics, demands[:_MOST_DEMANDS], unknown)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text's beginning; a line ends one."""
    read = text[:READ_AT_MOST].replace(" vs. ", " vs ")
    return tuple(piece.strip() for piece in _SENTENCE_END.split(read) if piece.strip())


def quote(text: str) -> str:
    """Somebody's words in quotation marks, cut visibly if they are long."""
    words = text.strip().strip("“”\"'")
    return f"“{words}”" if len(words) <= _QUOTED else f"“{words[: _QUOTED - 1].rstrip()}…”"


def _demands(sentence: str) -> bool:
    """Whether a sentence says what must be."""
    words = normal(sentence)
    return not sentence.endswith("?") and any(f" {demand} " in words for demand in _DEMANDS)


def _options(choice: str) -> tuple[Sequence[str], str]:
    """What a sentence chooses between, without the words around it; and what for."""
    if len(choice) > _LONGEST_CHOICE:
        return (), ""
    parts = choice.rstrip("?!. ").split(": ")
    text = next((part for part in parts if " or " in part or " vs" in part), parts[-1])
    pieces = [piece for piece in _BETWEEN_OPTIONS.split(f" {text} ") if piece.strip()]
    before, moves, after = f" {text} ".partition(" to ")
    if len(pieces) == 1 and moves and _MOVES.search(before):
        pieces = [before.rpartition(" from ")[2], after]
    elif len(pieces) == 1:
        return (_bare(text),), ""
    bare = [_without_purpose(piece) for piece in pieces]
    return [_bare(option) for option, _ in bare][:_MOST_OPTIONS], " ".join(
        purpose for _, purpose in bare if purpose
    )


def _without_purpose(piece: str) -> tuple[str, str]:
    """An option, and what comes after "for", "as" and the like."""
    padded = f" {piece.strip()} "
    end = min((at for word in _PURPOSE if (at := padded.find(word, 1)) > 0), default=len(padded))
    return padded[:end], padded[end:].strip()


def _bare(option: str) -> str:
    """An option without the words that lead to it; never nothing."""
    words, leading = option.split(), _LEADING.split()
    while len(words) > 1 and words[0].lower().strip(",") in leading:
        words = words[1:]
    return " ".join(words)


def _shared_topics(things: Sequence[str], purpose: str, rest: str) -> tuple[str, ...]:
    """Topics in which two or more different things compete, and that a purpose fits.

    Args:
        things: Keys; empty ones for what no checklist knows.
        purpose: What they are for, in the question's words.
        rest: The purpose and all other sentences, from `normal`.
    """
    if len(set(things)) < max(2, len(things)):
        return ()
    return tuple(
        key
        for key, topic in checklists().topics.items()
        if set(things) <= set(topic.things)
        and (not purpose or any(mentions(rest, word) for word in topic.words))
    )


def _mentioned_topics(text: str) -> tuple[str, ...]:
    """The topics that a text from `normal` has most words of."""
    counts = {
        key: sum(mentions(text, word) for word in topic.words)
        for key, topic in checklists().topics.items()
    }
    found = sorted(filter(counts.get, counts), key=lambda key: -counts[key])
    return tuple(found[:_MOST_TOPICS])
