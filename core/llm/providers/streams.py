"""Reads any vendor's reply, streamed or in one piece, and turns its failures into our errors.

SDKs make a typed object of each event, which costs a hundred times what is needed of it; so the
SDK asks and says what is wrong, and what comes is read here, as plain JSON.
"""

import asyncio
import json
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
)
from typing import Any, NamedTuple, Never, Protocol, cast

import httpx2

from core.figures import counted, size
from core.llm.providers.fields import words
from core.llm.providers.vendor_errors import empty, fail, too_long, translate
from core.models import Usage
from core.request import ModelReply, ModelRequest
from core.settings import StallLimits

#: What SDKs raise besides their own errors: a bad body or chunk is a ValueError, and odd shapes
#: trip them as TypeError or AttributeError. JSON in JSON a thousand times over is a RecursionError;
#: a silence that is too long is a TimeoutError (`read_reply`).
BROKEN = (
    *(httpx2.HTTPError, httpx2.StreamError, ValueError, TypeError, AttributeError),
    *(RecursionError, TimeoutError),
)


#: Characters of a reply for each token asked for at most; a token of prose has about four. A server
#: may ignore the limit of tokens.
_CHARACTERS_PER_TOKEN = 16
#: A reply may always be this long, however few tokens were asked for.
_ALWAYS_ALLOWED = 10_000


#: Between two rests a stream is read for so many seconds; then for so long events are left to
#: gather, as nobody reads along once it has begun. Each read of the network costs more than the
#: event it brings. A reply comes later by this share of its time at most: with less, most reads of
#: its first seconds bring one event.
_READING_SECONDS, _LONGEST_REST, _REST_SHARE = 0.002, 0.1, 0.1
_END_OF_LINE = re.compile(rb"\r\n|\n|\r")
#: Bytes of one event at most, or of a reply in one piece: the last event may hold a whole reply,
#: which is far shorter.
_LONGEST_EVENT = 4_000_000
_DONE = b"[DONE]"
_BEGINS_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
#: Bytes of the body of an error that are read, as they come: what is wrong stands at the beginning.
_LONGEST_ERROR = 16_000


class _Endless(ValueError):
    """An event or a body is far longer than any reply, and was not read to its end."""


def comes_whole(response: httpx2.Response) -> bool:
    """Whether the reply comes in one piece: some servers stream nothing, though asked to."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json"


async def read_events(
    pieces: AsyncIterable[bytes],
    *,
    fails: Callable[[str, Any], Exception | None] = lambda _name, _found: None,
    whole: bool = False,
) -> AsyncGenerator[Any]:
    """The JSON of each server-sent event, up to the stream's end; or that of the whole body.

    Args:
        pieces: The body, cut anywhere.
        fails: From an event's name and JSON: what it is to raise, if it says that the reply failed.
        whole: Whether the body is one JSON object, which then counts as the only event.

    Raises:
        ValueError: An event is no JSON, or no text, or far too long.
        Exception: What `fails` returned.
    """
    if whole:
        body = bytearray()
        async for piece in pieces:
            body += piece
            if len(body) > _LONGEST_EVENT:
                raise _Endless("a body that does not end")
        if not body.lstrip().startswith(_BEGINS_EVENTS):
            found = json.loads(body)
            yield found  # first, as what has failed may say what it has cost
            if error := fails(words(found, "type"), found):
                raise error
            return
        pieces = _once(bytes(body))  # a server may call a stream JSON
    cutting, done = _EventCutter(), False
    async for piece in pieces:
        for name, body in cutting.take(piece):
            # What comes after the end is only read so that the connection can be used again.
            done = done or body.startswith(_DONE)
            found = None if done else json.loads(body)
            if not done and (error := fails(name.decode(), found)):
                raise error
            if not done:
                yield found


async def _once(body: bytes) -> AsyncGenerator[bytes]:
    yield body


class _EventCutter:
    """Cuts a body into server-sent events: their names and data.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self) -> None:
        #: A lone \r at the end of a piece: what follows decides whether the line ends there.
        self._held = b""
        #: The line that has not ended yet.
        self._line = bytearray()
        self._name = b""
        self._data: list[bytes] = []
        #: Bytes of the lines that its data stood in.
        self._size = 0

    def take(self, piece: bytes) -> list[tuple[bytes, bytes]]:
        """The events that are whole now.

        Raises:
            _Endless: One does not end.
        """
        fresh = self._held + piece
        upto = len(fresh) - fresh.endswith(b"\r")
        self._held = fresh[upto:]
        found: list[tuple[bytes, bytes]] = []
        # Only what is new is searched: a line may come in thousands of pieces.
        *ended, rest = _END_OF_LINE.split(fresh[:upto])
        for part in ended:
            self._line += part
            line = bytes(self._line)
            self._line.clear()
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._size += len(line)
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif not line:
                if self._data:
                    found.append((self._name, b"\n".join(self._data)))
                self._name, self._data, self._size = b"", [], 0
        self._line += rest
        if self._size + len(self._line) > _LONGEST_EVENT:
            raise _Endless("an event that does not end")
        return found


