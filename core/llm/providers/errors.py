"""Maps failures of vendors to provider errors that say what to do.

The text of a response has precedence over its status: a proxy sends 400 for a refused key, Gemini
429 for a daily quota. Messages of errors contain neither a key nor text of the prompt.
"""

import html
import json
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
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

#: Characters that are read of an error's body and message.
_MESSAGE_CHARS = 4000
#: Characters of a server's reason that are shown to people.
_REASON_CHARS = 200
#: A reason with so many consecutive words of the prompt quotes it.
_QUOTED_WORDS = 4
#: Shortest wait, in seconds, that is shown to people.
_LONG_WAIT = 600.0
#: Errors that neither servers nor networks cause; they are logged with a traceback.
_OUR_FAULTS = (LookupError, TypeError, AttributeError, ImportError)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)


class ReplyFailed(Exception):
    """A server reports a failure within a reply."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body


@dataclass(frozen=True, kw_only=True)
class ServerFailure:
    vendor: str
    #: The HTTP status, or a code within a reply; 0: none.
    status: int = 0
    #: The vendor's error code.
    code: str = ""
    #: The server's reason, safe to show to people.
    reason: str = ""
    #: All texts of the error; for searching only.
    text: str = ""
    #: Seconds that the server asks to wait.
    wait: float | None = None

    def say(self, predicate: str, advice: str = "") -> str:
        """A sentence about the vendor, with its status, code and reason."""
        detail = ", ".join(part for part in (str(self.status or ""), self.code) if part)
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        text = f"{self.vendor} {predicate} ({detail or 'no code'}){reason}."
        return f"{text} {advice}".rstrip()


_Meaning = Callable[[ServerFailure], ProviderError]

#: Texts for a prompt or a reply that is longer than the model allows.
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
    r"|limit (\d[\d,]{2,9}), requested"
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
    # A daily quota with a wait may allow calls again after minutes, unless the quota is 0.
    if failure.wait and "limit: 0" not in failure.text:
        return _busy(failure)
    remedy = "it is there again tomorrow, or when the quota is raised"
    return KeyRefused(failure.say(f"says that the daily quota is used up; {remedy}"))


def _says(kind: type[ProviderError], predicate: str, advice: str = "") -> _Meaning:
    return lambda failure: kind(failure.say(predicate, advice))


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
#: Meanings of texts, checked in this order before the status: a pattern, the statuses for which it
#: holds (0: none) and the error.
_BY_WORDS: tuple[tuple[re.Pattern[str], Container[int], _Meaning], ...] = (
    (TOO_LONG, {*range(600)} - {401, 403, 429}, _too_long),
    (re.compile(r"(?i)request too large"), {429}, _too_long),
    (
        re.compile(r"(?i)country|territory|location is not supported"),
        {0, 400, 403, 451},
        _says(KeyRefused, "does not serve this country or region"),
    ),
    (re.compile(r"(?i)per_?-? ?day|daily|limit: 0\b"), {0, 403, 429}, _used_up),
    (
        re.compile(
            r"(?i)insufficient_quota|insufficient balance|billing|credit balance|payment"
            r"|current quota|budget_exceeded|budget has been exceeded!"
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
        re.compile(r"(?i)model (?:is |has been )?unloaded|model has (?:unloaded or )?crashed"),
        {0, 400},
        _says(ProviderDown, "lost the model"),
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
#: Meanings of statuses.
_BY_STATUS: tuple[tuple[Container[int], _Meaning], ...] = (
    ({402}, _NO_PAYMENT),
    ({401, 403}, _KEY_REFUSED),
    ({429, 498, 503, 529}, _busy),
    ({408, 409, 425, *range(500, 1000)}, _says(ProviderDown, "failed")),
    (range(400, 500), _REJECTED),
)
#: Meanings of error codes without a status.
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

    Its message contains neither the key nor a quotation of the prompt.
    """
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, ReplyFailed):
        return from_body(vendor, 0, error.body, key=key, prompt=prompt)
    answer = answer_in(error)
    if answer is not None:
        wait, status = _header_wait(answer.headers), answer.status_code
        return from_body(vendor, status, answer.text, wait=wait, key=key, prompt=prompt)
    first = first_cause(error)
    kind = type(first).__name__
    if isinstance(first, TimeoutError) or "Timeout" in kind:  # httpx2 does not use TimeoutError
        return ProviderSilent(f"{vendor} stopped answering.")
    if isinstance(error, httpx2.RequestError) or re.search(
        "Connection|Timeout", type(error).__name__
    ):
        return ProviderDown(f"The connection to {vendor} failed ({kind}){proxy_hint()}.")
    if isinstance(error, _OUR_FAULTS):
        _log.warning("reply not read", vendor=vendor, exc_info=error)
    return ProviderDown(f"{vendor} sent something that cannot be read ({kind}).")


