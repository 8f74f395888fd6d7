"""Anthropic's Messages API, through its SDK."""

import asyncio
import logging
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from core.capabilities import Capability, Record, capability
from core.errors import ProviderError
from core.llm.prices import output_reserve
from core.llm.prompt_text import pieces
from core.llm.providers.errors import ReplyFailed, check_key, cut_off, ended_early, refusal
from core.llm.providers.fields import count, dig, items, words
from core.llm.providers.reading import (
    BROKEN,
    check_end,
    failure,
    http_client,
    read_reply,
    stall_timeout,
)
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits
from core.usage import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

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
        check_key(_VENDOR, self._key)
        await self.load()
        from anthropic import AnthropicError  # noqa: PLC0415 - slow, and not always needed

        self._sdk = self._sdk or self._new_client()
        reading = MessagesReading()
        try:
            async with stall_timeout(reading, self._stall) as came:
                stream = await self._sdk.messages.create(
                    **parameters(request, self._limits(request.model)), stream=True
                )
                async with stream:
                    return await read_reply(
                        reading, stream.response, request, on_first_token, came=came
                    )
        except (ProviderError, *BROKEN, AnthropicError) as error:
            raise failure(reading, error, request, self._key) from None

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
        client = AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            http_client=http_client(DefaultAsyncHttpxClient),
            # It would describe each request to whoever traces this process, and tell the vendor by
            # which trace; our own traces know the turn.
            open_telemetry=False,
        )
        _ = client.messages  # it takes 50 ms to import
        return client


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


class MessagesReading:
    """A reply while it arrives."""

    vendor = _VENDOR

    def __init__(self) -> None:
        self.model = ""
        self.length = 0
        self._texts: list[str] = []
        self._reason = ""
        self._counts: dict[str, int] = {}

    def take(self, event: object) -> bool:
        """Add one event of the stream, or the whole reply in one piece.

        Raises:
            ReplyFailed: The event says that the reply failed.
        """
        kind = words(event, "type")
        if kind == "error":
            raise ReplyFailed(event)
        if kind in {"message_start", "message"}:
            message = event if kind == "message" else dig(event, "message")
            self.model = words(message, "model")
            self._reason = words(message, "stop_reason")
            for block in items(message, "content"):
                self._add(words(block, "text"))
            self._count(dig(message, "usage"))
        elif kind == "content_block_delta":
            self._add(words(event, "delta", "text"))
        elif kind == "message_delta":
            self._reason = words(event, "delta", "stop_reason") or self._reason
            self._count(dig(event, "usage"))
        return kind.startswith("content_block") or bool(self._reason)

    def _add(self, text: str) -> None:
        """Keep a piece of text; thinking has none."""
        self._texts.append(text)
        self.length += len(text)

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
        """The reported usage; cached input, counted apart by the vendor, is part of the input."""
        counts = self._counts
        cached = counts.get("cache_read_input_tokens", 0)
        written_tokens = counts.get("cache_creation_input_tokens", 0)
        return Usage(
            input_tokens=counts.get("input_tokens", 0) + cached + written_tokens,
            output_tokens=counts.get("output_tokens", 0),
            cached_tokens=cached,
            written_tokens=written_tokens,
            reasoning_tokens=counts.get("thinking", 0),
            cost=None,
            attempts=1,
        )

    def text(self) -> str:
        """The text blocks' content; thinking is left out.

        Raises:
            ProviderError: The reply is refused, cut off, or ended without a reason.
        """
        text = "".join(self._texts)
        if self._reason == "refusal":
            raise refusal(_VENDOR)
        if self._reason in _CUT_OFF:
            raise cut_off(_VENDOR)
        if not self._reason:
            raise ended_early(_VENDOR)
        if self._reason not in _WHOLE:
            check_end(self, self._reason)
        return text