class StreamReader(Protocol):
    """A reply while it arrives."""

    vendor: str
    #: As the server names it; empty until it does.
    model: str
    #: Characters of text that came so far.
    length: int

    def take(self, event: Any) -> bool:
        """Add one event, or all of a reply in one piece; True when the reply itself has begun.

        Raises:
            ProviderError: The event says that the reply failed.
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


class Arrival(NamedTuple):
    """What a server sends."""

    #: Of the stream; or the only one of a reply in one piece.
    events: AsyncIterable[Any]
    #: Whether it is in one piece.
    whole: bool
    #: What the vendor calls the request; empty: nothing.
    request_id: str = ""


async def read_reply(
    reading: StreamReader,
    coming: Arrival,
    request: ModelRequest,
    began: Callable[[], None],
    *,
    stall: StallLimits,
) -> ModelReply:
    """The whole reply; says once when it begins.

    Args:
        reading: What the reply becomes.
        coming: What the server sends.
        request: What was asked; far more than it allows is not read to its end.
        began: Called once, when the reply begins.
        stall: How long the server may be silent.

    Raises:
        ProviderError: It is not complete, or empty, or far longer than was asked for.
        TimeoutError: The server was silent for too long.
    """
    most = max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * request.max_output_tokens)
    loop, begun = asyncio.get_running_loop(), coming.whole
    since = rested = loop.time()
    if begun:  # the server has generated all of it: it may cost, whatever becomes of the body
        began()
    async with asyncio.timeout(stall.first_token) as silence:
        async for event in coming.events:
            if reading.take(event) and not begun:
                begun = True
                began()
            if begun and not coming.whole and loop.time() - rested > _READING_SECONDS:
                await asyncio.sleep(min(_LONGEST_REST, _REST_SHARE * (loop.time() - since)))
                rested = loop.time()
            if reading.length > most:
                raise too_long(reading.vendor, counted(most, "character"))
            if not _is_keepalive(event):
                silence.reschedule(loop.time() + _silence(reading, stall))
    text = reading.text()
    if len(text) > most:
        raise too_long(reading.vendor, counted(most, "character"))
    if not text.strip():
        raise empty(reading.vendor)
    if not begun:
        began()
    return ModelReply(
        text=text,
        usage=reading.usage(),
        model=reading.model or request.model,
        request_id=coming.request_id,
    )


def _is_keepalive(event: object) -> bool:
    """Whether an event only keeps the connection open, as Anthropic's pings do."""
    return isinstance(event, Mapping) and cast("Mapping[str, object]", event).get("type") == "ping"


def _silence(reading: StreamReader, stall: StallLimits) -> float:
    """Seconds until the next event; a model may think for long before its first token."""
    return stall.between_tokens if reading.length else stall.first_token


def http_timeout(stall: StallLimits) -> httpx2.Timeout:
    """How long a connection may take, and a server be silent before it answers."""
    return httpx2.Timeout(stall.first_token, connect=10.0)


def give_up(reading: StreamReader, error: Exception) -> Never:
    """Raise what the error means, with what the vendor reported until then."""
    if isinstance(error, _Endless):
        error = too_long(reading.vendor, size(_LONGEST_EVENT))
    fail(translate(reading.vendor, error), reading.usage())


class _Beginning(httpx2.AsyncByteStream):
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
        response.stream = _Beginning(response.stream, _LONGEST_ERROR)


#: For HTTP clients that ask models: errors are read to a point.
EVENT_HOOKS: Mapping[str, list[Callable[[Any], Awaitable[None]]]] = {
    "response": [_bound_error],
}
