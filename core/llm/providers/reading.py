"""What all vendors' replies have in common: the time they may take, their shape, their thoughts.

The SDKs read streams and raise errors. What servers send besides is made fit for them here: JSON in
one piece or an object a line where a stream was asked for, events that are no JSON, endless ones.
"""

import asyncio
import json
import re
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterator,
)
from types import TracebackType
from typing import Any, Protocol, Self

import httpx2
import structlog

from core.errors import ProviderError
from core.figures import quantity, size
from core.llm.prompt_text import prompt_text
from core.llm.providers.errors import a_page, empty, from_body, refusal, too_long, translate
from core.llm.providers.fields import dig
from core.proxies import DIRECT
from core.request import ModelReply, ModelRequest
from core.settings import StallLimits
from core.usage import Usage

_log = structlog.get_logger(__name__)

#: What SDKs raise besides their own errors: a bad body or chunk is a ValueError, and odd shapes
#: trip them as TypeError or AttributeError. JSON in JSON a thousand times over is a RecursionError;
#: a silence that is too long is a TimeoutError (`silence`).
BROKEN = (
    *(httpx2.HTTPError, httpx2.StreamError, ValueError, TypeError, AttributeError),
    *(RecursionError, TimeoutError),
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
#: Bytes of a web page that are read: its title stands in them.
_LONGEST_PAGE = 4_000
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


class _ReplyTooLong(ValueError):
    """An event or a body is far longer than any reply, and was not read to its end."""


class _WebPage(ValueError):
    """A web page came in place of a reply."""


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


async def read_reply(
    reading: Reading,
    events: AsyncIterable[Any],
    request: ModelRequest,
    began: Callable[[], None],
    *,
    silence: "StallTimeout",
    request_id: str = "",
) -> ModelReply:
    """The whole reply; says once when it begins.

    Args:
        reading: What the reply becomes.
        events: What the server sends.
        request: What was asked; far more than it allows is not read to its end.
        began: Called once, when the reply begins.
        silence: Ends it.
        request_id: What the vendor calls the request; empty: nothing.

    Raises:
        ProviderError: It is not complete, or empty, or far longer than was asked for.
    """
    most = max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * request.max_output_tokens)
    begun = False
    async for event in events:
        if reading.take(event) and not begun:
            begun = True
            began()
        if reading.length > most:
            raise too_long(reading.vendor, quantity(most, "character"))
        silence.put_off()  # from its first token on it is a shorter one
    text = without_thoughts(reading.text())
    if len(text) > most:
        raise too_long(reading.vendor, quantity(most, "character"))
    if not text.strip():
        raise empty(reading.vendor)
    if not begun:
        began()
    return ModelReply(
        text=text,
        usage=reading.usage(),
        model=reading.model or request.model,
        request_id=request_id,
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


class StallTimeout:
    """Ends a block when a server sends nothing for too long; every byte puts the end off.

    Pings and comments are life, too; how long a reply may take altogether is its caller's business.
    A model may think for long before its first token.
    """

    def __init__(self, reading: Reading, stall: StallLimits) -> None:
        """Take what bounds it.

        Args:
            reading: What comes becomes that.
            stall: How long the server may be silent.
        """
        self._reading, self._stall = reading, stall
        self._limit = asyncio.timeout(None)
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._has_begun = False

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._look()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def put_off(self) -> None:
        """Note that something came: no more, as a reply comes in hundreds of pieces."""
        self._last = self._loop.time()
        if self._reading.length and not self._has_begun:  # a shorter silence counts from now on
            self._timer.cancel()
            self._look()

    def _look(self) -> None:
        """End the block where nothing came for too long; else look again when that can be."""
        self._has_begun = self._reading.length > 0
        limits = self._stall
        ends = self._last + (limits.between_tokens if self._has_begun else limits.first_token)
        if ends > self._loop.time():
            self._timer = self._loop.call_at(ends, self._look)
        else:
            self._limit.reschedule(ends)

    def watch(self, response: httpx2.Response) -> None:
        """Note all that comes of a body."""
        response.stream = _WatchedBody(response.stream, self.put_off)


class _WatchedBody(httpx2.AsyncByteStream):
    """A body that says when something of it comes."""

    def __init__(self, whole: Any, comes: Callable[[], None]) -> None:
        self._whole, self._comes = whole, comes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._whole:
            self._comes()
            yield piece

    async def aclose(self) -> None:
        await self._whole.aclose()


def failure(
    reading: Reading, error: Exception, request: ModelRequest, key: str = ""
) -> ProviderError:
    """The provider error for an exception, with the usage reported until then."""
    if isinstance(error, _ReplyTooLong):
        error = too_long(reading.vendor, size(_LONGEST_EVENT))
    elif isinstance(error, _WebPage):
        error = a_page(reading.vendor, str(error))
    provider_error = translate(reading.vendor, error, key=key, prompt=prompt_text(request))
    provider_error.usage = reading.usage()
    return provider_error


class _SDKDecoder(Protocol):
    """What cuts a body into server-sent events."""

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[Any]: ...

    def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Any]: ...


