"""Verbs that agree with the options they follow: "two native apps make it easier"."""

import re
from collections.abc import Iterable
from functools import lru_cache

from core.llm.providers.offline_engine.option import Option

_COUNTED = re.compile(r"^(?:two|three|four|five|several|many|both|more)\b", re.IGNORECASE)
#: A lower-case word with a plural s at the end; products that end so are left out.
_PLURAL = re.compile(r"\b(?!kubernetes|redis|postgres|aws|jenkins|yes)[a-z-]{2,}(?<![uis])s$")
_ACT = re.compile(r"^(?:not )?[a-z-]+ing\b")
_PLURALS = {
    "is": "are",
    "has": "have",
    "does": "do",
    "carries": "carry",
    "goes": "go",
    "should": "should",
}
_VERBS = (
    "is|has|does|makes|helps|serves|leads|fits|suits|leaves|eats|breaks|puts|hurts|keeps|gives|"
    "supports|narrows|closes|gets|holds|carries|goes|adds|takes|meets|fails|speaks"
)


def agreeing(text: str, options: Iterable[Option]) -> str:
    """The text with plural verbs behind the names that are plurals."""
    for option in options:
        if is_plural(option.name):
            text = _behind(option.name).sub(_in_plural, text)
            text = _before(option.name).sub(lambda m: f"{m['do'][:-2]} {m['name']}", text)
    return text


def is_plural(name: str) -> bool:
    """Whether a name speaks of several things; acts and proper names do not."""
    if _ACT.match(name):
        return False
    return bool(_COUNTED.match(name) or _PLURAL.search(name))


@lru_cache(maxsize=256)
def _behind(name: str) -> re.Pattern[str]:
    still = r"(?P<still>\s(?:still\s)?)"
    pattern = rf"(?P<name>\b{re.escape(name)}){still}(?P<verb>{_VERBS})\b"
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=256)
def _before(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?P<do>[Dd]oes) (?P<name>{re.escape(name)})\b")


def _in_plural(found: re.Match[str]) -> str:
    verb = found["verb"]
    return f"{found['name']}{found['still']}{_PLURALS.get(verb, verb.removesuffix('s'))}"
