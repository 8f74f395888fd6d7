"""Anthropic's Messages API, through its SDK."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import httpx2

from core.capabilities import Capability, Record, capability
from core.errors import KeyRefused, ProviderError
from core.llm.prices import output_reserve
from core.llm.prompt_text import pieces
from core.llm.providers.fields import count, dig, items, words
from core.llm.providers.streams import (
    BROKEN,
    EVENT_HOOKS,
    Arrival,
    comes_whole,
    give_up,
    http_timeout,
    read_events,
    read_reply,
)
from core.llm.providers.vendor_errors import cut_off, ended_early, refused
from core.models import Usage
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

_VENDOR = "Anthropic"
_WHOLE = frozenset({"end_turn", "stop_sequence"})
_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicProvider:
    """Serves Claude models."""

    name = "anthropic"

    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        *,
        records: tuple[Record, ...] = (),
        stall: StallLimits = USUAL_STALL_LIMITS,
    ) -> None:
        """Keep what is needed to connect; nothing is sent yet.

        Args:
            key: The API key.
            base_url: Another address that speaks the same protocol.
            records: Settings' own records of capabilities.
            stall: How long a model may be silent.
        """
        self._key = key
        self._base_url = base_url or "https://api.anthropic.com"
        self._limits = lru_cache(maxsize=64)(partial(capability, self.name, overrides=records))
        self._stall = stall
        self._sdk: AsyncAnthropic | None = None
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        """Load the SDK, in a thread: that takes up to a second."""
        async with self._loading:
            self._sdk = self._sdk or await asyncio.to_thread(self._new_client)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask once.

        Raises:
            ProviderError: What went wrong, with what it cost.
        """
        if not self._key:
            raise KeyRefused(f"No API key for {_VENDOR} is set.")
        await self.load()
        from anthropic import AnthropicError  # noqa: PLC0415 - slow, and not always needed

        reading = _MessagesStream()
        try:
            params = parameters(request, self._limits(request.model))
            self._sdk = self._sdk or self._new_client()
            body = {**params, "stream": True}
            async with await _post(self._sdk, body, http_timeout(self._stall)) as answer:
                whole = comes_whole(answer.response)
                request_id = answer.response.headers.get("request-id", "")
                coming = Arrival(_events(answer.response, whole=whole), whole, request_id)
                return await read_reply(reading, coming, request, on_first_token, stall=self._stall)
        except (ProviderError, *BROKEN, AnthropicError) as error:
            give_up(reading, error)

    async def close(self) -> None:
        """Free connections."""
        if self._sdk:
            await self._sdk.close()
            self._sdk = None

    def _new_client(self) -> "AsyncAnthropic":
        """A client of the SDK."""
        from anthropic import (  # noqa: PLC0415 - slow, and not always needed
            AsyncAnthropic,
            DefaultAsyncHttpxClient,
        )

        # At DEBUG the SDK prints whole prompts.
        logging.getLogger("anthropic").setLevel(logging.WARNING)
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        return AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            timeout=http_timeout(self._stall),
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(event_hooks=EVENT_HOOKS),
            # It would describe each request to whoever traces this process, and tell the vendor by
            # which trace; our own traces know the turn.
            open_telemetry=False,
        )


async def _post(
    client: "AsyncAnthropic", body: Mapping[str, Any], limit: httpx2.Timeout
) -> "AsyncStream[object]":
    """Ask, and return the answer before it is read.

    With the SDK's own `post`: its `messages` take 50 ms to import. What `messages.create` does
    besides is left out: it warns of models that will be gone, and names the request for traces.
    """
    from anthropic import AsyncStream  # noqa: PLC0415 - slow, and not always needed

    return await client.post(
        "/v1/messages",
        cast_to=object,
        body=body,
        options={"timeout": limit},
        stream=True,  # else the SDK reads the answer before anybody can say how much of it
        stream_cls=AsyncStream[object],
    )


