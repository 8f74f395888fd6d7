"""Proves right before the bytes of a request that whoever asks may still ask.

A replica proves that it holds its debate before each attempt. Frozen between that and the first
byte (a connection may have to be made first), it is taken over, and what another replica has asked
since must not go out when it thaws. See decision 0046.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

#: Raises if whoever asks may ask no longer.
Prove = Callable[[], Awaitable[None]]


@dataclass
class _Attempt:
    prove: Prove
    #: What the proof raised.
    refusal: Exception | None = None


_attempt: ContextVar[_Attempt | None] = ContextVar("attempt", default=None)


@asynccontextmanager
async def proving(prove: Prove) -> AsyncGenerator[None]:
    """Await `prove`, and again before the head and before the body of each request in this block.

    Raises:
        Exception: What `prove` raised, whatever an SDK made of it.
    """
    await prove()
    attempt = _Attempt(prove)
    token = _attempt.set(attempt)
    try:
        yield
    except Exception:
        if attempt.refusal:
            raise attempt.refusal from None
        raise
    finally:
        _attempt.reset(token)


class Sent(Protocol):
    """A request of an HTTP client, as far as it matters here."""

    extensions: Any


async def _watch(request: Sent) -> None:
    request.extensions = {**request.extensions, "trace": _prove_before}


async def _prove_before(step: str, _: Mapping[str, Any]) -> None:
    # A request whose head alone was sent is answered by nobody. Its last piece counts.
    is_next = step.endswith(("send_request_headers.started", "send_request_body.started"))
    attempt = _attempt.get()
    if is_next and attempt:
        try:
            await attempt.prove()
        except Exception as refusal:
            attempt.refusal = refusal
            raise


#: For HTTP clients that ask models.
EVENT_HOOKS: Mapping[str, list[Callable[[Any], Awaitable[None]]]] = {"request": [_watch]}
