"""Parses citations `[e3: "words"]` and checks them against the sources (pure).

The comparison ignores case, line breaks and typography, but not numbers, signs and words with a
meaning. A near match is a quote with harmless differences: a missing article, one wrong letter in a
long word. The time is linear in the length of the sources.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise, product

from rapidfuzz.distance import Levenshtein

from core.debate.evidence import Citation, CitationStatus, Source
from core.evidence.passages import line_of, place_of
from core.evidence.words import LOST_LETTER, Words, words_in, words_of

_DOUBLE, _SINGLE = '"“”„«»‟', "'\u2018’"


def _citation(ids: str) -> re.Pattern[str]:
    """Citations of sources whose ids begin so."""
    # A quote has no empty line and no other citation, which bounds the time for each citation.
    words = rf"(?:(?!\n\n|\[\s{{0,5}}(?:{ids})\d)[\s\S]){{0,1200}}?"
    return re.compile(
        rf"\[\s{{0,5}}(?P<source>(?:{ids})\d{{1,4}})\s{{0,5}}"
        r"(?:,[^:\[\]\n]{1,40})?"  # models may add the page
        rf"(?::\s{{0,5}}(?:[{_DOUBLE}](?P<double>{words})[{_DOUBLE}]"
        rf"|[{_SINGLE}](?P<single>{words})[{_SINGLE}]"
        rf"|(?P<bare>[^\[\]{_DOUBLE}{_SINGLE}\n][^\[\]{_DOUBLE}\n]{{0,1200}}?)))?\s{{0,5}}\]"
        # The marks of an earlier check around a citation are replaced with it.
        rf"(?:~~| \(not found in (?:{ids})\d{{1,4}}\))*",
        re.IGNORECASE,
    )


_OF_SOURCES = _citation("[ed]")
#: Also matches entries of a debate's record (r1), in lower case as in prompts: R1 is a common name
#: of a risk or a requirement.
_OF_RECORD = _citation("[ed]|(?-i:r)")
_RECORD = "r"
#: A hyphen at the end of a line, within a word or between two words.
_DIVIDED = re.compile(r"[-\u2010][ \t]{0,9}\n\s{0,9}")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010](?=[^\W\d_])")
#: Most forms of a quote to search: as it is, and without one of its hyphens.
_MOST_FORMS = 5
_STRIKE = "~~"
#: An ellipsis in a quote.
_GAP = re.compile(
    rf"\s{{0,9}}\[?(?:\.\.\.|…)\]?\s{{0,9}}"
    rf"|[{_DOUBLE}{_SINGLE}]\s{{0,9}}[,;]\s{{0,9}}[{_DOUBLE}{_SINGLE}]"
)
#: Least letters and digits of a quote.
_SHORTEST = 3
#: Most ellipses in a quote.
_MOST_GAPS = 8
#: A near match may have one harmless difference per so many words.
_WORDS_PER_SLIP = 6
#: Most places to search for a near match, and for each of its parts.
_MOST_WINDOWS, _MOST_PLACES = 16, 50
#: A word may have a typo if it has so many letters and the same beginning.
_LONG_WORD = 6
_SAME_BEGINNING = 4
#: Numerals may have no typo: seventh is not seventy.
_NUMBER_WORD = re.compile(r"(?:sixt|sevent|eight|ninet|nint|fort|fift|thirt|twent)")
#: Ligatures, which text extraction can lose.
_LIGATURE = re.compile(rf"ffi|ffl|ff|fi|fl|ft|tt|{LOST_LETTER}")
#: Words that may be missing. "not", "all" and "may" are none of these.
_HARMLESS = frozenset(
    [
        *("a", "an", "the", "of", "that", "and", "der", "die", "das", "den", "dem", "des"),
        *("ein", "eine", "einen", "einem", "einer", "und"),
    ]
)


@dataclass(frozen=True)
class RawCitation:
    #: Position in the text, marks of an earlier check included.
    start: int
    end: int
    #: Id of the source in lower case.
    source: str
    words: str


def citations_in(text: str, *, of_record: bool = False) -> Sequence[RawCitation]:
    """All citations in a text, in order; with `of_record` also those of a record (r1)."""
    if "[" not in text:  # faster than the pattern
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
        right_id = next(
            (item.id for item in sources if item is not source and lines_of(words, item.text)), ""
        )
        fault = f"{source_id} does not say so" + (f"; {right_id} does" if right_id else "")
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
    """The numbers, from 1, of the first and the last line of a quote; None if it is not there."""
    span = _place(words, text)
    return (line_of(text, span[0]), line_of(text, span[1])) if span else None


def check_citations(text: str, sources: Sequence[Source]) -> tuple[str, tuple[Citation, ...]]:
    """Strike out all citations that cannot be verified; return the text and all citations.

    A second check does not change the text. Entries of a record can be cited only if the sources
    include some.
    """
    of_record = any(source.id.startswith(_RECORD) for source in sources)
    citations = list[Citation]()

    def as_checked(mention: RawCitation) -> str:
        # The result shows the words on one line, without hyphens at ends of lines.
        forms = (_DIVIDED.sub("", mention.words), mention.words)
        lines = dict.fromkeys(" ".join(form.replace('"', "'").split()) for form in forms)
        checks = [check(mention.source, line, sources) for line in lines]
        citation = next(
            (item for item in checks if item.status is CitationStatus.VERIFIED), checks[-1]
        )
        citations.append(citation)
        quote = (
            f'[{mention.source}: "{citation.words}"]' if citation.words else f"[{mention.source}]"
        )
        if citation.status is CitationStatus.VERIFIED:
            return quote
        return f"~~{quote}~~ (not found in {mention.source})"

    return _replace_citations(text, as_checked, of_record=of_record), tuple(citations)


def render_citations(
    text: str, show: Callable[[RawCitation, bool], str], *, of_record: bool = False
) -> str:
    """Replace each citation in a result of `check_citations` by the text that `show` returns.

    `show` gets a citation and whether it is verified.
    """
    return _replace_citations(
        text,
        lambda mention: show(mention, not text.startswith(_STRIKE, mention.start)),
        of_record=of_record,
    )


def _replace_citations(text: str, show: Callable[[RawCitation], str], *, of_record: bool) -> str:
    parts, end = list[str](), 0
    for mention in citations_in(text, of_record=of_record):
        parts += (text[end : mention.start], show(mention))
        end = mention.end
    return "".join((*parts, text[end:]))


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """The positions of a quote's first and last words in a text; None if it is not there.

    The pieces of a quote with ellipses must be in the text in the same order.
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
    """The positions of a piece's first and last words, searched from a position on."""
    exact = _exact_at(piece.strip(), text, after)
    if exact:
        return exact
    # The reader of PDF makes one word of two with a hyphen at the end of a line: longterm.
    forms = [
        piece,
        *(f"{piece[: at.start()]}{piece[at.end() :]}" for at in _HYPHEN.finditer(piece)),
    ]
    searched = set[tuple[int, str]]()
    for form, rejoined in product(forms[:_MOST_FORMS], (False, True)):
        piece_words, source = words_in(form, rejoined=rejoined), words_in(text, rejoined=rejoined)
        # Without a divided word both ways of reading are the same.
        search = len(source.joined), piece_words.joined
        if search in searched:
            continue
        searched.add(search)
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
    """The positions of a piece that the text has character by character."""
    position = text.find(piece, after)
    if position < 0:
        return None
    piece_words, source = words_in(piece), words_in(text)
    while position >= 0:
        number = bisect_left(source.places, position + piece_words.places[0])
        # The words must be equal too: "−5" contains "5", which is another number.
        if number < len(source.places) and source.joined.startswith(
            piece_words.joined, source.starts[number] - 1
        ):
            return source.places[number], source.places[number + len(piece_words.places) - 1]
        position = text.find(piece, position + 1)
    return None


