"""Every way a vendor can fail, as the error that says what to do about it.

What a server says decides, before its status: a proxy sends 400 for a refused key, Gemini 429 for a
quota of a day. The words never hold a key or anything of the prompt.
"""

import html
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from itertools import chain

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
from core.llm.providers.error_bodies import (
    MESSAGE_MAX_CHARS,
    code_of,
    read_body,
    reason_in,
    said_in,
    status_in,
    wait_in,
    wait_in_words,
)
from core.proxies import proxy_hint
from core.redaction import clean, redact

_log = structlog.get_logger(__name__)

#: Characters of a server's own reason that people are shown.
_REASON_CHARS = 200
#: So many words of the prompt in a row are a quotation of it.
_QUOTED_WORDS = 4
#: Seconds that are worth telling people: who asks for less is simply waited for.
_LONG_WAIT = 600.0
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500
#: What servers and networks do not cause; the log then says where it was raised.
_OUR_FAULTS = (LookupError, TypeError, AttributeError, ImportError)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)
_TOO_LONG = re.compile(
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


def _too_long(failure: ServerFailure) -> ProviderError:
    numbers = _CONTEXT_TOKENS.search(failure.text)
    named = re.search(r"n_ctx: (\d{3,9})", failure.text)
    tokens = int(named[1]) if named else 0
    if numbers:
        tokens = int(next(number for number in numbers.groups() if number).replace(",", ""))
    holds = f"; it holds {quantity(tokens, 'token')}" if tokens else ""
    return PromptTooLong(
        failure.say(
            f"says that the prompt is too long{holds}",
            "`context_tokens` under `models` says how much a model holds.",
        ),
        tokens=tokens,
    )


def says_too_long(text: str) -> bool:
    """Whether a server says that a prompt, or what was asked for, is longer than it takes."""
    return bool(_TOO_LONG.search(text))


def _says(
    kind: type[ProviderError], what: str, advice: str = ""
) -> Callable[[ServerFailure], ProviderError]:
    """What makes an error of this kind from a failure."""
    return lambda failure: kind(failure.say(what, advice))


def _used_up(failure: ServerFailure) -> ProviderError:
    # Also a day's limit lets some through again after minutes, unless it is none at all.
    if failure.wait and "limit: 0" not in failure.text:
        return _busy(failure)
    until = "it is there again tomorrow, or when the quota is raised"
    return KeyRefused(failure.say(f"says that the daily quota is used up; {until}"))


def _busy(failure: ServerFailure) -> ProviderError:
    asks = ""
    if failure.wait and failure.wait >= _LONG_WAIT:
        asks = f"; it asks to wait {duration(round(failure.wait))}"
    return ProviderBusy(
        failure.say(f"is overloaded or limits our rate{asks}"), retry_after=failure.wait
    )


_no_payment = _says(
    KeyRefused,
    "wants payment, or the account's quota is used up",
    "Check the account, then start Moot again.",
)
_key_refused = _says(
    KeyRefused,
    "refuses the API key or wants payment",
    "Check the key and the account, then start Moot again.",
)
_rejected = _says(RequestRejected, "rejects the request")
#: What its words say, in this order, before the status is looked at: the words, the statuses they
#: may come with (0: none), and what it is.
_BY_WORDS: tuple[
    tuple[re.Pattern[str], Container[int], Callable[[ServerFailure], ProviderError]], ...
] = (
    (_TOO_LONG, {*range(600)} - {401, 403, 429}, _too_long),
    (
        re.compile(r"country|territory|location is not supported", re.IGNORECASE),
        {0, 400, 403, 451},
        _says(KeyRefused, "does not serve this country or region"),
    ),
    (re.compile(r"per_?-? ?day|daily|limit: 0\b", re.IGNORECASE), {0, 403, 429}, _used_up),
    (
        re.compile(
            r"insufficient_quota|insufficient balance|billing|credit balance|payment|current quota",
            re.IGNORECASE,
        ),
        {0, 200, 400, 402, 403, 429},
        _no_payment,
    ),
    (
        re.compile(
            r"authentication|invalid_api_key|api_key_invalid|api.?key not valid|incorrect api key"
            r"|permission_error|permission_denied|unauthori[sz]ed",
            re.IGNORECASE,
        ),
        {*range(500)} - {404, 429},
        _key_refused,
    ),
    (
        re.compile(
            r"content_filter|content management policy|responsible ?ai|requires moderation",
            re.IGNORECASE,
        ),
        range(499),
        _says(RequestRejected, "stopped the prompt with its content filter"),
    ),
    (
        re.compile(
            r"requires more (?:system )?memory|not enough memory|out of memory"
            r"|insufficient (?:system resources|memory)",
            re.IGNORECASE,
        ),
        {0, 400, 424, *range(500, 600)},
        _says(
            RequestRejected,
            "cannot load the model",
            "Choose a smaller one, or give it more memory.",
        ),
    ),
)
#: What a short code means where there is no status.
_BY_CODE = (
    (re.compile(r"overloaded|rate_limit|too_many|slow_down|capacity|unavailable"), _busy),
    (re.compile(r"invalid|not_found|too_large|unsupported"), _rejected),
    (re.compile(""), _says(ProviderDown, "failed while answering")),
)
#: What a status means where nothing more is said.
_BY_STATUS = (
    ({402}, _no_payment),
    ({401, 403}, _key_refused),
    ({429, 498, 503, 529}, _busy),
    ({408, 409, 425, *range(500, 1000)}, _says(ProviderDown, "failed")),
    (range(400, 500), _rejected),
)


def meaning(failure: ServerFailure) -> ProviderError:
    """The error for a server's failure, by its words, status or code."""
    status = failure.status
    by_words = (
        error
        for pattern, statuses, error in _BY_WORDS
        if status in statuses and pattern.search(failure.text)
    )
    by_status = (error for statuses, error in _BY_STATUS if status in statuses)
    by_code = (error for code, error in _BY_CODE if code.search(failure.code))
    return next(chain(by_words, by_status, by_code))(failure)


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
        wait, status = wait_in(answer.headers), answer.status_code
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
    is_error = isinstance(answer, httpx2.Response) and answer.status_code >= _FIRST_ERROR
    return answer if is_error else None


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
        text = body[:MESSAGE_MAX_CHARS]
        if text.lstrip()[:1] == "<":
            return a_page(vendor, text, status)
        body = read_body(body)  # all of it: the part of an object is no JSON
    text = said_in(body)
    return meaning(
        ServerFailure(
            vendor=vendor,
            status=status or status_in(body),
            code=code_of(body),
            reason=_fit_for_people(reason_in(body), key, prompt),
            text=text,
            wait=wait_in_words(text) if wait is None else wait,
        )
    )


def a_page(vendor: str, text: str, status: int = 0) -> ProviderError:
    """The error for a web page in place of a reply: of a firewall, a proxy or a sign-in."""
    title = _TITLE.search(text)
    name = " ".join(clean(html.unescape(title[1])).split()) if title else ""
    titled = f" “{name}”" if name else ""
    sentence = f"A web page{titled} answered in place of {vendor} ({status or 'no error'})."
    if status >= _FIRST_SERVER_ERROR:
        return ProviderDown(sentence)
    hint = "a sign-in, a firewall, a proxy or another address"
    return RequestRejected(f"{sentence} It seems to be that of {hint}.")


def _fit_for_people(reason: str, key: str, prompt: str) -> str:
    """A server's words without secrets, on one line; none where they quote the prompt."""
    reason = reason[:MESSAGE_MAX_CHARS]
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


def ended_early(vendor: str) -> ProviderDown:
    """A stream that ended without saying that the reply is complete."""
    return ProviderDown(f"{vendor} ended the reply early.")


def too_long(vendor: str, after: str) -> ReplyUnusable:
    return ReplyUnusable(
        f"{vendor} did not keep to the length asked for: the reply was cut off after {after}."
    )


def refusal(vendor: str, reason: str = "") -> ReplyUnusable:
    text = f": {_fit_for_people(reason, '', '').rstrip('.')}" if reason else ""
    return ReplyUnusable(f"{vendor} refused to answer{text}.")
