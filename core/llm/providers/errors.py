"""Every way a vendor can fail, as the error that says what to do about it.

What a server says decides, before its status: a proxy sends 400 for a refused key, Gemini 429 for a
quota of a day. The words never hold a key or anything of the prompt.
"""

import html
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import cast

import httpx2
import structlog

from core.errors import (
    KeyRefused,
    PromptTooLong,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderSilent,
    ReplyUnusable,
    RequestRejected,
)
from core.figures import duration, quantity
from core.llm.providers.fields import items, words
from core.proxies import proxy_hint
from core.redaction import clean, redact

_log = structlog.get_logger(__name__)

#: Longer bodies and messages of errors are not read: what is wrong stands at the beginning.
_MESSAGE_CHARS = 4000
#: Characters of a server's own reason that people are shown.
_REASON_CHARS = 200
#: So many words of the prompt in a row are a quotation of it.
_QUOTED_WORDS = 4
#: Seconds that are worth telling people: who asks for less is simply waited for.
_LONG_WAIT = 600.0
#: What servers and networks do not cause; the log then says where it was raised.
_OUR_FAULTS = (LookupError, TypeError, AttributeError, ImportError)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)


class ReplyFailed(Exception):
    """A server says in the middle of a reply that it failed."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body


@dataclass(frozen=True, kw_only=True)
class ServerFailure:
    vendor: str
    #: Of HTTP, or sent as a code in the middle of a reply; 0: none.
    status: int = 0
    #: Its short code.
    code: str = ""
    #: Its own words, fit for people.
    reason: str = ""
    #: All it said, to be searched only.
    text: str = ""
    #: Seconds it asks us to wait.
    wait: float | None = None

    def say(self, what: str, advice: str = "") -> str:
        """A sentence about the vendor, with what it says itself."""
        detail = ", ".join(part for part in (str(self.status or ""), self.code) if part)
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        text = f"{self.vendor} {what} ({detail or 'no code'}){reason}."
        return f"{text} {advice}".rstrip()


_Meaning = Callable[[ServerFailure], ProviderError]

#: What says that a prompt, or what was asked for, is longer than a server takes.
TOO_LONG = re.compile(
    r"context_length|context (?:length|size|window)|exceed_context|prompt is too long"
    r"|input is too long|too many (?:input )?tokens|input token count|request too large"
    r"|too large for (?:the )?model|context the overflows"
    r"|tokens`? (?:\+ `max_new_tokens` )?must be <=",
    re.IGNORECASE,
)
_CONTEXT_TOKENS = re.compile(
    r"(?:maximum context length|context (?:window|length|size|limit))[^\d\n]{0,40}?(\d[\d,]{2,9})"
    r"|(\d[\d,]{2,9}) ?(?:tokens? )?(?:maximum|limit)|> (\d[\d,]{2,9}) maximum"
    r"|(?:tokens allowed \(|must be <= )(\d[\d,]{2,9})",
    re.IGNORECASE,
)


def _too_long(failure: ServerFailure) -> ProviderError:
    numbers = re.search(r"n_ctx: (\d{3,9})", failure.text) or _CONTEXT_TOKENS.search(failure.text)
    number = next(filter(None, numbers.groups())) if numbers else "0"
    tokens = int(number.replace(",", ""))
    holds = f"; it holds {quantity(tokens, 'token')}" if tokens else ""
    return PromptTooLong(
        failure.say(
            f"says that the prompt is too long{holds}",
            "`context_tokens` under `models` says how much a model holds.",
        ),
        tokens=tokens,
    )


def _busy(failure: ServerFailure) -> ProviderError:
    wait = failure.wait or 0
    asks = f"; it asks to wait {duration(round(wait))}" if wait >= _LONG_WAIT else ""
    return ProviderBusy(
        failure.say(f"is overloaded or limits our rate{asks}"), retry_after=failure.wait
    )


def _used_up(failure: ServerFailure) -> ProviderError:
    # Also a day's limit lets some through again after minutes, unless it is none at all.
    if failure.wait and "limit: 0" not in failure.text:
        return _busy(failure)
    until = "it is there again tomorrow, or when the quota is raised"
    return KeyRefused(failure.say(f"says that the daily quota is used up; {until}"))


def _says(kind: type[ProviderError], what: str, advice: str = "") -> _Meaning:
    return lambda failure: kind(failure.say(what, advice))


_NO_PAYMENT = _says(
    KeyRefused,
    "wants payment, or the account's quota is used up",
    "Check the account, then start Moot again.",
)
_KEY_REFUSED = _says(
    KeyRefused,
    "refuses the API key or the account",
    "Check the key and the account, then start Moot again.",
)
_REJECTED = _says(RequestRejected, "rejects the request")
#: What its words say, in this order, before the status is looked at: the words, the statuses they
#: may come with (0: none), and what it is.
_BY_WORDS: tuple[tuple[re.Pattern[str], Container[int], _Meaning], ...] = (
    (TOO_LONG, {*range(600)} - {401, 403, 429}, _too_long),
    (
        re.compile(r"(?i)country|territory|location is not supported"),
        {0, 400, 403, 451},
        _says(KeyRefused, "does not serve this country or region"),
    ),
    (re.compile(r"(?i)per_?-? ?day|daily|limit: 0\b"), {0, 403, 429}, _used_up),
    (
        re.compile(
            r"(?i)insufficient_quota|insufficient balance|billing|credit balance|payment"
            r"|current quota"
        ),
        {0, 200, 400, 402, 403, 429},
        _NO_PAYMENT,
    ),
    (
        re.compile(
            r"(?i)authentication|invalid_api_key|api_key_invalid|api.?key not valid"
            r"|incorrect api key|permission_error|permission_denied|unauthori[sz]ed"
        ),
        {*range(500)} - {404, 429},
        _KEY_REFUSED,
    ),
    (
        re.compile(
            r"(?i)content_filter|content management policy|responsible ?ai|requires moderation"
        ),
        range(499),
        _says(RequestRejected, "stopped the prompt with its content filter"),
    ),
    (
        re.compile(
            r"(?i)requires more (?:system )?memory|not enough memory|out of memory"
            r"|insufficient (?:system resources|memory)"
        ),
        {0, 400, 424, *range(500, 600)},
        _says(
            RequestRejected,
            "cannot load the model",
            "Choose a smaller one, or give it more memory.",
        ),
    ),
)
#: What a status means where nothing more is said.
_BY_STATUS: tuple[tuple[Container[int], _Meaning], ...] = (
    ({402}, _NO_PAYMENT),
    ({401, 403}, _KEY_REFUSED),
    ({429, 498, 503, 529}, _busy),
    ({408, 409, 425, *range(500, 1000)}, _says(ProviderDown, "failed")),
    (range(400, 500), _REJECTED),
)
#: What a short code means where there is no status.
_BY_CODE = (
    (re.compile(r"overloaded|rate_limit|too_many|slow_down|capacity|unavailable"), _busy),
    (re.compile(r"invalid|not_found|too_large|unsupported"), _REJECTED),
    (re.compile(r""), _says(ProviderDown, "failed while answering")),
)


def _meaning(failure: ServerFailure) -> ProviderError:
    meanings = (
        *(
            meaning
            for pattern, statuses, meaning in _BY_WORDS
            if failure.status in statuses and pattern.search(failure.text)
        ),
        *(meaning for statuses, meaning in _BY_STATUS if failure.status in statuses),
        *(meaning for pattern, meaning in _BY_CODE if pattern.search(failure.code)),
    )
    return meanings[0](failure)


def translate(vendor: str, error: Exception, *, key: str = "", prompt: str = "") -> ProviderError:
    """The provider error for an error of an SDK or of the network.

    Its words hold neither our key nor a quotation of the prompt.
    """
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, ReplyFailed):
        return from_body(vendor, 0, error.body, key=key, prompt=prompt)
    answer = answer_in(error)
    if answer is not None:
        wait, status = _wait_in(answer.headers), answer.status_code
        return from_body(vendor, status, answer.text, wait=wait, key=key, prompt=prompt)
    first = first_cause(error)
    kind = type(first).__name__
    if isinstance(first, TimeoutError) or "Timeout" in kind:  # httpx2's name no TimeoutError
        return ProviderSilent(f"{vendor} stopped answering.")
    if isinstance(error, httpx2.RequestError) or re.search(
        "Connection|Timeout", type(error).__name__
    ):
        return ProviderDown(f"The connection to {vendor} failed ({kind}){proxy_hint()}.")
    if isinstance(error, _OUR_FAULTS):
        _log.warning("reply not read", vendor=vendor, exc_info=error)
    return ProviderDown(f"{vendor} sent something that cannot be read ({kind}).")


def first_cause(error: BaseException) -> BaseException:
    """What an error was raised for: the SDKs call every failed connection of aiohttp a time-out."""
    while not isinstance(error, TimeoutError) and (cause := error.__cause__):
        error = cause
    return error


def answer_in(error: Exception) -> httpx2.Response | None:
    """What a server answered, where an SDK or httpx raised an error for its status."""
    answer = getattr(error, "response", None)
    return answer if isinstance(answer, httpx2.Response) and answer.is_error else None


def from_body(
    vendor: str,
    status: int,
    body: object,
    *,
    wait: float | None = None,
    key: str = "",
    prompt: str = "",
) -> ProviderError:
    """What the answer of a server that failed means; its words as in `translate`.

    The status is that of HTTP (0: it failed in the middle of a reply), the body JSON as read or
    text, `wait` the seconds it asks us to wait.
    """
    if isinstance(body, str):
        text = body[:_MESSAGE_CHARS]
        if text.lstrip()[:1] == "<":
            return _a_page(vendor, text, status)
        body = read_body(body)  # all of it: the part of an object is no JSON
    text = said_in(body)
    statuses = (said for field, said in _said(body) if field == "code" and _STATUS.fullmatch(said))
    reasons = (said for field, said in _said(body) if field in _REASONS and not said.isdigit())
    return _meaning(
        ServerFailure(
            vendor=vendor,
            status=status or int(next(statuses, 0)),
            code=code_of(body),
            reason=_fit_for_people(next(filter(None, reasons), ""), key, prompt),
            text=text,
            wait=_wait_in_words(text) if wait is None else wait,
        )
    )


def _a_page(vendor: str, text: str, status: int) -> ProviderError:
    """The error for a web page in place of a reply: of a firewall, a proxy or a sign-in."""
    title = _TITLE.search(text)
    name = " ".join(clean(html.unescape(title[1])).split()) if title else ""
    titled = f" “{name}”" if name else ""
    sentence = f"A web page{titled} answered in place of {vendor} ({status or 'no error'})."
    if httpx2.codes.is_server_error(status):
        return ProviderDown(sentence)
    hint = "a sign-in, a firewall, a proxy or another address"
    return RequestRejected(f"{sentence} It seems to be that of {hint}.")


def _fit_for_people(reason: str, key: str, prompt: str) -> str:
    """A server's words without secrets, on one line; none where they quote the prompt."""
    reason = reason[:_MESSAGE_CHARS]
    if key:
        reason = reason.replace(key, "[redacted]")
    text = " ".join(redact(clean(reason)).split())
    if len(text) > _REASON_CHARS:
        text = f"{text[:_REASON_CHARS].rsplit(' ', 1)[0]} …"
    spoken, sent = text.split(), " ".join(prompt.split())
    runs = (
        " ".join(spoken[at : at + _QUOTED_WORDS]) for at in range(len(spoken) - _QUOTED_WORDS + 1)
    )
    return "" if any(run in sent for run in runs) else text


