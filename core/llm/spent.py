"""What a call that failed has spent: carried by the error, so that it can be booked."""

from typing import TypeVar

from core.models import Call, Usage

E = TypeVar("E", bound=BaseException)


def with_usage(error: E, usage: Usage) -> E:
    """The same error, carrying what was spent until it happened."""
    vars(error)["usage"] = usage
    return error


def with_call(error: E, call: Call) -> E:
    """The same error, carrying the call that led to it, and its usage."""
    vars(error)["call"] = call
    return with_usage(error, call.usage)


def usage_of(error: BaseException) -> Usage:
    """What was spent until this error happened; nothing when it carries nothing."""
    found = vars(error).get("usage")
    return found if isinstance(found, Usage) else Usage()


def call_of(error: BaseException) -> Call | None:
    """The call that led to this error, when there was a whole reply."""
    found = vars(error).get("call")
    return found if isinstance(found, Call) else None
