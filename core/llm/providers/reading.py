"""What all vendors' replies have in common: the time they may take, their shape, their thoughts.

What a body holds decides, not what the server calls it: servers send JSON in one piece or an object
a line where a stream was asked for, events that are no JSON, and endless ones.
"""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx2
import structlog
from pydantic_core import from_json

from core.errors import ProviderDown, ProviderError, ReplyCutOff, ReplyUnusable
from core.figures import quantity, size
from core.llm.prompt_text import prompt_text
from core.llm.providers.errors import from_body, refusal, translate
from core.llm.providers.fields import dig
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
#: Seconds that are given to what follows a whole reply.
_DRAIN_SECONDS = 1.0
#: The limit of silence is set anew in steps of this share of it: so much sooner it may end. To set
#: it anew costs as much as to read a token.
_LIMIT_STEP = 0.02
_JSON_BEGINS = (b"{", b"[", b"<")
_BLANK = b"\xef\xbb\xbf \t\r\n"
#: Thoughts at the beginning of a reply; the template of a model may have opened them in the prompt.
_TAGS = "think|thinking|thought|reasoning"
_THOUGHT_CLOSES = {tag: re.compile(rf"</{tag}>", re.IGNORECASE) for tag in _TAGS.split("|")}
_THOUGHT_BEGINS = re.compile(rf"<({_TAGS})>", re.IGNORECASE)
#: The end of thoughts whose beginning the server kept to itself.
_THOUGHT_ENDS = re.compile(rf"^[ \t]*</(?:{_TAGS})>", re.IGNORECASE | re.MULTILINE)
#: Words of servers for the end of a whole reply: those of the protocols, and of odd servers.
_WHOLE = frozenset(
    {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "end", "complete", "completed"}
)
_CUT_OFF = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "max_length", "model_length"),
        "model_context_window_exceeded",
    }
)
#: And for the end of one that a filter stopped, and of one that failed.
_FILTERED = re.compile(
    r"filter|safety|sensitive|recitation|prohibited|blocklist|spii|refus", re.IGNORECASE
)
_FAILED = re.compile(r"error|abort|fail|cancel|time_?out|insufficient|overload", re.IGNORECASE)


class Reading(ABC):
    """A reply as it comes."""

    def __init__(self, vendor: str) -> None:
        self.vendor = vendor
        #: As the server names it; empty until it does.
        self.model = ""
        #: Characters of text that came so far.
        self.length = 0
        self._texts: list[str] = []
        #: What stands beside the text: the answer where there is no other, and a refusal.
        self._thoughts: list[str] = []
        self._refusal = ""
        #: The server's word for the end of the reply; empty until it comes.
        self._end = ""
        #: What the server says that it cost.
        self._report: object = None

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
        if self._refusal:
            raise refusal(self.vendor, self._refusal)
        if not end:
            raise ProviderDown(f"{self.vendor} ended the reply early.")
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
        text = "".join(self._texts)
        text = _without_thoughts(text if text.strip() else "".join(self._thoughts))
        if not text.strip():
            raise ReplyUnusable(f"The reply of {self.vendor} holds no text.")
        return text

    def _add(self, text: str) -> None:
        self._texts.append(text)
        self.length += len(text)


async def read_reply(
    reading: Reading,
    response: httpx2.Response,
    request: ModelRequest,
    began: Callable[[], None],
    *,
    stall: StallLimits,
    limit: asyncio.Timeout,
) -> ModelReply:
    """The whole reply; calls `began` once when it begins.

    `limit` ends when the server has been silent for too long; pings and comments count, too.
    """
    most = max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * request.max_output_tokens)
    loop = asyncio.get_running_loop()
    body, pieces, has_begun = _Body(reading.vendor), response.aiter_bytes(), False
    async for piece in pieces:
        for event in body.take(piece):
            if reading.take(event) and not has_begun:
                has_begun = True
                began()
        if reading.length > most:
            raise _too_long(reading.vendor, quantity(most, "character"))
        if body.is_done:
            await _drain(pieces)
            break
        seconds = stall.between_tokens if reading.length else stall.first_token
        when, due = loop.time() + seconds, limit.when()
        if due is None or not 0 <= when - due < seconds * _LIMIT_STEP:
            limit.reschedule(when)
    for event in body.rest():
        if reading.take(event) and not has_begun:
            has_begun = True
            began()
    text = reading.text()
    if len(text) > most:
        raise _too_long(reading.vendor, quantity(most, "character"))
    if not has_begun:
        began()
    headers = response.headers
    return ModelReply(
        text=text,
        usage=reading.usage(),
        model=reading.model or request.model,
        request_id=headers.get("x-request-id") or headers.get("request-id", ""),
    )


def failure(
    reading: Reading, error: Exception, request: ModelRequest, key: str = ""
) -> ProviderError:
    provider_error = translate(reading.vendor, error, key=key, prompt=prompt_text(request))
    provider_error.usage = reading.usage()
    return provider_error


def _too_long(vendor: str, after: str) -> ReplyUnusable:
    return ReplyUnusable(
        f"{vendor} did not keep to the length asked for: the reply was cut off after {after}."
    )


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what follows a whole reply, so that its connection can be used again."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


class _Body:
    """Cuts a body into JSON objects: data of server-sent events, one a line, or one over all of it.

    Lines without an object are passed over: names of events, comments, "data: pong".
    """

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        #: Whether "[DONE]" came.
        self.is_done = False
        self._has_begun = self._is_one_object = False
        self._rest = bytearray()

    def take(self, piece: bytes) -> Iterator[Any]:
        """The objects that end in the next bytes."""
        self._rest += piece
        # A long line comes in many pieces: it is looked through once.
        if b"\n" not in piece or self._is_one_object:
            if len(self._rest) > _LONGEST_EVENT:
                raise _too_long(self._vendor, size(_LONGEST_EVENT))
            return
        *lines, self._rest = self._rest.split(b"\n")
        for place, line in enumerate(lines):
            data = _data_of(line)
            if data.startswith(b"[DONE]"):
                self.is_done = True
                self._rest.clear()
                return
            if not data.startswith(_JSON_BEGINS):
                continue
            try:
                value = _read_json(data)
            except ValueError:
                if self._has_begun:
                    raise
                # The first line of one object.
                self._is_one_object = True
                self._rest = bytearray(b"\n").join([*lines[place:], self._rest])
                return
            self._has_begun = True
            yield value

    def rest(self) -> Iterator[Any]:
        """The object at the end, where no line end follows it."""
        data = _data_of(self._rest)
        if data.startswith(b"<"):
            raise from_body(self._vendor, 0, data.decode(errors="replace"))
        if data.startswith(_JSON_BEGINS) and not data.startswith(b"[DONE]"):
            yield _read_json(data)


def _read_json(data: bytearray) -> Any:
    try:
        value = from_json(data)  # four times as fast
    except ValueError:
        value = json.loads(data)  # knows halves of characters, too
    return dig(value, 0) or value  # Gemini's compatible address puts it into a list


def _data_of(line: bytearray) -> bytearray:
    return line.strip(_BLANK).removeprefix(b"data:").strip(_BLANK)


def _without_thoughts(text: str) -> str:
    """A reply without the thoughts before it."""
    bare = text.lstrip()
    if begin := _THOUGHT_BEGINS.match(bare):
        end = _THOUGHT_CLOSES[begin[1].lower()].search(bare, begin.end())
        return bare[end.end() :].lstrip() if end else ""
    end = _THOUGHT_ENDS.search(text)
    if end is None or _THOUGHT_BEGINS.search(text, 0, end.start()):
        return text
    return text[end.end() :].lstrip()
