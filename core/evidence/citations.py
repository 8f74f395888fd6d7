"""Citations `[e3: "words"]`: found in a text, and checked against the sources (pure).

Words are compared as words: case, line breaks and typography do not count, numbers, signs and every
word that carries meaning do. A near match is one whose differences change nothing: an article left
out, one letter of a long word. Everything else is no quote. The time it takes grows with the length
of the sources, and with nothing else.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from rapidfuzz.distance import Levenshtein

from core.debate.evidence import Citation, CitationStatus, Source
from core.evidence.passages import line_of, place_of
from core.evidence.words import LOST_LETTER, Words, words_in, words_of

_DOUBLE, _SINGLE = '"“”„«»‟', "'\u2018’"


def _citation(ids: str) -> re.Pattern[str]:
    """Citations of sources whose ids begin so."""
    # A quote holds no empty line and no other citation: else each one would be read to the end.
    words = rf"(?:(?!\n\n|\[\s{{0,5}}(?:{ids})\d)[\s\S]){{0,1200}}?"
    return re.compile(
        rf"\[\s{{0,5}}(?P<source>(?:{ids})\d{{1,4}})\s{{0,5}}"
        r"(?:,[^:\[\]\n]{1,40})?"  # some add the page
        rf"(?::\s{{0,5}}(?:[{_DOUBLE}](?P<double>{words})[{_DOUBLE}]"
        rf"|[{_SINGLE}](?P<single>{words})[{_SINGLE}]"
        rf"|(?P<bare>[^\[\]{_DOUBLE}{_SINGLE}\n][^\[\]{_DOUBLE}\n]{{0,1200}}?)))?\s{{0,5}}\]"
        # Struck out before, and written again; so is what stands before it.
        rf"(?:~~| \(not found in (?:{ids})\d{{1,4}}\))*",
        re.IGNORECASE,
    )


_OF_SOURCES = _citation("[ed]")
#: Entries of a debate's record are cited, too. In small letters, as prompts name them: R1 is what
#: people and models call a risk or a requirement.
_OF_RECORD = _citation("[ed]|(?-i:r)")
_RECORD = "r"
#: Where the end of a line divides a word, or stands between two.
_DIVIDED = re.compile(r"[-\u2010][ \t]{0,9}\n\s{0,9}")
_STRIKE = "~~"
#: Where a quote leaves words out.
_GAP = re.compile(
    rf"\s{{0,9}}\[?(?:\.\.\.|…)\]?\s{{0,9}}"
    rf"|[{_DOUBLE}{_SINGLE}]\s{{0,9}}[,;]\s{{0,9}}[{_DOUBLE}{_SINGLE}]"
)
#: A quote with fewer letters and digits says nothing.
_SHORTEST = 3
#: Places where a quote leaves words out.
_MOST_GAPS = 8
#: One word in so many may differ harmlessly.
_WORDS_PER_SLIP = 6
#: Places at which a near match is looked for, and at which each of its parts is.
_MOST_WINDOWS, _MOST_PLACES = 16, 50
#: A misspelt word has at least so many letters, and begins like the right one.
_LONG_WORD = 6
_SAME_BEGINNING = 4
#: Such words are numbers: seventh is not seventy.
_NUMBER_WORD = re.compile(r"(?:sixt|sevent|eight|ninet|nint|fort|fift|thirt|twent)")
#: What a reader of files takes for one letter, and can lose.
_LIGATURE = re.compile(rf"ffi|ffl|ff|fi|fl|ft|tt|{LOST_LETTER}")
#: Words whose lack changes nothing. Neither "not" nor "all" nor "may" is one.
_HARMLESS = frozenset(
    [
        *("a", "an", "the", "of", "that", "and", "der", "die", "das", "den", "dem", "des"),
        *("ein", "eine", "einen", "einem", "einer", "und"),
    ]
)


@dataclass(frozen=True)
class RawCitation:
    #: Where it begins and ends in the text, marks of an earlier check included.
    start: int
    end: int
    #: Id of the source, in small letters.
    source: str
    words: str


def citations_in(text: str, *, of_record: bool = False) -> Sequence[RawCitation]:
    """All citations in a text, in its order; with `of_record`, also of a record (r1)."""
    if "[" not in text:  # each begins so, which the pattern takes longer to see
        return ()
    mentions = list[RawCitation]()
    for match in (_OF_RECORD if of_record else _OF_SOURCES).finditer(text):
        start, free = match.start(), mentions[-1].end if mentions else 0
        while start - len(_STRIKE) >= free and text.endswith(_STRIKE, free, start):
            start -= len(_STRIKE)
        words = (match["double"] or match["single"] or match["bare"] or "").strip()
        mentions.append(RawCitation(start, match.end(), match["source"].lower(), words))
    return mentions


def check(source_id: str, words: str, sources: Sequence[Source]) -> Citation:
    source = next((source for source in sources if source.id == source_id), None)
    fault, lines = "", None
    if source is None:
        fault = f"there is no source {source_id}"
    elif not words:
        fault = "no words are quoted"
    elif len("".join(words_of(words))) < _SHORTEST:
        fault = "too few words to check"
    elif (lines := lines_of(words, source.text)) is None:
        others = (other for other in sources if other is not source)
        right = next((other.id for other in others if lines_of(words, other.text)), "")
        fault = f"{source_id} does not say so" + (f"; {right} does" if right else "")
    if source is None or lines is None:
        return Citation(
            source=source_id, words=words, status=CitationStatus.UNVERIFIED, fault=fault
        )
    place = place_of(source, *lines)
    return Citation(
        source=source_id,
        words=words,
        status=CitationStatus.VERIFIED,
        place=place.label,
        address=place.address,
    )


def lines_of(words: str, text: str) -> tuple[int, int] | None:
    """The first and the last line of a text, from 1, in which the words stand; None: nowhere."""
    at = _place(words, text)
    return (line_of(text, at[0]), line_of(text, at[1])) if at else None


def check_citations(text: str, sources: Sequence[Source]) -> tuple[str, tuple[Citation, ...]]:
    """The text with every citation that is not verified struck out, and all citations.

    Checking a text that was checked before changes nothing. Entries of a record can be cited only
    where there are some among the sources.
    """
    of_record = any(source.id.startswith(_RECORD) for source in sources)
    citations = list[Citation]()

    def as_checked(mention: RawCitation) -> str:
        # The checked words are shown: on one line, with divided words rejoined.
        forms = (_DIVIDED.sub("", mention.words), mention.words)
        lines = dict.fromkeys(" ".join(form.replace('"', "'").split()) for form in forms)
        checks = [check(mention.source, line, sources) for line in lines]
        verified = (tried for tried in checks if tried.status is CitationStatus.VERIFIED)
        citation = next(verified, checks[-1])
        citations.append(citation)
        quote = (
            f'[{mention.source}: "{citation.words}"]' if citation.words else f"[{mention.source}]"
        )
        if citation.status is CitationStatus.VERIFIED:
            return quote
        return f"~~{quote}~~ (not found in {mention.source})"

    return _replaced(text, as_checked, of_record=of_record), tuple(citations)


def render_citations(
    text: str, show: Callable[[RawCitation, bool], str], *, of_record: bool = False
) -> str:
    """A text that `check_citations` returned, with each citation as `show` writes it.

    `show` is given a citation, and whether it is verified.
    """
    return _replaced(
        text,
        lambda mention: show(mention, not text.startswith(_STRIKE, mention.start)),
        of_record=of_record,
    )


def _replaced(text: str, show: Callable[[RawCitation], str], *, of_record: bool) -> str:
    parts, at = list[str](), 0
    for mention in citations_in(text, of_record=of_record):
        parts += (text[at : mention.start], show(mention))
        at = mention.end
    return "".join((*parts, text[at:]))


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where in the text the quote's first and last words begin; None if it is not there.

    A quote with gaps is there if its pieces are, in their order.
    """
    pieces = [piece for piece in _GAP.split(unicodedata.normalize("NFC", quote)) if words_of(piece)]
    if len(pieces) > _MOST_GAPS + 1:
        return None
    spans = list[tuple[int, int]]()
    for piece in pieces:
        span = _piece_at(piece, text, spans[-1][1] + 1 if spans else 0)
        if span is None:
            return None
        spans.append(span)
    return (spans[0][0], spans[-1][1]) if spans else None


