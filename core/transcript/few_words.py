"""Texts of one line in fewer words (pure)."""

import re
from collections.abc import Sequence

_AFTER_SENTENCE = re.compile(r"(?<=[.!?…]) ")
#: Where a text can be cut: not after "am 3." or "approx.".
_CUT = re.compile(r"(?<=[^\W\d][.!?…]|[)”%][.!?…]) (?=[A-ZÀ-Þ“(*])")
_PAIRS = ("“”", "()")
#: Ends a text that is cut after a sentence.
CUT = " …"
#: What may stand around a sentence that is the same.
_MARKS = "*_ -•.!?…"
#: Words from which on a sentence is not said again.
_LONG_ENOUGH = 6


def few_words(text: str, most: int) -> str:
    """The text in at most so many words, on one line; what is cut ends with an ellipsis.

    It is cut after a sentence where one fits. Else a quote with its mark, or text in brackets, is
    left out rather than cut.
    """
    words = text.split()
    if len(words) <= most:
        return text
    if sentences := whole_sentences(text, most):
        return sentences
    short = " ".join(words[: max(0, most)])
    is_marked = words[most].startswith("(") if most > 0 else False
    if short.count("“") > short.count("”") or (is_marked and short.endswith("”")):
        short = short.rpartition("“")[0]
    if short.count("(") > short.count(")"):
        short = short.rpartition("(")[0]
    short = short.rstrip(" ~.,:;–(")
    return f"{short}…" if short else ""


def whole_sentences(text: str, most: int) -> str:
    """The sentences that begin a text, in at most so many words; empty: not even the first fits."""
    words = text.split()
    if len(words) <= most:
        return text
    # The ellipsis counts as a word.
    room = " ".join(words[: max(0, most - 1)])
    sentences = [room[: cut.start()] for cut in _CUT.finditer(f"{room} A")]
    whole = [text for text in sentences if all(text.count(a) == text.count(b) for a, b in _PAIRS)]
    return f"{whole[-1]}{CUT}" if whole else ""


def new_sentences(text: str, earlier: set[str]) -> str:
    """The sentences of the text that are not in `earlier`, to which they are added.

    Short ones, such as "Yes.", are always kept.
    """
    new = list[str]()
    for sentence in _AFTER_SENTENCE.split(text):
        bare = sentence.strip(_MARKS).casefold()
        if bare and bare not in earlier:
            new.append(sentence)
        if len(bare.split()) >= _LONG_ENOUGH:
            earlier.add(bare)
    return " ".join(new)


def shared_words(texts: Sequence[str], most: int) -> Sequence[str]:
    """The sentences that begin each text, in at most so many words together.

    Longer texts get what short ones leave; one whose first sentence does not fit becomes empty.
    """
    shares, remaining = [0] * len(texts), most
    lengths = [len(text.split()) for text in texts]
    for number, index in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        shares[index] = min(lengths[index], remaining // (len(texts) - number))
        remaining -= shares[index]
    return [whole_sentences(text, share) for text, share in zip(texts, shares, strict=True)]
