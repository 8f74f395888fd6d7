"""Small pieces of writing: quoting, joining, plain text out of Markdown, a choice of words."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

#: Stands once in every post, so that nobody takes it for a model's answer.
FOOTER = "_Offline engine: from checklists, not a model._"

#: Words up to this length are too short to stand for longer ones.
_SHORT = 3

#: Quotation marks inside a quotation become single ones.
_INNER_QUOTES = {0x201C: 0x2018, 0x201D: 0x2019}
_MARKUP = re.compile(r"[*_`#]+|^(?:\s*>)+")
#: A tag of HTML that only sets type: "<b>bold</b>" is "bold".
_TAG = re.compile(
    r"</?(?:b|i|u|s|p|em|strong|code|pre|br|a|ul|ol|li|h[1-6]|blockquote|span|div|su[bp])"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+")
_HEADING = re.compile(r"^\s*(?:#+\s.*|\*\*[^*]{0,60}[^*.!?。]\*\*\s*:?|[A-Z][^.!?]{0,40}:)\s*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”»*_]*\s+(?=[\"“«*_(]*[^\Wa-z])|(?<=[。\uff01\uff1f])")
_WORD = re.compile(r"[a-z0-9äöüßéèáíóúñç]+(?:[+#]+)?|[^\W\d_]+")
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_CJK_EDGE = re.compile(rf"(?<=[{_CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_CJK}])")
_THOUSANDS = re.compile(r"(?<=\d)[,. '](?=\d{3}(?!\d))")


def plain(text: str) -> str:
    """The text of one line without Markdown's marks."""
    return " ".join(_MARKUP.sub("", _BULLET.sub("", _TAG.sub("", text))).split())


def is_heading(line: str) -> bool:
    """Whether a line only names what follows."""
    return bool(_HEADING.match(line))


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a Markdown text, plain, headings left out."""
    lines = [line for line in text.splitlines() if line.strip() and not is_heading(line)]
    parts = (piece for line in lines for piece in _SENTENCE_END.split(_BULLET.sub("", line)))
    return tuple(cleaned for piece in parts if (cleaned := plain(piece)))


@lru_cache(maxsize=16384)
def normal(text: str) -> str:
    """The words of a text in lower case, one space around each, digits without separators."""
    joined = _THOUSANDS.sub("", text.lower())
    return f" {' '.join(_WORD.findall(_CJK_EDGE.sub(' ', joined)))} "


def mentions(normalised: str, word: str) -> bool:
    """Whether a normalised text has a word that begins with `word`.

    Words of up to three letters, and words that end in `$`, must be there whole (a plural s is
    allowed to the short ones); Chinese and Japanese words may stand anywhere.
    """
    return any(needle in normalised for needle in _needles(word))


@lru_cache(maxsize=8192)
def _needles(word: str) -> tuple[str, ...]:
    """What to look for in a normalised text to find a word."""
    if word[:1] > "\u3000":
        return (word,)
    if word.endswith("$"):
        return (f" {word[:-1]} ",)
    if len(word) <= _SHORT:
        return (f" {word} ", f" {word}s ")
    return (f" {word}",)


def quote(text: str, limit: int = 80) -> str:
    """A short piece of somebody's words in quotation marks, cut at a word's end."""
    words = plain(text).strip("“”\"' .").translate(_INNER_QUOTES)
    if len(words) <= limit:
        return f"“{words}”"
    return f"“{words[:limit].rsplit(' ', 1)[0].rstrip(',;: ')} …”"


def joined(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:  # noqa: PLR2004 - one item needs no joining
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """The text with its first letter in lower case, unless it begins with an abbreviation."""
    first = text.split(" ", 1)[0]
    keeps = first == "I" or first.startswith("I’") or any(c.isupper() for c in first[1:])
    return text if keeps else text[:1].lower() + text[1:]


def full_stop(text: str) -> str:
    """The text as a sentence: capital first, one mark last."""
    kept = capital(text.strip())
    return kept if kept.endswith((".", "!", "?", "。", "\uff1f")) else f"{kept}."


def rank_of(*seeds: str) -> int:
    """A number that depends on nothing but the seeds (Python's own hash differs per process)."""
    return int.from_bytes(hashlib.sha256("\x1f".join(seeds).encode()).digest()[:6])


def pick(variants: Sequence[str], *seeds: str) -> str:
    """One of the variants, always the same one for the same seeds."""
    return variants[rank_of(*seeds) % len(variants)]


def bullets(items: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {item}" for item in items)


def numbered(items: Iterable[str]) -> str:
    """A numbered Markdown list."""
    return "\n".join(f"{place}. {item}" for place, item in enumerate(items, start=1))


def section(title: str, body: str) -> str:
    """A headed block; nothing when there is nothing to say."""
    return f"**{title}**\n{body}" if body else ""


def post(*blocks: str) -> str:
    """Blocks as one post, with the footer."""
    return "\n\n".join([*(block for block in blocks if block), FOOTER])
