"""What all vendors' replies have in common: the time they may take, their shape, their thoughts.

The SDKs send requests and raise errors for statuses. Bodies are cut into JSON objects here, as
servers send JSON in one piece or an object a line where a stream was asked for, events that are no
JSON, and endless ones.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

import httpx2
import structlog

from core.errors import ProviderError
from core.figures import quantity, size
from core.llm.prompt_text import prompt_text
from core.llm.providers.errors import (
    ReplyFailed,
    empty,
    from_body,
    refusal,
    too_long,
    translate,
)
from core.llm.providers.fields import dig
from core.proxies import DIRECT
from core.request import ModelReply, ModelRequest
from core.settings import StallLimits
from core.usage import Usage

_log = structlog.get_logger(__name__)

#: What SDKs raise besides their own errors: a bad body or chunk is a ValueError, and odd shapes
#: trip them as TypeError or AttributeError. JSON in JSON a thousand times over is a RecursionError;
#: a silence that is too long is a TimeoutError.
BROKEN = (
    *(httpx2.HTTPError, httpx2.StreamError, ValueError, TypeError, AttributeError),
    *(RecursionError, TimeoutError, ReplyFailed),
)
#: Characters of a reply for each token asked for at most; a token of prose has about four. A server
#: may ignore the limit of tokens.
_CHARACTERS_PER_TOKEN = 16
#: A reply may always be this long, however few tokens were asked for.
_ALWAYS_ALLOWED = 10_000
#: Bytes of one event at most, or of a reply in one piece: the last event may hold a whole reply,
#: which is far shorter.
_LONGEST_EVENT = 4_000_000
#: Bytes of the body of an error that are read, as they come: what is wrong stands at the beginning.
_LONGEST_ERROR = 16_000
#: Seconds that are given to what follows a whole reply.
_DRAIN_SECONDS = 1.0
_BLANK = b"\xef\xbb\xbf \t\r\n"
#: Thoughts at the beginning of a reply; the template of a model may have opened them in the prompt.
_TAGS = "think|thinking|thought|reasoning"
_THOUGHT_CLOSES = {tag: re.compile(rf"</{tag}>", re.IGNORECASE) for tag in _TAGS.split("|")}
_THOUGHT_BEGINS = re.compile(rf"<({_TAGS})>", re.IGNORECASE)
#: The end of thoughts whose beginning the server kept to itself.
_THOUGHT_ENDS = re.compile(rf"^[ \t]*</(?:{_TAGS})>", re.IGNORECASE | re.MULTILINE)


#: Words of servers for the end of a reply that a filter stopped, and of one that failed.
_FILTERED = re.compile(
    r"filter|safety|sensitive|recitation|prohibited|blocklist|spii|refus", re.IGNORECASE
)
_FAILED = re.compile(r"error|abort|fail|cancel|time_?out|insufficient|overload", re.IGNORECASE)


class Reading(Protocol):
    """A reply while it arrives."""

    vendor: str
    #: As the server names it; empty until it does.
    model: str
    #: Characters of text that came so far.
    length: int

    def take(self, event: Any) -> bool:
        """Add one event, or all of a reply in one piece; True when the reply itself has begun.

        Raises:
            ReplyFailed: The event says that the reply failed.
        """
        ...

    def usage(self) -> Usage:
        """What was reported so far; its cost is None where the vendor does not name it."""
        ...

    def text(self) -> str:
        """The whole reply.

        Raises:
            ProviderError: It is not complete.
        """
        ...


async def read_reply(
    reading: Reading,
    response: httpx2.Response,
    request: ModelRequest,
    began: Callable[[], None],
    *,
    came: Callable[[], None],
) -> ModelReply:
    """The whole reply; says once when it begins.

    Args:
        reading: What the reply becomes.
        response: What the server sends.
        request: What was asked; far more than it allows is not read to its end.
        began: Called once, when the reply begins.
        came: Called whenever something came.

    Raises:
        ProviderError: It is not complete, or empty, or far longer than was asked for.
    """
    most = max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * request.max_output_tokens)
    begun = False
    lines = _lines(response.aiter_bytes(), reading.vendor, came)
    async for event in _json_objects(lines, reading.vendor):
        if reading.take(event) and not begun:
            begun = True
            began()
        if reading.length > most:
            raise too_long(reading.vendor, quantity(most, "character"))
    text = without_thoughts(reading.text())
    if len(text) > most:
        raise too_long(reading.vendor, quantity(most, "character"))
    if not text.strip():
        raise empty(reading.vendor)
    if not begun:
        began()
    headers = response.headers
    return ModelReply(
        text=text,
        usage=reading.usage(),
        model=reading.model or request.model,
        request_id=headers.get("x-request-id") or headers.get("request-id", ""),
    )


def without_thoughts(text: str) -> str:
    """A reply without the thoughts that some models write before it."""
    bare = text.lstrip()
    if begin := _THOUGHT_BEGINS.match(bare):
        end = _THOUGHT_CLOSES[begin[1].lower()].search(bare, begin.end())
        return bare[end.end() :].lstrip() if end else ""
    end = _THOUGHT_ENDS.search(text)
    if end is None or _THOUGHT_BEGINS.search(text, 0, end.start()):
        return text
    return text[end.end() :].lstrip()


def check_end(reading: Reading, reason: str) -> None:
    """Take an end of a reply that the protocol does not name; text with a neutral end counts.

    Raises:
        ReplyUnusable: The word is that of a filter.
        ProviderDown: The word is that of a failure.
    """
    if _FILTERED.search(reason):
        raise refusal(reading.vendor, f"the reply ended with {reason[:40]}")
    if _FAILED.search(reason):
        raise from_body(reading.vendor, 0, {"message": f"the reply ended with {reason[:40]}"})
    _log.warning(
        "unknown end of a reply", vendor=reading.vendor, model=reading.model, reason=reason[:40]
    )


@asynccontextmanager
async def stall_timeout(reading: Reading, stall: StallLimits) -> AsyncGenerator[Callable[[], None]]:
    """End the block when a server sends nothing for too long; a model may think before it writes.

    How long a reply may take altogether is its caller's business.

    Args:
        reading: What the reply becomes.
        stall: How long the server may be silent.

    Yields:
        What is to be called whenever bytes came. Pings and comments count, too.

    Raises:
        TimeoutError: The server was silent for too long.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(stall.first_token) as limit:

        def came() -> None:
            seconds = stall.between_tokens if reading.length else stall.first_token
            limit.reschedule(loop.time() + seconds)

        yield came


