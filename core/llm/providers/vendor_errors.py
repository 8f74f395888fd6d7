"""Every way a vendor can fail, as the error that says what to do about it.

The words name the vendor, the status and the vendor's short code, never its message: messages
quote keys and prompts.
"""

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Never, cast

from core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderSilent,
    ReplyCutOff,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers.fields import dig, words
from core.models import Usage

#: Longer bodies and messages of errors are not read: what is wrong stands at the beginning.
MESSAGE_MAX_CHARS = 4000
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,50}")
_BUSY_CODES = re.compile(r"overloaded|rate_limit|too_many|slow_down|capacity|unavailable")
_KEY_CODES = re.compile(r"authentication|permission|invalid_api_key|insufficient_quota|billing")
_REQUEST_CODES = re.compile(r"invalid|not_found|too_large|unsupported|context_length")
_BUSY_STATUSES = frozenset({429, 503, 529})
_KEY_STATUSES = frozenset({401, 402, 403})
_PASSING_STATUSES = frozenset({408, 409, 425})
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500


def translate(vendor: str, error: Exception) -> ProviderError:
    """What an error of an SDK or of the network means.

    Args:
        vendor: Its name, for people.
        error: What was raised.
    """
    if isinstance(error, ProviderError):
        return error
    # In the middle of a stream some vendors send the status as a code.
    status = dig(error, "status_code") or dig(error, "body", "code")
    if isinstance(status, int) and status >= _FIRST_ERROR:
        return from_status(vendor, status, code_of(error), retry_after(error))
    code = code_of(error)
    if code:
        return from_code(vendor, code)
    kind = type(error).__name__
    if "Timeout" in kind:
        return ProviderSilent(f"{vendor} stopped answering.")
    if isinstance(error, ValueError | TypeError | AttributeError | RecursionError):
        return ProviderDown(f"{vendor} sent something that cannot be read ({kind}).")
    return ProviderDown(f"The connection to {vendor} failed ({kind}).")


def from_status(
    vendor: str, status: int, code: str = "", wait: float | None = None
) -> ProviderError:
    """What an HTTP status means.

    Args:
        vendor: Its name, for people.
        status: 400 or above.
        code: The vendor's short code for what is wrong.
        wait: Seconds it asks us to wait.
    """
    detail = f"{status}, {code}" if code else f"{status}"
    if status in _KEY_STATUSES or _KEY_CODES.search(code):
        return _key_refused(vendor, detail)
    if status in _BUSY_STATUSES:
        return ProviderBusy(
            f"{vendor} is overloaded or limits our rate ({detail}).", retry_after=wait
        )
    if status >= _FIRST_SERVER_ERROR or status in _PASSING_STATUSES:
        return ProviderDown(f"{vendor} failed ({detail}).")
    return RequestRejected(f"{vendor} rejects the request ({detail}).")


def from_code(vendor: str, code: str) -> ProviderError:
    """What the vendor's code for a failure in the middle of a reply means."""
    if _BUSY_CODES.search(code):
        return ProviderBusy(f"{vendor} is overloaded or limits our rate ({code}).")
    if _KEY_CODES.search(code):
        return _key_refused(vendor, code)
    if _REQUEST_CODES.search(code):
        return RequestRejected(f"{vendor} rejects the request ({code}).")
    return ProviderDown(f"{vendor} failed while answering ({code}).")


def _key_refused(vendor: str, detail: str) -> KeyRefused:
    """A refused key: only a person can mend it, so the words say how."""
    return KeyRefused(
        f"{vendor} refuses the API key or wants payment ({detail}). "
        "Check the key and the account, then start Moot again."
    )


def code_of(error: object) -> str:
    """The vendor's short code for what is wrong; empty when it has none that looks like one."""
    body = dig(error, "body")
    found = [
        words(error, "code"),
        words(body, "error", "code"),
        words(body, "code"),
        words(error, "type"),
        words(body, "error", "type"),
        words(body, "type"),
    ]
    return next((code for code in found if _CODE.fullmatch(code)), "")


def code_of_body(text: str) -> str:
    """The vendor's short code in the body of an answer; empty when there is none."""
    if len(text) > MESSAGE_MAX_CHARS:
        return ""
    try:
        return code_of({"body": json.loads(text)})
    except (ValueError, RecursionError):
        return ""


def retry_after(error: object) -> float | None:
    """Seconds the vendor asks us to wait, from its headers; None if it does not say."""
    headers = dig(error, "response", "headers")
    return wait_in(cast("Mapping[str, str]", headers)) if isinstance(headers, Mapping) else None


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


def ended_early(vendor: str) -> ProviderDown:
    """A stream that ended without saying that the reply is complete."""
    return ProviderDown(f"{vendor} ended the reply early.")


def cut_off(vendor: str) -> ReplyCutOff:
    """The reply reached its token limit."""
    return ReplyCutOff(f"The reply of {vendor} was cut off at its length limit.")


def too_long(vendor: str, after: str) -> ReplyUnusable:
    """A reply that went on far beyond its cap."""
    return ReplyUnusable(
        f"{vendor} did not keep to the length asked for: the reply was cut off after {after}."
    )


def refused(vendor: str) -> ReplyUnusable:
    """The model refused to answer."""
    return ReplyUnusable(f"{vendor} refused to answer.")


def empty(vendor: str) -> ReplyUnusable:
    """The reply has no text."""
    return ReplyUnusable(f"The reply of {vendor} holds no text.")


def fail(error: ProviderError, usage: Usage) -> Never:
    """Raise the error with what was spent until it happened."""
    error.usage = usage
    raise error from None