def check_key(vendor: str, key: str) -> None:
    if not key:
        raise KeyRefused(f"No API key for {vendor} is set.")
    odd = next((sign for sign in key if not ("!" <= sign <= "~")), "")
    if odd:
        raise KeyRefused(
            f"The API key for {vendor} holds a sign that no key has (U+{ord(odd):04X}):"
            " copy it once more, then start Moot again."
        )


def refusal(vendor: str, reason: str) -> ReplyUnusable:
    return ReplyUnusable(
        f"{vendor} refused to answer: {_fit_for_people(reason, '', '').rstrip('.')}."
    )


# What a server says is wrong, wherever its body holds that.

#: Where a server says it: in the error that it passes on, else in its own fields.
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
    if isinstance(body, str) and body.lstrip()[:1] == "{" and len(body) <= _MESSAGE_CHARS:
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


def _wait_in_words(text: str) -> float | None:
    """Seconds that a server asks in words to wait."""
    named = _WAIT.search(text)
    if named is None or not any(named.group("h", "m", "s")):
        return None
    seconds = float(named["s"] or 0) / (1000 if named["unit"] == "ms" else 1)
    return int(named["h"] or 0) * 3600 + int(named["m"] or 0) * 60 + seconds


def _wait_in(headers: Mapping[str, str]) -> float | None:
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
