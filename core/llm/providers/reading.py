"""Reads streamed replies of all vendors: time limits, JSON events, thoughts before the answer.

The format is detected from the body, not from its content type: to a request for a stream, servers
also send one JSON object, an object per line, events that are no JSON, or endless events.
"""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import httpx2
import structlog
from pydantic_core import from_json

from core.errors import ProviderDown, ProviderError, ReplyCutOff, ReplyUnusable
from core.figures import quantity, size
from core.llm.prompt_text import prompt_text
from core.llm.providers.errors import ReplyFailed, error_text, from_body, refusal, translate
from core.llm.providers.fields import dig
from core.request import ModelReply, ModelRequest
from core.settings import StallLimits
from core.usage import Usage

_log = structlog.get_logger(__name__)

#: Most characters of a reply per token of the limit, which a server may ignore. Prose has about 4.
_CHARACTERS_PER_TOKEN = 16
#: Characters that are allowed for any limit of tokens.
_ALWAYS_ALLOWED = 10_000
#: Most bytes of an event, or of a reply that is one object. Far above a whole reply, which the last
#: event may contain.
_LONGEST_EVENT = 4_000_000
#: Seconds to read the bytes after a complete reply.
_DRAIN_SECONDS = 1.0
#: The silence timeout is reset only after this share of it has passed, so it may end that much
#: sooner. A reset takes as long as reading a token.
_LIMIT_STEP = 0.02
_JSON_BEGINS = (b"{", b"[", b"<")
_BLANK = b"\xef\xbb\xbf \t\r\n"
#: Marks around thoughts at the beginning of a reply: of most models, Magistral and Gemma 4. Some
#: models' templates put the first mark into the prompt.
_THOUGHT_MARKS = {
    **{f"<{tag}>": f"</{tag}>" for tag in ("think", "thinking", "thought", "reasoning")},
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "<|channel>thought": "<channel|>",
}
_THOUGHT_CLOSES = {
    begin: re.compile(re.escape(end), re.IGNORECASE) for begin, end in _THOUGHT_MARKS.items()
}
_THOUGHT_BEGINS = re.compile("|".join(map(re.escape, _THOUGHT_MARKS)), re.IGNORECASE)
#: The end of thoughts without a mark of their beginning.
_THOUGHT_ENDS = re.compile(
    rf"^[ \t]*(?:{'|'.join(map(re.escape, _THOUGHT_MARKS.values()))})", re.IGNORECASE | re.MULTILINE
)
#: A channel of gpt-oss; `analysis` holds thoughts.
_CHANNEL = re.compile(
    r"<\|channel\|>(\w{1,20})[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
)
#: Control tokens of models' templates at the end of a reply, and the characters searched for them.
_CONTROL_TOKENS = re.compile(r"(?:(?:<\|\w{1,20}\|>|</s>|<end_of_turn>)\s{0,3}){1,4}\Z")
_CONTROL_CHARS = 100
#: Finish reasons of a complete reply, of the protocols and of other servers.
_WHOLE = frozenset(
    {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "end", "complete", "completed"}
)
_CUT_OFF = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "max_length", "model_length"),
        "model_context_window_exceeded",
    }
)
#: Finish reasons of a filtered and of a failed reply.
_FILTERED = re.compile(
    r"filter|safety|sensitive|recitation|prohibited|blocklist|spii|refus", re.IGNORECASE
)
_FAILED = re.compile(r"error|abort|fail|cancel|time_?out|insufficient|overload", re.IGNORECASE)