def first_cause(error: BaseException) -> BaseException:
    """The first cause of an error: SDKs report each failed connection of aiohttp as a timeout."""
    while not isinstance(error, TimeoutError) and (cause := error.__cause__):
        error = cause
    return error


def answer_in(error: Exception) -> httpx2.Response | None:
    """The response, if an SDK or httpx raised the error for its status."""
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
    """The error for a failure response; for its message see `translate`.

    `status` is the HTTP status (0: failure within a reply), `body` parsed JSON or text, `wait` the
    seconds that the server asks to wait.
    """
    if isinstance(body, str):
        text = body[:_MESSAGE_CHARS]
        if text.lstrip()[:1] == "<":
            return _a_page(vendor, text, status)
        body = read_body(body)  # a truncated object would be no JSON
    texts = list(_error_texts(body))
    text = error_text(body)
    statuses = (text for field, text in texts if field == "code" and _STATUS.fullmatch(text))
    reasons = (text for field, text in texts if field in _REASONS and not text.isdigit())
    return _meaning(
        ServerFailure(
            vendor=vendor,
            status=status or int(next(statuses, 0)),
            code=error_code(body),
            reason=_public_reason(next(filter(None, reasons), ""), key, prompt),
            text=text,
            wait=_wait_in_words(text) if wait is None else wait,
        )
    )


def _a_page(vendor: str, text: str, status: int) -> ProviderError:
    """The error for a web page instead of a reply, such as that of a firewall or a sign-in."""
    title = _TITLE.search(text)
    name = " ".join(clean(html.unescape(title[1])).split()) if title else ""
    quoted_name = f" “{name}”" if name else ""
    sentence = f"A web page{quoted_name} answered in place of {vendor} ({status or 'no error'})."
    if httpx2.codes.is_server_error(status):
        return ProviderDown(sentence)
    hint = "a sign-in, a firewall, a proxy or another address"
    return RequestRejected(f"{sentence} It seems to be that of {hint}.")


def _public_reason(reason: str, key: str, prompt: str) -> str:
    """A server's reason on one line, without secrets; empty if it quotes the prompt."""
    reason = reason[:_MESSAGE_CHARS]
    if key:
        reason = reason.replace(key, "[redacted]")
    text = " ".join(redact(clean(reason)).split())
    if len(text) > _REASON_CHARS:
        text = f"{text[:_REASON_CHARS].rsplit(' ', 1)[0]} …"
    reason_words, prompt_line = text.split(), " ".join(prompt.split())
    quotes = (
        " ".join(reason_words[index : index + _QUOTED_WORDS])
        for index in range(len(reason_words) - _QUOTED_WORDS + 1)
    )
    return "" if any(quote in prompt_line for quote in quotes) else text


def check_key(vendor: str, key: str) -> None:
    if not key:
        raise KeyRefused(f"No API key for {vendor} is set.")
    invalid = next((sign for sign in key if not ("!" <= sign <= "~")), "")
    if invalid:
        raise KeyRefused(
            f"The API key for {vendor} holds a sign that no key has (U+{ord(invalid):04X}):"
            " copy it once more, then start Moot again."
        )


