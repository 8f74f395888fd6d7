"""Takes out of quoted texts what is not an argument: orders to the reader, faked labels.

Ballots are counted from what texts say about requirements and checks, so an order has no effect by
itself; it is removed because the sentence that carries it could also carry such words.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from core.llm.providers.offline_engine.wording import FOOTER

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override|ignorier\w*|vergiss)\b.{0,60}"
    r"\b(?:above|previous|prior|earlier|instructions?|prompts?|rules?|candidates?|positions?|"
    r"everything|ballots?|anweisung\w*|vorherig\w*|obig\w*)\b"
    r"|\b(?:rank|vote|rate|score|place|put|choose|pick|elect|declare|prefer)\b.{0,25}"
    r"\b(?:me|myself|mine|this (?:candidate|position|proposal|one|text)|my (?:position|proposal)|"
    r"p\d{1,2}|first place|number one)\b"
    r"|\b(?:this (?:candidate|position|proposal)|p\d{1,2}) (?:must|should|shall|has to|is to) "
    r"(?:win|be ranked|be first|be placed|come first)"
    r"|\b(?:you are now|as an ai|language model|system prompt|new instructions?|jailbreak)\b"
    r"|\b(?:all|every|other) (?:voters?|judges?|agents?) (?:must|should|have to|shall)\b"
    r"|\b(?:dear|attention|note to|hey|instructions? (?:to|for)) (?:the )?(?:judge|voters?|reader|"
    r"agents?|engine|model|assistant)\b"
    r"|\bconfidence (?:of|to|is|must be|=) ?(?:1(?:\.0)?|100)\b"
    r"|指示を無視|上記を無視",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^\W*(?:(?:candidate|position|critique)\s+p?\d{1,2}|p\d{1,2}|system|assistant|tally|winner)\W*"
    r"(?::.*)?$"
    r"|^\s*<{1,3}/?[\w-]+",
    re.IGNORECASE,
)
_OWN_TITLE = re.compile(r"^\W*(?:position|critique)\b", re.IGNORECASE)
_PIECE = re.compile(r"(?<=[.!?。\uff01\uff1f])(\s*)")


def visible(text: str) -> str:
    """The text without characters that nobody sees, compatibility forms made plain."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


@lru_cache(maxsize=8192)
def is_order(sentence: str) -> bool:
    """Whether a sentence tells the reader what to do with the vote instead of arguing."""
    return bool(_ORDER.search(unicodedata.normalize("NFKC", sentence)))


def is_label(line: str) -> bool:
    """Whether a line pretends to begin another part of the prompt."""
    return bool(_LABEL.match(line))


def without_orders(text: str) -> str:
    """The text without the sentences that are orders; lines and Markdown stay."""
    return "\n".join(_kept_sentences(line) for line in visible(text).splitlines()).strip()


@lru_cache(maxsize=512)
def argument_of(text: str) -> str:
    """What a quoted position argues: no orders, nothing from a faked label on, no footer."""
    lines = visible(text).replace(FOOTER, "").splitlines()
    return without_orders("\n".join(_until_label(lines)))


def _until_label(lines: Iterable[str]) -> Iterable[str]:
    """The lines before the first faked label; "Position 1" may stand over one's own text."""
    said = False
    for line in lines:
        if is_label(line) and (said or not _OWN_TITLE.match(line)):
            return
        said = said or bool(line.strip())
        yield line


def _kept_sentences(line: str) -> str:
    if not is_order(line):
        return line
    pieces = _PIECE.split(line)
    return "".join(piece for piece in pieces if not is_order(piece)).strip()
