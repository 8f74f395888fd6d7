"""Reads what a server says is wrong: code, reason and wait, wherever its body holds them."""

import json
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import cast

from core.llm.providers.fields import dig, items, words

#: Longer bodies and messages of errors are not read: what is wrong stands at the beginning.
MESSAGE_MAX_CHARS = 4000
#: Where a server says what is wrong; how deep, how many of a list, how much of a text is read.
_SAYING = frozenset(
    {"error", "code", "type", "status", "message", "detail", "details", "param", "reason"}
    | {"violations", "quotaId", "n_ctx", "response", "incomplete_details", "retryDelay"}
    | {"metadata", "raw", "cause", "errors", "loc", "msg"}
)
_DEPTH, _MOST_PARTS, _SEARCHED_CHARS = 8, 5, 300
#: Named in front of their value, which says little alone.
_NAMED = frozenset({"param", "retryDelay"})
#: The wait that a server names in words: Groq's and OpenAI's messages, Gemini's `retryDelay`.
_WAIT = re.compile(
    r"(?:try again in|retry (?:in|after)|retryDelay:) (?:(?P<h>\d{1,3})h ?)?"
    r"(?:(?P<m>\d{1,4})m(?!s) ?)?(?:(?P<s>\d{1,6}(?:\.\d{1,20})?)(?P<unit>ms|s)\b)?",
    re.IGNORECASE,
)
_FIRST_ERROR = 400
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,50}")


def read_body(text: str) -> object:
    """What a body is as JSON; itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _levels(body: object) -> list[object]:
    """The objects in which a server may say what is wrong, the innermost first."""
    levels: list[object] = []
    while body is not None and len(levels) < _DEPTH:
        levels.insert(0, body)
        body = _inner(body)
    return levels


def _inner(body: object) -> object:
    """What a body holds that says more of what is wrong; None where it is the innermost.

    Gateways send the error of the server behind them as JSON in a text (`cause`, `raw`).
    """
    for name in (0, "error", "response"):
        if inner := dig(body, name):
            return inner
    for inner in (dig(body, "message"), dig(body, "detail")):
        if inner and isinstance(inner, Mapping | list):
            return cast("object", inner)
    if raw := words(body, "metadata", "raw"):
        return read_body(raw)
    cause = read_body(words(body, "cause"))
    return None if isinstance(cause, str) else cause


def code_of(body: object) -> str:
    """The server's short code for what is wrong; empty when it has none that looks like one."""
    named = [
        words(level, name)
        for level in _levels(body)
        for name in ("code", "type", "status")
        if not isinstance(level, str)
    ]
    return next((code for code in named if code != "error" and _CODE.fullmatch(code)), "")


def said_in(body: object) -> str:
    """All that a server says of what is wrong, to be searched only."""
    return "\n".join(_said_in(body, _DEPTH))


def _said_in(body: object, depth: int) -> Iterator[str]:
    """The words and codes of a server's error, each cut to `_SEARCHED_CHARS` characters.

    Some servers quote the prompt after the fault; the cut drops it.
    """
    if isinstance(body, str):
        is_json = body.lstrip()[:1] == "{" and len(body) <= MESSAGE_MAX_CHARS
        inner = read_body(body) if is_json else body
        if isinstance(inner, str) or not depth:
            yield body[:_SEARCHED_CHARS]
        else:
            yield from _said_in(inner, depth - 1)
    elif isinstance(body, list) and depth:
        for part in cast("list[object]", body)[:_MOST_PARTS]:
            yield from _said_in(part, depth - 1)
    elif isinstance(body, Mapping) and depth:
        for name, value in cast("Mapping[str, object]", body).items():
            if name in _SAYING:
                is_named = isinstance(value, int) or name in _NAMED
                text = f"{name}: {value}" if is_named else value
                yield from _said_in(text, depth - 1)


def status_in(body: object) -> int:
    """The status that a server sends as a code in the middle of a reply; 0: none."""
    for level in _levels(body):
        code = dig(level, "code")
        number = int(code) if isinstance(code, str) and code.isdigit() and len(code) == 3 else code  # noqa: PLR2004 - a status has three digits
        if isinstance(number, int) and _FIRST_ERROR <= number < 600:  # noqa: PLR2004 - the last
            return number
    return 0


def reason_in(body: object) -> str:
    """What the server says is wrong, in its words."""
    for level in _levels(body):
        if isinstance(level, str):
            return level
        for name in ("message", "detail", "error_description", "reason", "msg"):
            if text := words(level, name):
                path = ".".join(map(str, items(level, "loc")))
                return f"{text}: {path}" if path else text
    return ""


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
