"""What all vendors' replies have in common: the time they may take, their shape, their thoughts.

Bodies are cut into JSON objects here, as servers send JSON in one piece or an object a line where a
stream was asked for, events that are no JSON, and endless ones.
"""

import asyncio
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import structlog

from core.errors import ProviderError, ReplyCutOff, ReplyUnusable
from core.figures import quantity, size
from core.llm.prompt_text import prompt_text
from core.llm.providers.errors import ended_early, from_body, refusal, too_long, translate
from core.llm.providers.fields import dig
from core.proxies import DIRECT
from core.request import ModelReply, ModelRequest
from core.settings import StallLimits
from core.usage import Usage

_log = structlog.get_logger(__name__)

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
#: Over aiohttp `pool` is for all it takes to have a connection: the look-up of the name, which
#: `connect` leaves out there, and the tunnel of a proxy, too.
_CONNECTING = httpx2.Timeout(None, connect=10.0, pool=20.0)
#: The limit of silence is set anew in steps of this share of it: so much sooner it may end.
_LIMIT_STEP = 0.02
_BLANK = b"\xef\xbb\xbf \t\r\n"
#: Thoughts at the beginning of a reply; the template of a model may have opened them in the prompt.
_TAGS = "think|thinking|thought|reasoning"
_THOUGHT_CLOSES = {tag: re.compile(rf"</{tag}>", re.IGNORECASE) for tag in _TAGS.split("|")}
_THOUGHT_BEGINS = re.compile(rf"<({_TAGS})>", re.IGNORECASE)
#: The end of thoughts whose beginning the server kept to itself.
_THOUGHT_ENDS = re.compile(rf"^[ \t]*</(?:{_TAGS})>", re.IGNORECASE | re.MULTILINE)
#: Words of servers for the end of a whole reply: those of the protocols, and of odd servers.
_WHOLE = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence", "end", "complete"})
_CUT_OFF = frozenset(
    {"length", "max_tokens", "max_length", "model_length", "model_context_window_exceeded"}
)
#: And for the end of one that a filter stopped, and of one that failed.
_FILTERED = re.compile(
    r"filter|safety|sensitive|recitation|prohibited|blocklist|spii|refus", re.IGNORECASE
)
_FAILED = re.compile(r"error|abort|fail|cancel|time_?out|insufficient|overload", re.IGNORECASE)


class Reading(ABC):
    def __init__(self, vendor: str) -> None:
        self.vendor = vendor
        #: As the server names it; empty until it does.
        self.model = ""
        #: Characters of text that came so far.
        self.length = 0
        #: The server's word for the end of the reply; empty until it comes.
        self._end = ""
        self._texts: list[str] = []

    @abstractmethod
    def take(self, event: object) -> bool:
        """Add one event, or all of a reply in one piece; True when the reply itself has begun.

        Raises:
            ReplyFailed: The event says that the reply failed.
        """

    @abstractmethod
    def usage(self) -> Usage:
        """What was reported so far; its cost is None where the vendor does not name it.

        Input that was read from a cache or written to it is part of the input.
        """

    def text(self) -> str:
        """The whole reply; it counts also where its end has a word that no protocol knows."""
        end = self._end.lower()
        if not end:
            raise ended_early(self.vendor)
        if end in _CUT_OFF:
            raise ReplyCutOff
        if _FILTERED.search(end):
            raise refusal(self.vendor, f"the reply ended with {end[:40]}")
        if _FAILED.search(end):
            raise from_body(self.vendor, 0, {"message": f"the reply ended with {end[:40]}"})
        if end not in _WHOLE:
            _log.warning(
                "unknown end of a reply", vendor=self.vendor, model=self.model, reason=end[:40]
            )
        return "".join(self._texts)

    def _add(self, text: str) -> None:
        self._texts.append(text)
        self.length += len(text)


async def read_reply(
    reading: Reading,
    response: httpx2.Response,
    request: ModelRequest,
    began: Callable[[], None],
    *,
    came: Callable[[], None],
) -> ModelReply:
    """The whole reply; calls `began` once when it begins, and `came` whenever something came."""
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
        raise ReplyUnusable(f"The reply of {reading.vendor} holds no text.")
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
    """A reply without the thoughts before it."""
    bare = text.lstrip()
    if begin := _THOUGHT_BEGINS.match(bare):
        end = _THOUGHT_CLOSES[begin[1].lower()].search(bare, begin.end())
        return bare[end.end() :].lstrip() if end else ""
    end = _THOUGHT_ENDS.search(text)
    if end is None or _THOUGHT_BEGINS.search(text, 0, end.start()):
        return text
    return text[end.end() :].lstrip()


@asynccontextmanager
async def stall_timeout(reading: Reading, stall: StallLimits) -> AsyncGenerator[Callable[[], None]]:
    """Raise `TimeoutError` when a server is silent for too long.

    Yields:
        What is to be called whenever bytes came; pings and comments count, too.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(stall.first_token) as limit:

        def came() -> None:
            seconds = stall.between_tokens if reading.length else stall.first_token
            when, due = loop.time() + seconds, limit.when()
            # To set it anew costs as much as to read a token: only once it is worth it.
            if due is None or not 0 <= when - due < seconds * _LIMIT_STEP:
                limit.reschedule(when)

        yield came


def failure(
    reading: Reading, error: Exception, request: ModelRequest, key: str = ""
) -> ProviderError:
    provider_error = translate(reading.vendor, error, key=key, prompt=prompt_text(request))
    provider_error.usage = reading.usage()
    return provider_error


async def _json_objects(lines: AsyncIterator[bytearray], vendor: str) -> AsyncIterator[Any]:
    """The JSON objects in a body: data of server-sent events, one a line, or one over all of it.

    What the body holds decides, not what the server calls it. Lines without an object are passed
    over: names of events, comments, "data: pong".
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


def _object_in(line: bytearray) -> Any:
    text = _data_of(line)
    if not text.startswith((b"{", b"[", b"<")):
        return None
    value = json.loads(text)
    return dig(value, 0) or value  # Gemini's compatible address puts it into a list


async def _lines(
    pieces: AsyncIterator[bytes], vendor: str, came: Callable[[], None]
) -> AsyncIterator[bytearray]:
    """The lines of a body up to "[DONE]"; calls `came` for each piece, once its lines are taken."""
    rest = bytearray()
    async for piece in pieces:
        rest += piece
        # A long line comes in many pieces: it is looked through once.
        *lines, rest = rest.split(b"\n") if b"\n" in piece else (rest,)
        if len(rest) > _LONGEST_EVENT:
            raise too_long(vendor, size(_LONGEST_EVENT))
        for line in lines:
            if _data_of(line).startswith(b"[DONE]"):
                await _drain(pieces)
                return
            yield line
        came()
    if not _data_of(rest).startswith(b"[DONE]"):
        yield rest


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what follows a whole reply, so that its connection can be used again."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _data_of(line: bytearray) -> bytearray:
    return line.strip(_BLANK).removeprefix(b"data:").strip(_BLANK)


class _BoundedBody(httpx2.AsyncByteStream):
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
    """A client for servers of models, of the SDK's own class where one is used.

    Proxies and certificates are those of the environment; addresses of this machine are asked
    directly. Only connecting has a limit of time: replies are bounded by `stall_timeout`. An SDK's
    class over aiohttp takes half the CPU for a reply that comes in many small pieces.
    """
    # At DEBUG they write whole prompts.
    for name in ("openai", "anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return kind(
        mounts=DIRECT,
        event_hooks={"response": [_bound_error]},
        timeout=_CONNECTING,
        **options,
    )
