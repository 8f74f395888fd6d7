"""When two clarifying questions are one: the same words, in any order, case and marks (pure).

A question that is merged away is never answered, so a doubt keeps two apart: every word that can
change the answer must be in both, as often in one as in the other.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

#: Words that change no answer, in English and in German.
_IDLE = re.compile(
    r"an?|the|of|per|do|does|is|are|be|have|has|we|you|our|your|us|its?|there|please|s|in|on|at|"
    r"for|der|die|das|den|dem|des|eine?|einen|einem|einer|ist|sind|wir|ihr|unsere?|haben|hat|es|"
    r"bitte"
)
#: Words that say how what follows them stands to the rest: "from A to B" is not "from B to A".
_BINDING = re.compile(
    r"from|to|into|than|before|after|without|not|no|over|under|"
    r"von|nach|vor|als|ohne|nicht|über|unter"
)
_SAME = {"which": "what"}
#: Marks that belong to the word they stand at: C# is not C, 5 % is not 5.
_SPEAKING = frozenset("#%")


def is_same(one: str, other: str) -> bool:
    """Whether an answer to one of these questions answers the other."""
    return _content(one) == _content(other)


def _content(question: str) -> Counter[str]:
    """The words that can change the answer, each as often as it stands there."""
    words, binding = list[str](), ""
    known = (_SAME.get(word, word) for word in _bare(question) if not _IDLE.fullmatch(word))
    for word in known:
        if _BINDING.fullmatch(word):
            binding += f"{word} "
        else:
            words.append(binding + word)
            binding = ""
    # A question of idle words only is compared by these.
    return Counter([*words, binding] if words or binding else _bare(question))


def _bare(question: str) -> Iterator[str]:
    """All words in lower case, without the marks around them."""
    text = unicodedata.normalize("NFKC", question).casefold()
    for piece in text.replace("'", " ").replace("’", " ").split():
        marks = {c for c in piece if unicodedata.category(c).startswith("P") or c == "`"}
        word = piece.strip("".join(marks - _SPEAKING))
        if word:
            yield word