class EventDecoder:
    """The SDK's decoder of events, for bodies of servers that send something else.

    What a body holds decides, not what the server calls it: JSON is taken as events, and an event
    whose data is no JSON is passed over.
    """

    def __init__(self, sdk: _SDKDecoder, frame: Callable[[Any], bytes]) -> None:
        """Take what decodes.

        Args:
            sdk: The SDK's own.
            frame: A JSON object as the server-sent event that stands for it.
        """
        self._sdk, self._frame = sdk, frame
        #: Bytes since the newest event.
        self._size = 0

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[Any]:
        """The events of a body that is there."""
        return self._sdk.iter_bytes(iterator)

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        """The events of a body as it comes.

        Raises:
            ValueError: It is a web page, or does not end, or is JSON that cannot be read.
        """
        async for event in self._sdk.aiter_bytes(self._as_events(iterator)):
            self._size = 0
            data = event.data
            if data[:1] == "{" or data.lstrip("\ufeff ").startswith(("{", "[")):
                yield event

    async def _as_events(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        head = b""
        async for piece in pieces:
            head = (head + piece).lstrip(_BLANK)
            if head:
                break
        if head[:1] in {b"{", b"["}:
            async for value in json_objects(head, pieces):
                yield self._frame(value)
            return
        if head[:1] == b"<":
            raise _WebPage(await _page(head, pieces))
        yield head
        async for piece in pieces:
            self._size += len(piece)
            if self._size > _LONGEST_EVENT:
                raise _ReplyTooLong("an event that does not end")
            yield piece


async def json_objects(head: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """The objects in a body of JSON: one a line, or one over all of it.

    Args:
        head: Its beginning.
        pieces: The rest.

    Raises:
        ValueError: It is no JSON, or a web page, or does not end.
    """
    lines = _JsonLines()
    for value in lines.take(head.lstrip(_BLANK)):
        yield value
    async for piece in pieces:
        for value in lines.take(piece):
            yield value
    if lines.rest.strip(_BLANK):
        yield _first_of_list(json.loads(lines.rest.strip(_BLANK)))


class _JsonLines:
    """Cuts a body into lines of JSON; where its first line is none, all of it is one object."""

    def __init__(self) -> None:
        self.rest = bytearray()
        self._is_one = self._has_begun = False

    def take(self, piece: bytes) -> Iterator[Any]:
        """The objects completed by a piece."""
        self.rest += piece
        if self.rest.startswith(b"<"):
            raise _WebPage(self.rest[:_LONGEST_PAGE].decode(errors="replace"))
        if len(self.rest) > _LONGEST_EVENT:
            raise _ReplyTooLong("a body that does not end")
        while b"\n" in piece and not self._is_one and (end := self.rest.find(b"\n")) >= 0:
            line = bytes(self.rest[:end]).strip(_BLANK)
            try:
                value = json.loads(line) if line else None
            except ValueError:
                if self._has_begun:
                    raise
                self._is_one = True
                return
            del self.rest[: end + 1]
            if line:
                self._has_begun = True
                yield _first_of_list(value)


def _first_of_list(value: Any) -> Any:
    """An object that a server has put into a list, as Gemini's compatible address does."""
    return dig(value, 0) or value


async def _page(head: bytes, pieces: AsyncIterator[bytes]) -> str:
    """The beginning of a web page."""
    async for piece in pieces:
        head += piece
        if len(head) >= _LONGEST_PAGE:
            break
    return head[:_LONGEST_PAGE].decode(errors="replace")


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
    over it is bounded by `StallTimeout`.

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
