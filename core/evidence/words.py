"""Splits text into words for comparison, without case, typography and line breaks (pure).

A number is one word with its sign, comparison, currency and unit: 5 matches none of 50, −5, ~5,
> 5, 5 % and $5. Other signs that change a meaning belong to their word (!enabled, AA+, C#) or are
words (≠, ∉, →).
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from core.rules.sources import MOST_CHARACTERS
from core.values import Recent

#: A source is asked about many quotes, one after the other: it is read once. Enough for all sources
#: of one debate at a time, in both ways of reading them: debates that check theirs at the same time
#: read them again. 128 of the longest would take 140 MB for ever, so many characters take 17 MB.
_TEXTS_KEPT, _CHARACTERS_KEPT = 128, 2 * MOST_CHARACTERS
#: Superscript and subscript digits and fractions count as numbers: m² is m 2, ½ is 1/2.
_RAISED, _FRACTION = (
    "\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089",
    "\u00bc-\u00be\u2150-\u215e",
)
_LETTER = rf"[^\W\d_{_RAISED}{_FRACTION}]"
#: A letter that replaces U+FFFD, the sign for a letter that a file reader lost.
LOST_LETTER = "\ua78f"
#: Apostrophes and invisible characters within a word.
_INSIDE = "['’\u2018\u02bc\u00ad\u200b\u2060]"
_DIVIDED = r"[-\u2010][ \t]*\n[ \t]*"
_SPACE = "[ \u00a0\u2009\u202f]?"
_MONEY = "[$€£¥]"
_UNITS = (
    r"(?:[n\u00b5\u03bcm]?s|sec|min|h|[kmgt]i?b|k|m|bn|mio|mrd|million|billion|[mk]?g|[kcm]?m"
    r"|[kmg]?hz|[km]?wh?)"
)
_NUMBER = (
    # A sign is no dash between two words; a comparison is no end of a tag.
    r"(?P<sign>(?<![\w)\]])[-+−]"
    rf"|(?:!=|[≠≤≥±≈]|(?<![~\w])~(?!~)|(?<![\w\"'/>=-])[<>]=?){_SPACE})?"
    rf"(?P<money>{_MONEY})?"
    r"(?P<number>\d+(?:[.,:]\d+)*)"
    rf"(?P<unit>{_SPACE}(?:[%‰°]|{_MONEY}(?!\d)|{_UNITS}(?![^\W_])))?"
)
_OTHERS = (
    rf"(?P<raised>[{_RAISED}]+|[{_FRACTION}])"
    r"|(?<=\d) ?/ ?(?=\d)"
    "|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]"  # written without spaces
    r"|(?P<arrow><[-=]{1,16}>|[-=]{1,16}>|<-{1,16}|[→⇒⟶➔➜←⇐↔⇔↑↓])"
    # In a formula: `a + b` is not `a - b`. A dash between two words is punctuation.
    r"|(?<=[\w)\]])(?: [+*] |\+)(?=[\w(\[])"
    r"|!=|[<>]=?|[$€£¥%‰°≤≥≠=±≈∈∉∋∌⊂⊄¬]"
)
_SUFFIX = r"(?:\+\+|\+(?![\w+])|#(?![\w#]))?"
_BEGIN = r"(?:(?<![\w!])!)?"


def _words_pattern(inside: str) -> re.Pattern[str]:
    letters = rf"{_BEGIN}{_LETTER}+(?:{inside}{_LETTER}+)*{_SUFFIX}"
    # ASCII letters first, for speed: no other alternative begins with one.
    return re.compile(f"(?=[!a-z]){letters}|{_NUMBER}|{_OTHERS}|{letters}", re.IGNORECASE)


_WORD, _WORD_REJOINED = _words_pattern(_INSIDE), _words_pattern(f"(?:{_INSIDE}|{_DIVIDED})")
#: The `>` of a quoted line in Markdown, which is no comparison.
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
#: Struck-out words in Markdown, within a paragraph.
_STRUCK = re.compile(r"~~(?=\S)(?:[^\n~]|~(?!~)|\n(?![ \t]{0,99}\n))+(?<=\S)~~")
#: Prefix of a struck-out word.
_STRIKE = "\u0336"
_DROPPED = str.maketrans(
    dict.fromkeys("'’\u2018\u02bc\u00ad\u200b\u2060 \u00a0\u2009\u202f", "") | {"−": "-"}
)
_BREAK = re.compile(_DIVIDED)
_SAME_SIGNS = {"!=": "≠", "<=": "≤", ">=": "≥"}
_ARROWS = {
    **dict.fromkeys("<⇐", "←"),
    **dict.fromkeys(">⇒⟶➔➜", "→"),
    **dict.fromkeys(("<>", "⇔"), "↔"),
}


@dataclass(frozen=True)
class Words:
    """The words of a text, joined by spaces, with their positions."""

    #: All words, with a space before the first and after the last.
    joined: str
    #: Position in `joined` of each word.
    starts: Sequence[int]
    #: Position in the text of each word.
    places: Sequence[int]

    def place_of(self, position: int) -> int:
        """The position in the text of the word at this position of `joined`."""
        return self.places[max(0, bisect_right(self.starts, position) - 1)] if self.places else 0


_READ = Recent[tuple[str, bool], Words](_TEXTS_KEPT)
#: Several threads use the cache.
_READING = Lock()


def words_in(text: str, *, rejoined: bool = False) -> Words:
    """The words of a text (in Unicode's form NFC) and their places; cached.

    With `rejoined`, a word with a hyphen at the end of a line is one word.
    """
    # Without such a hyphen both results are equal.
    rejoined = rejoined and bool(_BREAK.search(text))
    with _READING:
        if words := _READ.get((text, rejoined)):
            _READ.move_to_end((text, rejoined))
            return words
    # Arrays of numbers: a source of 400,000 characters takes 1 MB instead of 8 MB.
    forms, places, starts, position = list[str](), array("I"), array("I"), 1
    for word, place in _words(text, rejoined=rejoined):
        forms.append(word)
        places.append(place)
        starts.append(position)
        position += len(word) + 1
    result = Words(f" {' '.join(forms)} " if forms else " ", starts, places)
    with _READING:
        _READ[text, rejoined] = result
        while len(_READ) > 1 and sum(len(key_text) for key_text, _ in _READ) > _CHARACTERS_KEPT:
            _READ.popitem(last=False)
    return result


def words_of(text: str) -> list[str]:
    return [word for word, _ in _words(unicodedata.normalize("NFC", text), rejoined=False)]


def _words(text: str, *, rejoined: bool) -> Iterator[tuple[str, int]]:
    # Replaced by spaces, so that positions do not change.
    plain = _QUOTED_LINE.sub(lambda match: " " * len(match[0]), text)
    plain = plain.replace("\ufffd", LOST_LETTER)
    struck_spans = [(match.start(), match.end()) for match in _STRUCK.finditer(plain)]
    index = 0
    for match in (_WORD_REJOINED if rejoined else _WORD).finditer(plain):
        place, raw = match.start(), match[0]
        if not struck_spans and raw.isascii() and raw.isalpha():  # most words
            yield raw.casefold(), place
            continue
        while index < len(struck_spans) and struck_spans[index][1] <= place:
            index += 1
        strike = _STRIKE if index < len(struck_spans) and struck_spans[index][0] <= place else ""
        for word in _comparison_forms(match, rejoined=rejoined):
            yield f"{strike}{word}", place


def _comparison_forms(match: re.Match[str], *, rejoined: bool) -> Sequence[str]:
    """The forms of a word for comparison: compatibility forms, without case and spaces."""
    raw = match[0]
    if match["number"]:
        around = match.group("sign", "money", "unit")
        sign, money, unit = ((part or "").translate(_DROPPED) for part in around)
        sign = _SAME_SIGNS.get(sign, sign)
        return (unicodedata.normalize("NFKC", f"{sign}{match['number']}{money}{unit}").casefold(),)
    if match["arrow"]:
        sign = raw.replace("-", "").replace("=", "")
        return (_ARROWS.get(sign, sign),)
    if match["raised"]:
        parts = re.findall(r"\d+|\u2044", unicodedata.normalize("NFKC", raw))
        return [part.replace("\u2044", "/") for part in parts]
    if rejoined:
        raw = _BREAK.sub("", raw)
    word = raw.translate(_DROPPED)
    return (unicodedata.normalize("NFKC", _SAME_SIGNS.get(word, word)).casefold(),)