def _near(quote: Sequence[str], source: Words, first: int) -> tuple[int, int] | None:
    """The indexes of the first and last word of a near match with harmless differences only.

    If a quote is split into one part more than its allowed differences, one part matches exactly.
    So only windows around exact matches of parts are compared.
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
    """Compare a quote with a window of the source.

    Returns:
        The number of differences, and the indexes of the first and the last word; None if a
        difference is not harmless.
    """
    stop = source.starts[end] if end < len(source.starts) else len(source.joined)
    window = source.joined[source.starts[begin] : stop].split()
    steps = [step for step in Levenshtein.opcodes(window, quote) if step.tag != "equal"]
    first, last = 0, len(window)
    # The window is wider than the quote.
    if steps and (steps[0].src_start, steps[0].dest_end) == (0, 0):
        first = steps.pop(0).src_end
    if steps and (steps[-1].src_end, steps[-1].dest_start) == (len(window), len(quote)):
        last = steps.pop().src_start
    count = 0
    for step in steps:
        words = window[step.src_start : step.src_end]
        texts = quote[step.dest_start : step.dest_end]
        if not _is_harmless(words, texts):
            return None
        count += max(len(words), len(texts))
    return count, begin + first, begin + last - 1


def _is_harmless(source_words: Sequence[str], quote_words: Sequence[str]) -> bool:
    if not set(source_words) - _HARMLESS and not set(quote_words) - _HARMLESS:
        return True
    return len(source_words) == len(quote_words) and all(
        word == quote_word
        or (
            min(len(word), len(quote_word)) >= _LONG_WORD
            and word.isalpha()
            and word[:_SAME_BEGINNING] == quote_word[:_SAME_BEGINNING]
            and not _NUMBER_WORD.match(word)
            and Levenshtein.distance(word, quote_word) == 1
        )
        for word, quote_word in zip(source_words, quote_words, strict=True)
    )


def _with_lost_letters(quote: Sequence[str], source: Words, first: int) -> tuple[int, int] | None:
    source_words, bare, starts = _bare(source.joined)
    needle = f" {' '.join(_LIGATURE.sub('', word) or LOST_LETTER for word in quote)} "
    position = bare.find(needle, starts[first] - 1)
    while position >= 0:
        begin = bisect_left(starts, position + 1)
        pairs = zip(source_words[begin : begin + len(quote)], quote, strict=True)
        if all(word == quote_word or LOST_LETTER in word for word, quote_word in pairs):
            return begin, begin + len(quote) - 1
        position = bare.find(needle, position + 1)
    return None


@lru_cache(maxsize=4)
def _bare(joined: str) -> tuple[Sequence[str], str, Sequence[int]]:
    """The words of a text; these without ligatures, joined by spaces; the position of each.

    Cached, because a reply may have a hundred quotes of one source.
    """
    words = joined.split()
    bare = [_LIGATURE.sub("", word) or LOST_LETTER for word in words]
    starts = array("I", accumulate((len(word) + 1 for word in bare[:-1]), initial=1))
    return words, f" {' '.join(bare)} ", starts