def refusal(vendor: str, reason: str) -> ReplyUnusable:
    return ReplyUnusable(
        f"{vendor} refused to answer: {_public_reason(reason, '', '').rstrip('.')}."
    )


#: Fields with texts of an error: first those with the error of a server behind a gateway.
_FIELDS = (
    *("error", "response", "cause", "metadata", "raw", "code", "type", "status"),
    *("message", "detail", "error_description", "reason", "msg", "details", "incomplete_details"),
    *("errors", "violations", "quotaId", "param", "n_ctx", "retryDelay", "base_resp", "status_msg"),
)
_CODES = frozenset({"code", "type", "status"})
_REASONS = frozenset(
    {"", "raw", "error", "message", "detail", "error_description", "reason", "msg", "status_msg"}
)
#: Levels of a body that are read, entries of a list, and characters of a text.
_DEPTH, _MOST_PARTS, _SEARCHED_CHARS = 8, 5, 300
#: Fields whose name is put before the value.
_NAMED_FIELDS = frozenset({"param", "retryDelay"})
#: A wait in the text of an error: messages of Groq and OpenAI, Gemini's `retryDelay`.
_WAIT = re.compile(
    r"(?:try again in|retry (?:in|after)|retryDelay:) (?:(?P<h>\d{1,3})h ?)?"
    r"(?:(?P<m>\d{1,4})m(?!s) ?)?(?:(?P<s>\d{1,6}(?:\.\d{1,20})?)(?P<unit>ms|s)\b)?",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://\S+")
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,50}")


def read_body(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _error_texts(body: object, field: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Fields of an error and their texts, those of the innermost object first.

    Gateways send the error of the server behind them as JSON in a text (`cause`, `raw`).
    """
    if isinstance(body, str) and body.lstrip()[:1] == "{" and len(body) <= _MESSAGE_CHARS:
        body = read_body(body)
    if isinstance(body, bool):
        return  # `"error": true` repeats the status
    if isinstance(body, str | int):
        yield field, str(body)
    elif isinstance(body, list) and depth:
        for part in cast("list[object]", body)[:_MOST_PARTS]:
            yield from _error_texts(part, field, depth - 1)
    elif isinstance(body, dict) and depth:
        fields = cast("dict[str, object]", body)
        if location := items(fields, "loc"):
            fields = fields | {"msg": f"{words(fields, 'msg')}: {'.'.join(map(str, location))}"}
        for name in _FIELDS:
            if name in fields:
                yield from _error_texts(fields[name], name, depth - 1)


def error_code(body: object) -> str:
    """The server's error code; empty if there is none."""
    codes = (text for field, text in _error_texts(body) if field in _CODES and text != "error")
    return next(filter(_CODE.fullmatch, codes), "")


def error_text(body: object) -> str:
    """All texts of an error without links, for searching only.

    Some servers quote the prompt after the reason, so each text is cut to `_SEARCHED_CHARS`.
    """
    texts = "\n".join(
        (f"{field}: {text}" if field in _NAMED_FIELDS or text.isdigit() else text)[:_SEARCHED_CHARS]
        for field, text in _error_texts(body)
    )
    return _LINK.sub("", texts)


def _wait_in_words(text: str) -> float | None:
    """The wait in an error's text, in seconds."""
    match = _WAIT.search(text)
    if match is None or not any(match.group("h", "m", "s")):
        return None
    seconds = float(match["s"] or 0) / (1000 if match["unit"] == "ms" else 1)
    return int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + seconds


def _header_wait(headers: Mapping[str, str]) -> float | None:
    """The wait in `retry-after-ms` or `retry-after` (seconds or a date, RFC 9110), in seconds."""
    millis, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    with suppress(ValueError):
        wait = float(millis) / 1000 if millis else float(value)
        return max(0.0, wait) if math.isfinite(wait) else None
    now = headers.get("date", "")
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(now)).total_seconds())
    except (ValueError, TypeError):
        return None
