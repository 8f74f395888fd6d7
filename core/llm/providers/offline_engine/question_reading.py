"""Reads a question: what it chooses between, and whether the checklists know that.

Plain English only: "A or B", "A vs B", "from X to Y", "should we X"; in linear time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile

from core.llm.providers.offline_engine.checklists import (
    checklists,
    mentions,
    normal,
    singular,
    things_by_name,
)

#: Characters of one text that are read, and of a sentence that is searched for options.
READ_AT_MOST, _LONGEST_CHOICE = 12_000, 400
_MOST_TOPICS = 2
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_CHOOSES = re.compile(r" or | vs|\?$")
_BETWEEN_OPTIONS = re.compile(r",? (?:or|vs|versus) (?:else )?|, ")
#: From the first of the words: where nothing follows it, nothing follows a later one.
_MOVES = re.compile(
    r"\A(?:(?!\b(?:from|move|migrate) ).)*\b(?:from|move|migrate) (.*) to (.*)", re.IGNORECASE
)
#: Words that may lead to an option and change nothing about it.
_LEADING = (
    "should shall could can would will do does did we i you they one it is are was better best to "
    "either whether use using choose choosing pick take adopt try prefer run between which what "
    "our the a an two move migrate switch from"
)
#: What begins the words that say what an option is for.
_PURPOSE = re.compile(r" (?:for|as|in|on|to|when|with|if) ")


@dataclass(frozen=True)
class QuestionReading:
    #: Keys of the things it chooses between; empty unless the checklists know all of them.
    things: Sequence[str]
    #: Keys of the topics it is about.
    topics: Sequence[str]


def read_question(question: str, context: str = "") -> QuestionReading:
    question, context = question[:READ_AT_MOST].replace(" vs. ", " vs "), context[:READ_AT_MOST]
    sentences = [s.strip() for s in _SENTENCE_END.split(question) if s.strip()]
    choice = next((s for s in sentences if _CHOOSES.search(s)), "".join(sentences[:1]))
    options, has_purpose = _options(choice if len(choice) <= _LONGEST_CHOICE else "")
    things = [things_by_name().get(singular(option), "") for option in options]
    text, topics = normal(f"{question}\n{context}"), checklists().topics
    counts = {key: sum(mentions(text, word) for word in topics[key].words) for key in topics}
    shared = [
        key
        for key, topic in topics.items()
        if {*things} <= {*topic.things} and (counts[key] or not has_purpose)
    ]
    if len({*things}) == len(things) > 1 and shared:
        return QuestionReading(things, shared)
    named = sorted(filter(counts.get, counts), key=lambda key: -counts[key])
    return QuestionReading((), named[:_MOST_TOPICS])


def _options(choice: str) -> tuple[Sequence[str], bool]:
    """What a sentence chooses between; whether it says what for."""
    parts = choice.rstrip("?!. ").split(": ")
    text = next((part for part in parts if " or " in part or " vs" in part), parts[-1])
    pieces = [piece for piece in _BETWEEN_OPTIONS.split(f" {text} ") if piece.strip()]
    if len(pieces) == 1 and (move := _MOVES.search(text)):
        pieces = [*move.groups()]
    bare = [_PURPOSE.split(f" {piece.strip()} ", maxsplit=1) for piece in pieces]
    return [_bare(option[0]) for option in bare], any(len(option) > 1 for option in bare)


def _bare(option: str) -> str:
    """An option without the words that lead to it."""
    words, leading = option.split(), _LEADING.split()
    return " ".join(dropwhile(lambda word: word.lower().strip(",") in leading, words))
