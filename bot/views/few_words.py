"""Texts of one line in fewer words, for posts that are read at a glance (pure)."""

from collections.abc import Sequence


def few_words(text: str, most: int) -> str:
    """The text in at most so many words, on one line; what is cut ends with an ellipsis.

    A quote is left out rather than cut, with the mark that says whether it was found; so is what
    stands in brackets.
    """
    words = text.split()
    if len(words) <= most:
        return text
    shown = " ".join(words[: max(0, most)])
    is_marked = words[most].startswith("(") if most > 0 else False
    if shown.count("“") > shown.count("”") or (is_marked and shown.endswith("”")):
        shown = shown.rpartition("“")[0]
    if shown.count("(") > shown.count(")"):
        shown = shown.rpartition("(")[0]
    shown = shown.rstrip(" ~.,:;–(")
    return f"{shown}…" if shown else ""


def shared_words(texts: Sequence[str], most: int) -> Sequence[str]:
    """The texts in at most so many words together; what short ones leave goes to longer ones."""
    shares, left = [0] * len(texts), most
    lengths = [len(text.split()) for text in texts]
    for done, index in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        shares[index] = min(lengths[index], left // (len(texts) - done))
        left -= shares[index]
    return [few_words(text, share) for text, share in zip(texts, shares, strict=True)]