def _piece_at(piece: str, text: str, after: int) -> tuple[int, int] | None:
    """Where a piece's first and last words begin, from that position of the text on."""
    exact = _exact_at(piece.strip(), text, after)
    if exact:
        return exact
    for rejoined in (False, True):
        piece_words, source = words_in(piece, rejoined=rejoined), words_in(text, rejoined=rejoined)
        first = bisect_left(source.places, after)
        if first == len(source.places):
            return None
        position = source.joined.find(piece_words.joined, source.starts[first] - 1)
        if position >= 0:
            return (
                source.place_of(position + 1),
                source.place_of(position + len(piece_words.joined) - 2),
            )
    piece_words, source = words_in(piece).joined.split(), words_in(text)
    first = bisect_left(source.places, after)
    near = _near(piece_words, source, first)
    if near is None and LOST_LETTER in source.joined:
        near = _with_lost_letters(piece_words, source, first)
    return (source.places[near[0]], source.places[near[1]]) if near else None


def _exact_at(piece: str, text: str, after: int) -> tuple[int, int] | None:
    """Where the first and last words of a piece begin that the text has sign by sign."""
    position = text.find(piece, after)
    if position < 0:
        return None
    piece_words, source = words_in(piece), words_in(text)
    while position >= 0:
        number = bisect_left(source.places, position + piece_words.places[0])
        # "5" is in "−5" sign by sign and is another number: the words have to be the same.
        if number < len(source.places) and source.joined.startswith(
            piece_words.joined, source.starts[number] - 1
        ):
            return source.places[number], source.places[number + len(piece_words.places) - 1]
        position = text.find(piece, position + 1)
    return None


