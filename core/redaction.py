"""Removes secrets and invisible characters before text is sent or stored; pseudonyms (pure)."""

import hashlib
import hmac
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeVar, cast

from pydantic import BaseModel

T = TypeVar("T")

_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_ONE_EMOJI = f"{_EMOJI}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_INVISIBLE = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers, joiners
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors, which can carry hidden bytes
    "\U000e0000-\U000e007f"  # tags, which can carry hidden text
    "\ud800-\udfff"  # half characters, which cannot be sent
    "]"
)

# Scripts in which a joiner is part of spelling: Arabic and Syriac to Thaana, those of India, Khmer.
_JOINED = (
    "[\u0600-\u085f\u08a0-\u0dff\u0f00-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
)
#: A joiner that is part of how a word is spelled, as in Persian and Sinhala.
SPELLING_JOINER = f"(?<={_JOINED})[\u200c\u200d](?={_JOINED})"

_INVISIBLE_SIGN = re.compile(_INVISIBLE)
_KEEP_OR_DROP = re.compile(
    f"({_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*|[0-9#*]\ufe0f\u20e3|{SPELLING_JOINER})|{_INVISIBLE}"
)


REDACTED = "[redacted]"

#: Characters directly after a secret, which may belong to another secret.
_REST = r"(?:\.?[A-Za-z0-9_-]++)*+"
#: Non-ASCII characters that match an ASCII letter when case is ignored.
_LIKE_ASCII = {ord("\u0130"): "i", ord("\u0131"): "i", ord("\u017f"): "s", ord("\u212a"): "k"}


@dataclass(frozen=True)
class SecretRule:
    name: str
    #: Every text with such a secret contains one of these marks (in lower case).
    marks: tuple[str, ...]
    expression: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled at first use: few texts need it, and compiling all takes 0.1 s."""
        return re.compile(self.expression)

    def hide(self, text: str) -> str:
        """Replace secrets of this kind. Text in the pattern's group `kept` is not replaced."""
        keeps = "kept" in self.pattern.groupindex
        return self.pattern.sub(lambda match: f"{match['kept'] if keeps else ''}{REDACTED}", text)


SECRET_RULES = tuple(
    SecretRule(
        name=rule["name"],
        marks=tuple(rule["marks"]),
        expression=rule["pattern"] if rule.get("alone") else f"(?:{rule['pattern']}){_REST}",
    )
    for rule in tomllib.loads(files("core").joinpath("secrets.toml").read_text("utf-8"))["rules"]
)
_MARKS = tuple(sorted({mark for rule in SECRET_RULES for mark in rule.marks}))


def redact(text: str) -> str:
    """Replace secrets of all kinds in `secrets.toml` by `[redacted]`.

    Redacting twice changes nothing. Quotation marks are kept, so that JSON stays valid. If a secret
    contains invisible characters (copying can add them), all of them are removed from the text:
    prompts and reports drop them, which would restore the secret.
    """
    redacted = _hide(text)
    if _is_plain(text) or not _INVISIBLE_SIGN.search(text):
        return redacted
    visible = _hide(clean(text))
    return redacted if visible == clean(redacted) else visible


def _hide(text: str) -> str:
    """Replace secrets. Searching for marks takes a hundredth of the patterns' time."""
    lower = text.lower() if text.isascii() else text.translate(_LIKE_ASCII).lower()
    present = {mark for mark in _MARKS if mark in lower}
    if present:
        for rule in SECRET_RULES:
            if not present.isdisjoint(rule.marks):
                text = rule.hide(text)
    return text


def without_secrets(value: T) -> T:
    """Return the value with every text in it redacted. Keys of mappings do not change."""
    return cast("T", _without_secrets(value))


def _without_secrets(value: object) -> object:
    match value:
        case str() if not isinstance(value, Enum):
            return redact(value)
        case BaseModel():
            changed = _redacted_fields(value, type(value).model_fields)
            return value.model_copy(update=changed) if changed else value
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {key: _without_secrets(part) for key, part in items}
        case list() | tuple():
            new = [_without_secrets(part) for part in cast("Sequence[object]", value)]
            return tuple(new) if isinstance(value, tuple) else new
        case _ if is_dataclass(value) and not isinstance(value, type):
            changed = _redacted_fields(value, [field.name for field in fields(value)])
            return replace(value, **changed) if changed else value
        case _:
            return value


def _redacted_fields(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields that redaction changes, with their new values."""
    parts = {name: getattr(value, name) for name in names}
    clean_parts = {name: _without_secrets(part) for name, part in parts.items()}
    return {name: part for name, part in clean_parts.items() if part != parts[name]}


def clean(text: str) -> str:
    """Return the text without invisible characters. Composed emoji are kept."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if _is_plain(lines):
        return lines
    return _KEEP_OR_DROP.sub(lambda match: match[1] or "", lines)


def _is_plain(text: str) -> bool:
    """Whether the text is printable ASCII, as most texts are. Faster than the pattern."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def pseudonym(secret: bytes, who: str) -> str:
    """Return a stable pseudonym. Without the installation's secret it reveals nothing."""
    return hmac.new(secret, who.encode(), hashlib.sha256).hexdigest()[:32]