def failure(
    reading: Reading, error: Exception, request: ModelRequest, key: str = ""
) -> ProviderError:
    """The provider error for an exception, with the usage reported until then."""
    provider_error = translate(reading.vendor, error, key=key, prompt=prompt_text(request))
    provider_error.usage = reading.usage()
    return provider_error


async def _json_objects(lines: AsyncIterator[bytes], vendor: str) -> AsyncIterator[Any]:
    """The JSON objects in a body: data of server-sent events, one a line, or one over all of it.

    What the body holds decides, not what the server calls it. Lines without an object are passed
    over: names of events, comments, "data: pong".

    Raises:
        ValueError: It is JSON that cannot be read.
        ProviderError: It is a web page, or does not end.
    """
    whole, has_begun = bytearray(), False
    async for line in lines:
        if whole:
            whole += line
            if len(whole) > _LONGEST_EVENT:
                raise too_long(vendor, size(_LONGEST_EVENT))
            continue
        try:
            value = _object_in(line)
        except ValueError:
            if has_begun:
                raise
            whole += line  # the first one of many
            continue
        if value is not None:
            has_begun = True
            yield value
    if whole.lstrip(_BLANK).startswith(b"<"):
        raise from_body(vendor, 0, whole.decode(errors="replace"))
    if whole:
        yield _object_in(whole)


def _object_in(line: bytes | bytearray) -> Any:
    """The object in a line of a body; None: it holds none.

    Raises:
        ValueError: It begins as one and is none, or it begins as a web page does.
    """
    text = line.strip(_BLANK).removeprefix(b"data:").strip(_BLANK)
    if not text.startswith((b"{", b"[", b"<")):
        return None
    value = json.loads(text)
    return dig(value, 0) or value  # Gemini's compatible address puts it into a list


async def _lines(
    pieces: AsyncIterator[bytes], vendor: str, came: Callable[[], None]
) -> AsyncIterator[bytes]:
    """The lines of a body up to the one that ends a stream.

    Args:
        pieces: The body as it comes.
        vendor: Its name, for people.
        came: Called when something came, after its lines were taken.

    Raises:
        ReplyUnusable: A line does not end.
    """
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_EVENT:
            raise too_long(vendor, size(_LONGEST_EVENT))
        for line in lines:
            if line.rstrip() == b"data: [DONE]":
                await _drain(pieces)
                return
            yield line
        came()
    yield rest


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what follows a whole reply, so that its connection can be used again."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


class _BoundedBody(httpx2.AsyncByteStream):
    """A body that ends where enough of it has come."""

    def __init__(self, whole: Any, most: int) -> None:
        self._whole, self._left = whole, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._whole:
            yield piece[: self._left]
            self._left -= len(piece)
            if self._left <= 0:
                return

    async def aclose(self) -> None:
        await self._whole.aclose()


async def _bound_error(response: httpx2.Response) -> None:
    if response.status_code >= httpx2.codes.BAD_REQUEST:
        response.stream = _BoundedBody(response.stream, _LONGEST_ERROR)


def http_client(
    kind: type[httpx2.AsyncClient] = httpx2.AsyncClient, **options: Any
) -> httpx2.AsyncClient:
    """Return a client for servers of models: every one of them is made here.

    Proxies and certificates are those of the environment; addresses of this machine are asked
    directly. Errors are read to a point. Only making a connection has a limit of time: what comes
    over it is bounded by `stall_timeout`.

    Args:
        kind: The class of it; an SDK has its own.
        options: What is different.
    """
    usual = dict[str, Any](
        mounts=DIRECT,
        event_hooks={"response": [_bound_error]},
        timeout=httpx2.Timeout(None, connect=10.0),
    )
    return kind(**(usual | options))
