"""How well a decision fits a question that is asked in other words, without asking a model (pure).

Words count by their stems, by groups of words that mean the same (`synonyms.toml`, English and
German) and, less, by their letters: slips, inflections and German compounds. What a question shares
with a decision counts by how rare it is among all decisions.
"""

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

from pydantic import BaseModel
from rapidfuzz import fuzz

from core.evidence.search import terms
from core.evidence.words import words_of

#: What a word is worth that stands there in another form: of the same group, or alike by letters.
_SAME_GROUP = 0.8
_ALIKE = 0.6
#: Likeness of letters (0 to 100) from which two words are forms of one.
_ALIKE_FROM = 85
#: Words with fewer letters are compared whole.
_SHORTEST = 5
#: Share of a question's words, by their weight, from which a decision answers it.
ANSWERS_FROM = 0.38
#: Letters of a word from which an s at its end is its plural's.
_PLURAL_FROM = 3
#: Words that count of a question and of a decision, the first ones: each of the one is compared
#: with each of all the others.
_MOST_ASKED, _MOST_DECIDED = 40, 120
_KEPT = 4096
#: Cosines of texts that have nothing to do with each other, and of those that say the same: what
#: common models give for a question and a text of a few sentences.
_UNRELATED, _EQUAL = 0.2, 0.7


def likeness(question: str, decisions: Sequence[str]) -> Sequence[float]:
    """For each decision, the share of the question's words that it has, by weight: 0 to 1.

    Of long texts the beginning counts.
    """
    wanted = _content(question, _MOST_ASKED)
    if not wanted:
        return [0.0] * len(decisions)
    texts = [_content(text, _MOST_DECIDED) for text in decisions]
    holding = Counter(word for text in texts for word in text)
    total, shares = 0.0, [0.0] * len(texts)
    for word in wanted:
        weight = math.log(1 + (len(texts) + 1) / (holding[word] + 0.5))
        total += weight
        # Every other word is compared once, however many decisions have it.
        groups, alike = _groups().get(word, frozenset()), _alike(word, holding)
        same_group = frozenset(
            other for other in holding if groups & _groups().get(other, frozenset())
        )
        for at, text in enumerate(texts):
            if word in text:
                shares[at] += weight
            elif not same_group.isdisjoint(text):
                shares[at] += weight * _SAME_GROUP
            elif not alike.isdisjoint(text):
                shares[at] += weight * _ALIKE
    return [share / total for share in shares]


def nearness(question: Sequence[float], decisions: Sequence[Sequence[float]]) -> Sequence[float]:
    """For each decision, how near its meaning is to the question's, 0 to 1, on the same scale.

    Args:
        question: Its vector.
        decisions: Theirs; of another length: not comparable, so not near.
    """

    def near(other: Sequence[float]) -> float:
        lengths = math.hypot(*question) * math.hypot(*other)
        if not lengths or len(question) != len(other):
            return 0.0
        cosine = sum(a * b for a, b in zip(question, other, strict=True)) / lengths
        return max(0.0, min(1.0, (cosine - _UNRELATED) / (_EQUAL - _UNRELATED)))

    return [near(other) for other in decisions]


@lru_cache(maxsize=_KEPT)
def _content(text: str, most: int) -> frozenset[str]:
    """The stems of the first words that say what a text is about."""
    said = (_root(word) for word in words_of(text) if word not in _stop_words())
    return frozenset(islice(dict.fromkeys(filter(None, said)), most))


@lru_cache(maxsize=_KEPT)
def _root(word: str) -> str:
    """A word without any of its endings, a short one without its plural's s; signs are no words."""
    stem = next(iter(terms(word)), "")
    if stem != word:
        return _root(stem)
    plain = stem.removesuffix("s") if len(stem) > _PLURAL_FROM else stem
    return plain if plain.isalnum() else ""


def _alike(word: str, others: Iterable[str]) -> frozenset[str]:
    """Those of the words that are forms of this one by their letters."""
    if len(word) < _SHORTEST:
        return frozenset()
    return frozenset(
        other
        for other in others
        if len(other) >= _SHORTEST
        and (word in other or other in word or fuzz.ratio(word, other, score_cutoff=_ALIKE_FROM))
    )


@cache
def _groups() -> Mapping[str, frozenset[int]]:
    """Stem → numbers of the groups it is in."""
    found = dict[str, frozenset[int]]()
    for number, group in enumerate(_data().groups):
        for stem in {_root(part) for word in group for part in words_of(word)}:
            found[stem] = found.get(stem, frozenset()) | {number}
    return found


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_data().stop.split())


class _Synonyms(BaseModel):
    """What `synonyms.toml` holds."""

    groups: tuple[tuple[str, ...], ...]
    stop: str


@cache
def _data() -> _Synonyms:
    path = Path(__file__).with_name("synonyms.toml")
    return _Synonyms.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
