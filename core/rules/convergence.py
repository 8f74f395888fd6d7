"""Measures whether positions converge or repeat, from texts and ballots alone (pure).

Likeness of two texts is the cosine of their word counts (Salton's vector space model, 1975): crude
and free, the same in every language with spaces, and good enough to say that nothing new comes.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from core.models import Ballot

#: A position that is this like its last version has not moved.
REPEATED_FROM = 0.97

_WORD = re.compile(r"[^\W_]{3,}|[぀-ヿ㐀-鿿]")


def likeness(texts: Sequence[str]) -> float:
    """Mean likeness of all pairs, 0 to 1; 1 for fewer than two texts."""
    counts = [_count(text) for text in texts]
    pairs = [_cosine(one, other) for one, other in combinations(counts, 2)]
    return sum(pairs) / len(pairs) if pairs else 1.0


def is_repeated(before: str, after: str) -> bool:
    """Whether a position says the same again."""
    return _cosine(_count(before), _count(after)) >= REPEATED_FROM


def are_stable(before: Iterable[Ballot], after: Iterable[Ballot]) -> bool:
    """Whether every voter ranks as before; agents without a ballot before or after do not count."""
    earlier = {ballot.voter: ballot.ranking for ballot in before}
    later = {ballot.voter: ballot.ranking for ballot in after}
    both = earlier.keys() & later.keys()
    return bool(both) and all(earlier[voter] == later[voter] for voter in both)


def _count(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    if not one or not other:
        return 1.0 if one == other else 0.0
    dot = sum(count * other[word] for word, count in one.items())
    return min(1.0, dot / (_length(one) * _length(other)))


def _length(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))
