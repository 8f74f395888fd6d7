"""Text as words that can be compared: case, marks and line breaks do not count (pure).

Numbers are words of their own, with sign and separators: 5 is found neither in 50 nor in −5.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from core.recent import Recent
from core.rules.sources import MOST_CHARACTERS

#: A source is asked about many quotes, one after the other: it is read once. Enough for all sources
#: of one debate at a time, in both ways of reading them: debates that check theirs at the same time
#: read them again. 128 of the longest would take 140 MB for ever, so many characters take 17 MB.
_TEXTS_KEPT, _CHARACTERS_KEPT = 128, 2 * MOST_CHARACTERS
_LETTER = r"[^\W\d_]"
#: Inside a word: apostrophes, and what nobody sees.
_INSIDE = "['’\u2018\u02bc\u00ad\u200b\u2060]"
_DIVIDED = r"[-\u2010][ \t]*\n[ \t]*"
_OTHERS = (
    r"(?<![\w)\]])[-+−](?=[$€£¥]?\d)"  # a sign, not a dash between two words
    r"|\d+(?:[.,:]\d+)*"
    "|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]"  # written without spaces
    r"|[$€£¥%‰°<>≤≥≠=]"
)
_WORD = re.compile(f"{_OTHERS}|{_LETTER}+(?:{_INSIDE}{_LETTER}+)*")
_WORD_REJOINED = re.compile(f"{_OTHERS}|{_LETTER}+(?:(?:{_INSIDE}|{_DIVIDED}){_LETTER}+)*")
#: A quoted line of Markdown, and arrows: their `<` and `>` compare nothing.
_NO_WORD = re.compile(r"^[ \t]*(?:>[ \t]?)+|[-=]>|<-", re.MULTILINE)
_DROPPED = str.maketrans(
    {"−": "-", "’": "'", "\u2018": "'", "\u02bc": "'", "\u00ad": "", "\u200b": "", "\u2060": ""}
)
_BREAK = re.compile(_DIVIDED)


@dataclass(frozen=True)
class Words:
    """The words of a text, joined by spaces, and where each begins."""

    #: With a space before the first word and after the last one.
    joined: str
    #: Position in `joined` of each word.
    starts: Sequence[int]
    #: Position in the text of each word.
    places: Sequence[int]

    def place_of(self, position: int) -> int:
        """Where in the text the word stands that holds this position of `joined`."""
        return self.places[max(0, bisect_right(self.starts, position) - 1)] if self.places else 0


_READ = Recent[tuple[str, bool], Words](_TEXTS_KEPT)
#: Turns read in several threads.
_READING = Lock()


def words_in(text: str, *, rejoined: bool = False) -> Words:
    """The words of a text (in Unicode's form NFC) and their places; remembered.

    Args:
        text: Any text.
        rejoined: Read words that were divided at the end of a line as one.
    """
    with _READING:
        if known := _READ.get((text, rejoined)):
            _READ.move_to_end((text, rejoined))
            return known
    # Numbers, not objects: a source of 400,000 characters takes one megabyte and not eight.
    kept, places, starts, position = list[str](), array("I"), array("I"), 1
    for word, place in _words(text, rejoined=rejoined):
        kept.append(word)
        places.append(place)
        starts.append(position)
        position += len(word) + 1
    read = Words(f" {' '.join(kept)} " if kept else " ", starts, places)
    with _READING:
        _READ[text, rejoined] = read
        while len(_READ) > 1 and sum(len(one) for one, _ in _READ) > _CHARACTERS_KEPT:
            _READ.popitem(last=False)
    return read


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    return [word for word, _ in _words(unicodedata.normalize("NFC", text), rejoined=False)]


def _words(text: str, *, rejoined: bool) -> Iterator[tuple[str, int]]:
    """Each word as it is compared, and its place."""
    # Blanked, not taken out, so that places stay what they are.
    plain = _NO_WORD.sub(lambda found: " " * len(found[0]), text)
    for found in (_WORD_REJOINED if rejoined else _WORD).finditer(plain):
        written = _BREAK.sub("", found[0]) if rejoined else found[0]
        # Compatible forms (one sign for fi, raised digits) and case are one.
        word = unicodedata.normalize("NFKC", written.translate(_DROPPED)).casefold()
        yield word, found.start()