def _events(response: httpx2.Response, *, whole: bool = False) -> AsyncGenerator[Any]:
    """The events of a stream; an error in its midst is raised as the SDK raises it."""

    def fails(name: str, found: Any) -> Exception | None:
        if name != "error":
            return None
        from anthropic import APIStatusError  # noqa: PLC0415 - slow, and not always needed

        return APIStatusError(f"{found}", response=response, body=found)

    return read_events(response.aiter_bytes(), fails=fails, whole=whole)


def parameters(request: ModelRequest, limits: Capability) -> dict[str, Any]:
    """What to send.

    There is no temperature: current models refuse it. The model's thinking and effort follow the
    request's effort, by the table.
    """
    # The vendor caches the prompt up to each marked block.
    mark = {"cache_control": {"type": "ephemeral"}}
    blocks = [
        {"type": "text", "text": piece.text, **(mark if piece.breakpoint else {})}
        for piece in pieces(request)
    ]
    params: dict[str, Any] = {
        "model": request.model,
        "max_tokens": output_reserve(limits, request.max_output_tokens, request.effort),
        "messages": [{"role": "user", "content": blocks}],
    }
    if request.system:
        params["system"] = [{"type": "text", "text": request.system}]
    if request.effort in limits.thinking:
        params["thinking"] = {"type": limits.thinking[request.effort]}
    config: dict[str, Any] = {}
    if request.effort in limits.efforts:
        config["effort"] = limits.efforts[request.effort]
    if request.answer:
        config["format"] = {"type": "json_schema", "schema": dict(request.answer.schema)}
    return params | ({"output_config": config} if config else {})


class _MessagesStream:
    """A reply while it arrives."""

    vendor = _VENDOR

    def __init__(self) -> None:
        self.model = ""
        self.length = 0
        self._texts: list[str] = []
        self._reason = ""
        self._counts: dict[str, int] = {}

    def take(self, event: object) -> bool:
        """Add one event of the stream, or the whole reply in one piece."""
        match words(event, "type"):
            case "message":
                self.model = words(event, "model")
                texts = [one for one in items(event, "content") if words(one, "type") == "text"]
                self._texts += [words(one, "text") for one in texts]
                self._reason = words(event, "stop_reason")
                self._count(dig(event, "usage"))
                return True
            case "message_start":
                self.model = words(event, "message", "model")
                self._count(dig(event, "message", "usage"))
            case "content_block_delta" if words(event, "delta", "type") == "text_delta":
                text = words(event, "delta", "text")
                self._texts.append(text)
                self.length += len(text)
            case "message_delta":
                self._reason = words(event, "delta", "stop_reason") or self._reason
                self._count(dig(event, "usage"))
            case _:
                pass
        return words(event, "type").startswith("content_block")

    def _count(self, usage: object) -> None:
        """Keep the newest figures; they are totals."""
        for field in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            if isinstance(dig(usage, field), int):
                self._counts[field] = count(usage, field)
        thought = dig(usage, "output_tokens_details", "thinking_tokens")
        if isinstance(thought, int):
            self._counts["thinking"] = thought

    def usage(self) -> Usage:
        """What was reported; the vendor counts cached input apart, we count all of it."""
        counts: Mapping[str, int] = self._counts
        cached = counts.get("cache_read_input_tokens", 0)
        written = counts.get("cache_creation_input_tokens", 0)
        return Usage(
            input_tokens=counts.get("input_tokens", 0) + cached + written,
            output_tokens=counts.get("output_tokens", 0),
            cached_tokens=cached,
            written_tokens=written,
            reasoning_tokens=counts.get("thinking", 0),
            cost=None,
            attempts=1,
        )

    def text(self) -> str:
        """The text blocks' content; thinking is left out.

        Raises:
            ProviderError: The reply is refused, cut off, or ended without a reason.
        """
        if self._reason == "refusal":
            raise refused(_VENDOR)
        if self._reason in _CUT_OFF:
            raise cut_off(_VENDOR)
        if self._reason not in _WHOLE:
            raise ended_early(_VENDOR)
        return "".join(self._texts)
