"""Finds the passages that fit a question best, by their words: BM25 (pure).

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
Rare words weigh more than frequent ones, and long passages are not better for being long.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from core.evidence.passages import Passage
from core.evidence.words import words_of

#: How soon another occurrence of a word counts less, and how much length counts: the usual values.
_SATURATION = 1.5
_LENGTH = 0.75
#: Words whose stems are remembered.
_REMEMBERED = 1 << 16
#: Characters of a word that may have inflections.
_LONGEST_WORD = 60
#: A stemmer has a state, and texts are read in several threads.
_STEMMING = Lock()


def best_first(passages: Sequence[Passage], question: str) -> Sequence[Passage]:
    """The passages, best match first, without those that share no word with the question."""
    order = best_of([f"{passage.heading} {passage.text}" for passage in passages], question)
    return [passages[at] for at in order]


def best_of(texts: Sequence[str], question: str) -> Sequence[int]:
    """Indices of the texts that share a word with the question, best match first."""
    counters = [Counter(terms(text)) for text in texts]
    lengths = [sum(text.values()) for text in counters]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    holding = Counter(term for text in counters for term in text)
    query = set(terms(question))

    def score(at: int) -> float:
        text, total = counters[at], 0.0
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[at] / (mean or 1))
        for term in query & text.keys():
            rarity = math.log(1 + (len(counters) - holding[term] + 0.5) / (holding[term] + 0.5))
            total += rarity * text[term] * (_SATURATION + 1) / (text[term] + norm)
        return total

    scores = {at: score(at) for at in range(len(counters))}
    return sorted((at for at in scores if scores[at] > 0), key=lambda at: (-scores[at], at))


def terms(text: str) -> Sequence[str]:
    """The words of a text as they are looked for: by their stems."""
    return [stem for word in words_of(text) for stem in stems(word)]


@lru_cache(maxsize=_REMEMBERED)
def stems(word: str) -> Sequence[str]:
    """A word without its inflections: as an English one, and as a German one if that is another."""
    if len(word) > _LONGEST_WORD:  # a stemmer's time grows faster than the word
        return (word,)
    with _STEMMING:
        return tuple(dict.fromkeys(stem(word) for stem in _stemmers()))


@cache
def _stemmers() -> Sequence[Callable[[str], str]]:
    # All languages of the package are loaded: only for who searches. It has no types.
    new: Callable[[str], Any] = import_module("snowballstemmer").stemmer
    return [new(language).stemWord for language in ("english", "german")]
