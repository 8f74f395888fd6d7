"""Reads what a server says is wrong: code, reason and wait, wherever its body holds them."""

import json
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import cast

from core.llm.providers.fields import items, words

#: Longer bodies and messages of errors are not read: what is wrong stands at the beginning.
MESSAGE_MAX_CHARS = 4000
#: Where a server says what is wrong: in the error that it passes on, else in its own fields.
_FIELDS = (
    *("error", "response", "cause", "metadata", "raw", "code", "type", "status"),
    *("message", "detail", "error_description", "reason", "msg", "details", "incomplete_details"),
    *("errors", "violations", "quotaId", "param", "n_ctx", "retryDelay"),
)
_CODES = frozenset({"code", "type", "status"})
_REASONS = frozenset(
    {"", "raw", "error", "message", "detail", "error_description", "reason", "msg"}
)
#: How deep a body is read, how many of a list, how much of a text is searched.
_DEPTH, _MOST_PARTS, _SEARCHED_CHARS = 8, 5, 300
#: Named in front of their value, which says little alone; as numbers are.
_NAMED = frozenset({"param", "retryDelay"})
#: The wait that a server names in words: Groq's and OpenAI's messages, Gemini's `retryDelay`.
_WAIT = re.compile(
    r"(?:try again in|retry (?:in|after)|retryDelay:) (?:(?P<h>\d{1,3})h ?)?"
    r"(?:(?P<m>\d{1,4})m(?!s) ?)?(?:(?P<s>\d{1,6}(?:\.\d{1,20})?)(?P<unit>ms|s)\b)?",
    re.IGNORECASE,
)
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,50}")


def read_body(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _said(body: object, field: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Fields of a server's error and what they say, those of the innermost object first.

    Gateways send the error of the server behind them as JSON in a text (`cause`, `raw`).
    """
    if isinstance(body, str) and body.lstrip()[:1] == "{" and len(body) <= MESSAGE_MAX_CHARS:
        body = read_body(body)
    if isinstance(body, bool):
        return  # `"error": true` says that it failed, as the status does
    if isinstance(body, str | int):
        yield field, str(body)
    elif isinstance(body, list) and depth:
        for part in cast("list[object]", body)[:_MOST_PARTS]:
            yield from _said(part, field, depth - 1)
    elif isinstance(body, dict) and depth:
        fields = cast("dict[str, object]", body)
        if place := items(fields, "loc"):
            fields = fields | {"msg": f"{words(fields, 'msg')}: {'.'.join(map(str, place))}"}
        for name in _FIELDS:
            if name in fields:
                yield from _said(fields[name], name, depth - 1)


def code_of(body: object) -> str:
    """The server's short code for what is wrong; empty when it has none that looks like one."""
    codes = (text for field, text in _said(body) if field in _CODES and text != "error")
    return next(filter(_CODE.fullmatch, codes), "")


def said_in(body: object) -> str:
    """All that a server says of what is wrong, to be searched only.

    Some servers quote the prompt after the fault: each text is cut to `_SEARCHED_CHARS` characters.
    """
    return "\n".join(
        (f"{field}: {text}" if field in _NAMED or text.isdigit() else text)[:_SEARCHED_CHARS]
        for field, text in _said(body)
    )


def status_in(body: object) -> int:
    """The status that a server sends as a code in the middle of a reply; 0: none."""
    codes = (text for field, text in _said(body) if field == "code")
    return int(next(filter(_STATUS.fullmatch, codes), 0))


def reason_in(body: object) -> str:
    """What the server says is wrong, in its words."""
    reasons = (text for field, text in _said(body) if field in _REASONS)
    return next((text for text in reasons if text and not text.isdigit()), "")


def wait_in_words(text: str) -> float | None:
    """Seconds that a server asks in words to wait."""
    named = _WAIT.search(text)
    if named is None or not any(named.group("h", "m", "s")):
        return None
    seconds = float(named["s"] or 0) / (1000 if named["unit"] == "ms" else 1)
    return int(named["h"] or 0) * 3600 + int(named["m"] or 0) * 60 + seconds


def wait_in(headers: Mapping[str, str]) -> float | None:
    """Seconds in `retry-after-ms` or `retry-after` (a number, or a date as RFC 9110 has it)."""
    millis, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    try:
        return max(0.0, float(millis) / 1000 if millis else float(value))
    except ValueError:
        now = headers.get("date", "")
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(now)).total_seconds())
    except (ValueError, TypeError):
        return None