def _near(quote: Sequence[str], source: Words, first: int) -> tuple[int, int] | None:
    """The first and last word of a near match, by number, if all its differences are harmless.

    A quote cut into one part more than it may have slips has a part without any: only windows
    around exact matches of a part are compared.
    """
    slips = len(quote) // _WORDS_PER_SLIP
    if not slips:
        return None
    borders = [len(quote) * part // (slips + 1) for part in range(slips + 2)]
    votes = Counter[int]()
    for begin, end in pairwise(borders):
        needle, position = f" {' '.join(quote[begin:end])} ", source.starts[first] - 2
        for _ in range(_MOST_PLACES):
            position = source.joined.find(needle, position + 1)
            if position < 0:
                break
            place = bisect_right(source.starts, position + 1) - 1
            votes[max(first, place - begin)] += 1
    best: tuple[int, int] | None = None
    for start, _ in votes.most_common(_MOST_WINDOWS):
        window = (max(first, start - slips), min(len(source.starts), start + len(quote) + slips))
        match = _slips(quote, source, *window)
        if match and match[0] <= slips:
            slips, best = match[0] - 1, match[1:]
    return best


def _slips(
    quote: Sequence[str], source: Words, begin: int, end: int
) -> tuple[int, int, int] | None:
    """In how many words a quote differs from a window of the source, and where it stands in it.

    Returns:
        The number, the first and the last word; None if it differs in one that matters.
    """
    stop = source.starts[end] if end < len(source.starts) else len(source.joined)
    there = source.joined[source.starts[begin] : stop].split()
    steps = [step for step in Levenshtein.opcodes(there, quote) if step.tag != "equal"]
    first, last = 0, len(there)
    # The window is wider than the quote.
    if steps and (steps[0].src_start, steps[0].dest_end) == (0, 0):
        first = steps.pop(0).src_end
    if steps and (steps[-1].src_end, steps[-1].dest_start) == (len(there), len(quote)):
        last = steps.pop().src_start
    count = 0
    for step in steps:
        words = there[step.src_start : step.src_end]
        texts = quote[step.dest_start : step.dest_end]
        if not _is_harmless(words, texts):
            return None
        count += max(len(words), len(texts))
    return count, begin + first, begin + last - 1


def _is_harmless(source_words: Sequence[str], quote_words: Sequence[str]) -> bool:
    if not set(source_words) - _HARMLESS and not set(quote_words) - _HARMLESS:
        return True
    return len(source_words) == len(quote_words) and all(
        word == other
        or (
            min(len(word), len(other)) >= _LONG_WORD
            and word.isalpha()
            and word[:_SAME_BEGINNING] == other[:_SAME_BEGINNING]
            and not _NUMBER_WORD.match(word)
            and Levenshtein.distance(word, other) == 1
        )
        for word, other in zip(source_words, quote_words, strict=True)
    )


def _with_lost_letters(quote: Sequence[str], source: Words, first: int) -> tuple[int, int] | None:
    there, bare, starts = _bare(source.joined)
    needle = f" {' '.join(_LIGATURE.sub('', word) or LOST_LETTER for word in quote)} "
    position = bare.find(needle, starts[first] - 1)
    while position >= 0:
        begin = bisect_left(starts, position + 1)
        pairs = zip(there[begin : begin + len(quote)], quote, strict=True)
        if all(word == quote_word or LOST_LETTER in word for word, quote_word in pairs):
            return begin, begin + len(quote) - 1
        position = bare.find(needle, position + 1)
    return None


@lru_cache(maxsize=4)
def _bare(joined: str) -> tuple[Sequence[str], str, Sequence[int]]:
    """Words of a text; the same without ligatures, joined by spaces, and where each begins in it.

    A reply may have a hundred quotes of one source.
    """
    there = joined.split()
    bare = [_LIGATURE.sub("", word) or LOST_LETTER for word in there]
    starts = array("I", accumulate((len(word) + 1 for word in bare[:-1]), initial=1))
    return there, f" {' '.join(bare)} ", starts
