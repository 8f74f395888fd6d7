"""Splits a source into passages at headings and paragraphs; labels places in it (pure)."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from core.debate.evidence import Mark, Source
from core.evidence.words import words_of

#: Most characters of a passage; paragraphs are joined up to this length.
PASSAGE_CHARACTERS = 1200
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<words>\S.*)")
_LAST_NUMBER = re.compile(r"(?<!\d)\d+\Z")
#: Words before numbers that can form a range: "lines 4–6".
_COUNTED = frozenset({"line", "row", "page", "slide"})
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Passage:
    #: Id of the source.
    source: str
    #: From 1, within the source.
    number: int
    #: The heading above it; empty if none.
    heading: str
    #: The label of its beginning: "page 3", "line 12".
    place: str
    text: str


def passages_of(source: Source) -> Sequence[Passage]:
    """The passages of a source, in order. No passage crosses a heading or a mark."""
    passages, new_counts = list[Passage](), _new_line_counts(source)
    for heading, line, text in _pieces(source):
        place = _place(source, line, new_counts).label
        passages.append(Passage(source.id, len(passages) + 1, heading, place, text))
    return tuple(passages)


def headings_of(source: Source) -> Sequence[str]:
    """The headings of a source, each once; the labels of its marks if it has no heading."""
    headings = [
        words["words"].strip()
        for line in source.text.splitlines()
        if (words := _HEADING.match(line))
    ]
    return tuple(dict.fromkeys(headings or [mark.label for mark in source.marks if mark.label]))


def place_of(source: Source, first: int, last: int) -> Mark:
    """A label for the lines of a source from first to last, with the link to the first."""
    new_counts = _new_line_counts(source)
    begin, end = _place(source, first, new_counts), _place(source, last, new_counts)
    if begin.label == end.label:
        return begin
    prefix, number = _LAST_NUMBER.sub("", begin.label), _LAST_NUMBER.search(end.label)
    label = f"{begin.label} – {end.label}"
    word = prefix.rpartition(", ")[2].rstrip(" ")
    # "page 3, line 4" and its line 6 are "page 3, lines 4–6", but "app.py:4" has no such word, and
    # a sheet named "Costs 2023" is not counted.
    if (
        number
        and f"{prefix}{number[0]}" == end.label
        and (word in _COUNTED or prefix.endswith(":"))
    ):
        plural = f"{prefix[:-1]}s " if word in _COUNTED else prefix
        label = f"{plural}{begin.label.removeprefix(prefix)}–{number[0]}"
    return begin.model_copy(update={"label": label})


def _new_line_counts(source: Source) -> Sequence[int]:
    """For n = 0, 1, …: how many of a diff's first n lines are in the new file; else empty.

    Of a deleted file, how many are in the old one.
    """
    if not any(mark.hunk_at for mark in source.marks):
        return ()
    counts, left_out = [0], ("-", "\\")
    for line in source.text.split("\n"):
        if line.startswith("@@ "):
            left_out = ("\\",) if " +0,0 @@" in line else ("-", "\\")
        counts.append(counts[-1] + (not line.startswith(left_out)))
    return counts


def _place(source: Source, line: int, new_counts: Sequence[int]) -> Mark:
    index = bisect_right(source.marks, line, key=lambda mark: mark.line)
    if not index:
        return Mark(line=line, label=f"line {line}", address=source.reference.address)
    mark = source.marks[index - 1]
    if mark.hunk_at:
        # After the @@ line of a hunk there are lines of the new file and removed lines.
        number = mark.hunk_at + (
            new_counts[line - 1] - new_counts[mark.line] if line > mark.line else 0
        )
        return Mark(line=line, label=f"{mark.label}:{number}", address=source.reference.address)
    position = f"{mark.counts} {line - mark.line + 1}" if mark.counts else ""
    label = ", ".join(filter(None, (mark.label, position)))
    return Mark(line=line, label=label, address=mark.address or source.reference.address)


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _pieces(source: Source) -> Iterator[tuple[str, int, str]]:
    for heading, paragraphs in _sections(source):
        block, begin = "", 1
        for number, lines in paragraphs:
            text = "\n".join(lines)
            if block and len(block) + len(text) > PASSAGE_CHARACTERS:
                yield heading, begin, block
                block = ""
            begin = begin if block else number
            block = f"{block}\n\n{text}" if block else text
            while len(block) > PASSAGE_CHARACTERS:
                head = _head(block)
                yield heading, begin, head.rstrip()
                begin += head.count("\n")
                block = block[len(head) :]
        if block.strip():
            yield heading, begin, block


def _sections(source: Source) -> Iterator[tuple[str, list[tuple[int, list[str]]]]]:
    """The paragraphs of each heading: number of the first line, and lines."""
    borders = {mark.line for mark in source.marks}
    heading, paragraphs, is_open = "", list[tuple[int, list[str]]](), False
    for number, line in enumerate(source.text.split("\n"), start=1):
        headed = _HEADING.match(line)
        if headed or number in borders:
            yield heading, paragraphs
            paragraphs, is_open = [], False
        if headed:
            heading = headed["words"].strip()
        elif line.strip() and is_open:
            paragraphs[-1][1].append(line)
        else:
            is_open = bool(line.strip())
            paragraphs += [(number, [line])] if is_open else []
    yield heading, paragraphs


def _head(text: str) -> str:
    """The beginning of a long text: as many complete lines, sentences or words as fit a passage."""
    window = text[:PASSAGE_CHARACTERS]
    ends = [window.rfind("\n") + 1]
    ends.append(max((match.end() for match in _SENTENCE_END.finditer(window)), default=0))
    ends.append(window.rfind(" ") + 1)
    half = PASSAGE_CHARACTERS // 2
    return text[: next((end for end in ends if end >= half), PASSAGE_CHARACTERS)]


#: The usual parameters k1 and b of BM25.
_SATURATION = 1.5
_LENGTH = 0.75
#: Words whose stems are cached.
_REMEMBERED = 1 << 16
#: Longest word, in characters, that is stemmed.
_LONGEST_WORD = 60
#: Stemmers are not thread-safe.
_STEMMING = Lock()


def best_first(passages: Sequence[Passage], question: str) -> Sequence[Passage]:
    """The passages that share a word with the question, the best match first."""
    order = best_of([f"{passage.heading} {passage.text}" for passage in passages], question)
    return [passages[index] for index in order]


def best_of(texts: Sequence[str], question: str) -> Sequence[int]:
    """Indexes of the texts that share a word with the question, the best match first."""
    counters = [Counter(terms(text)) for text in texts]
    lengths = [sum(text.values()) for text in counters]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    document_counts = Counter(term for text in counters for term in text)
    query = set(terms(question))

    def score(index: int) -> float:
        text, total = counters[index], 0.0
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[index] / (mean or 1))
        for term in query & text.keys():
            rarity = math.log(
                1 + (len(counters) - document_counts[term] + 0.5) / (document_counts[term] + 0.5)
            )
            total += rarity * text[term] * (_SATURATION + 1) / (text[term] + norm)
        return total

    scores = {index: score(index) for index in range(len(counters))}
    return sorted(
        (index for index in scores if scores[index] > 0), key=lambda index: (-scores[index], index)
    )


def terms(text: str) -> Sequence[str]:
    """The stems of the words of a text, for searching."""
    return [stem for word in words_of(text) for stem in stems(word)]


@lru_cache(maxsize=_REMEMBERED)
def stems(word: str) -> Sequence[str]:
    """The English stem of a word, and the German one if it differs."""
    if len(word) > _LONGEST_WORD:  # the time of a stemmer is not linear
        return (word,)
    with _STEMMING:
        return tuple(dict.fromkeys(stem(word) for stem in _stemmers()))


@cache
def _stemmers() -> Sequence[Callable[[str], str]]:
    # Imported late, because it loads all languages. It has no types.
    new: Callable[[str], Any] = import_module("snowballstemmer").stemmer
    return [new(language).stemWord for language in ("english", "german")]