class Reading(ABC):
    """Collects a reply from the events of one API."""

    def __init__(self, vendor: str) -> None:
        self.vendor = vendor
        #: The model that the server names; empty before.
        self.model = ""
        #: Characters received so far.
        self.length = 0
        self._texts: list[str] = []
        #: Reasoning text, which is the answer if there is no other text.
        self._thoughts: list[str] = []
        self._refusal = ""
        #: The finish reason; empty before the end.
        self._end = ""
        #: Whether the server sent "[DONE]": some do so without a finish reason.
        self.is_done = False
        #: The newest event without text, which may be the reason of a failure.
        self._remark: object = None
        #: The usage as the server reports it.
        self._report: object = None

    @abstractmethod
    def take(self, event: object) -> bool:
        """Add an event, or a complete reply; return whether the reply has begun.

        Raises:
            ReplyFailed: The event reports that the reply failed.
        """

    @abstractmethod
    def usage(self) -> Usage:
        """The usage reported so far; the cost is None if the vendor reports none.

        The input includes tokens read from or written to a cache.
        """

    def text(self) -> str:
        """The complete text; an unknown finish reason is logged and accepted.

        Raises:
            ProviderError: The reply is incomplete, refused, filtered or empty.
        """
        self._check_end(self._end.lower())
        text = "".join(self._texts)
        text = _without_thoughts(text if text.strip() else "".join(self._thoughts))
        if not text.strip():
            raise ReplyUnusable(f"The reply of {self.vendor} holds no text.")
        return text

    def _check_end(self, end: str) -> None:
        if self._refusal:
            raise refusal(self.vendor, self._refusal)
        has_begun = any(self._texts) or any(self._thoughts)
        if not end and not has_begun and error_text(self._remark):
            raise ReplyFailed(self._remark)
        if not end and not (self.is_done and has_begun):
            raise ProviderDown(f"{self.vendor} ended the reply early.")
        if end in _CUT_OFF:
            raise ReplyCutOff
        if _FILTERED.search(end):
            raise refusal(self.vendor, f"the reply ended with {end[:40]}")
        if _FAILED.search(end):
            raise from_body(self.vendor, 0, {"message": f"the reply ended with {end[:40]}"})
        if end and end not in _WHOLE:
            _log.warning(
                "unknown end of a reply", vendor=self.vendor, model=self.model, reason=end[:40]
            )

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
    """Read the complete reply; call `began` once at its beginning.

    `limit` is rescheduled after each piece, also after pings and comments.
    """
    most = max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * request.max_output_tokens)
    loop = asyncio.get_running_loop()
    body, pieces, has_begun = _Body(reading.vendor), response.aiter_bytes(), False

    def take(events: Iterable[object]) -> None:
        nonlocal has_begun
        for event in events:
            if reading.take(event) and not has_begun:
                has_begun = True
                began()

    async for piece in pieces:
        take(body.take(piece))
        if reading.length > most:
            raise _too_long(reading.vendor, quantity(most, "character"))
        if body.is_done:
            reading.is_done = True
            await _drain(pieces)
            break
        seconds = stall.between_tokens if reading.length else stall.first_token
        when, due = loop.time() + seconds, limit.when()
        if due is None or not 0 <= when - due < seconds * _LIMIT_STEP:
            limit.reschedule(when)
    take(body.last())
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
    """Read the bytes after a complete reply, so that the connection can be reused."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


class _Body:
    """Splits a body into JSON objects: server-sent events, one object per line, or a single object.

    Ignores lines without an object: event names, comments, "data: pong".
    """

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        #: Whether "[DONE]" was received.
        self.is_done = False
        self._has_begun = self._is_one_object = False
        self._rest = bytearray()

    def take(self, piece: bytes) -> Iterator[Any]:
        """The objects that are complete after these bytes."""
        self._rest += piece
        # Searches a long line of many pieces only once.
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
                # The first line of a body that is a single object.
                self._is_one_object = True
                self._rest = bytearray(b"\n").join([*lines[place:], self._rest])
                return
            self._has_begun = True
            yield value

    def last(self) -> Iterator[Any]:
        """The object at the end of the body if no line end follows it."""
        data = _data_of(self._rest)
        if data.startswith(b"<"):
            raise from_body(self._vendor, 0, data.decode(errors="replace"))
        if data.startswith(_JSON_BEGINS) and not data.startswith(b"[DONE]"):
            yield _read_json(data)


def _read_json(data: bytearray) -> Any:
    try:
        value = from_json(data)  # four times as fast as json
    except ValueError:
        value = json.loads(data)  # also accepts lone surrogates
    return dig(value, 0) or value  # Gemini's OpenAI-compatible API sends a list


def _data_of(line: bytearray) -> bytearray:
    return line.strip(_BLANK).removeprefix(b"data:").strip(_BLANK)


def _without_thoughts(text: str) -> str:
    """The reply without the thoughts at its beginning and control tokens at its end."""
    if text.lstrip().startswith("<|"):
        name, text = ["", text, *_CHANNEL.split(text)[1:]][-2:]
        text = "" if name == "analysis" else text
    text = text[:-_CONTROL_CHARS] + _CONTROL_TOKENS.sub("", text[-_CONTROL_CHARS:])
    bare = text.lstrip()
    if begin := _THOUGHT_BEGINS.match(bare):
        end = _THOUGHT_CLOSES[begin[0].lower()].search(bare, begin.end())
        return bare[end.end() :].lstrip() if end else ""
    end = _THOUGHT_ENDS.search(text)
    if end is None or _THOUGHT_BEGINS.search(text, 0, end.start()):
        return text
    return text[end.end() :].lstrip()
