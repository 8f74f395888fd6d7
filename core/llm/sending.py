"""Proves right before the bytes of a request that whoever asks may still ask.

A replica proves that it holds its debate before each attempt. Frozen between that and the first
byte (a connection may have to be made first), it is taken over, and what another replica has asked
since must not go out when it thaws. See decision 0046.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

#: Raises if whoever asks may ask no longer.
Prove = Callable[[], Awaitable[None]]


@dataclass
class Sending:
    """What is known of an attempt's requests on their way."""

    prove: Prove | None = None
    #: What the proof raised.
    refusal: Exception | None = None
    #: Whether an HTTP client tells of its steps; else nothing is known.
    is_watched: bool = False
    #: Whether the last piece of a request went out.
    is_sent: bool = False

    @property
    def is_held_back(self) -> bool:
        """Whether nothing that a vendor could answer has left for certain."""
        return self.is_watched and not self.is_sent


_sending: ContextVar[Sending | None] = ContextVar("sending", default=None)


@asynccontextmanager
async def proving(prove: Prove | None) -> AsyncGenerator[Sending]:
    """Await `prove`, and again before the head and before the body of each request in this block.

    Args:
        prove: None: nobody else could ask.

    Yields:
        What becomes of the requests.

    Raises:
        Exception: What `prove` raised, whatever an SDK made of it.
    """
    if prove:
        await prove()
    sending = Sending(prove)
    token = _sending.set(sending)
    try:
        yield sending
    except Exception:
        if sending.refusal:
            raise sending.refusal from None
        raise
    finally:
        _sending.reset(token)


class Sent(Protocol):
    """A request of an HTTP client, as far as it matters here."""

    extensions: Any


async def _watch(request: Sent) -> None:
    request.extensions = {**request.extensions, "trace": _prove_before}
    if sending := _sending.get():
        sending.is_watched = True


async def _prove_before(step: str, told: Mapping[str, Any]) -> None:
    # A request whose head alone was sent is answered by nobody. Its last piece counts.
    is_last = step.endswith("send_request_body.started")
    sending = _sending.get()
    if not sending or not (is_last or step.endswith("send_request_headers.started")):
        return
    if sending.prove:
        try:
            await sending.prove()
        except Exception as refusal:
            sending.refusal = refusal
            raise
    # What opens the way through a proxy is no question to a vendor.
    is_question = getattr(told.get("request"), "method", b"") != b"CONNECT"
    sending.is_sent = sending.is_sent or (is_last and is_question)


#: For HTTP clients that ask models: called with each request.
SENDING_HOOKS: Sequence[Callable[[Any], Awaitable[None]]] = (_watch,)
