"""Anthropic's Messages API, through its SDK."""

from collections.abc import Callable
from typing import Any, cast

from core.capabilities import Capability
from core.llm.prices import output_reserve
from core.llm.prompt_text import blocks, pieces
from core.llm.providers.errors import ReplyFailed, check_key
from core.llm.providers.fields import count, dig, items, words
from core.llm.providers.reading import Reading, failure
from core.llm.providers.sdk import SDKProvider, http_client
from core.proxies import names_socks
from core.request import ModelReply, ModelRequest
from core.usage import Usage

_VENDOR = "Anthropic"


class AnthropicProvider(SDKProvider):
    name, vendor, address = "anthropic", _VENDOR, "https://api.anthropic.com"

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        check_key(_VENDOR, self._key)
        reading = MessagesReading()
        params = parameters(request, self._limits(request.model))
        try:
            return await self._send(
                "/v1/messages", params, request, reading=reading, began=on_first_token
            )
        except Exception as error:  # noqa: BLE001 - whatever the SDK and the network raise
            raise failure(reading, error, request, self._key) from None

    def _new_client(self) -> tuple[Any, Any]:
        from anthropic import (  # noqa: PLC0415 - slow, and not always needed
            AsyncAnthropic,
            AsyncStream,
            DefaultAioHttpClient,
            DefaultAsyncHttpxClient,
        )

        kind = DefaultAsyncHttpxClient if names_socks() else DefaultAioHttpClient
        client = AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            http_client=http_client(kind),
            # Its traces would contain the requests, and the vendor would get the trace id.
            open_telemetry=False,
        )
        return client, AsyncStream[object]

    async def _listed(self, client: Any) -> object:
        return await client.get("/v1/models?limit=1000", cast_to=object)


def parameters(request: ModelRequest, limits: Capability) -> dict[str, Any]:
    """The body of the request; no temperature, which current models refuse."""
    # The vendor caches the prompt up to each block with this field.
    content = blocks(pieces(request), {"cache_control": {"type": "ephemeral"}})
    params: dict[str, Any] = {
        "model": request.model,
        "max_tokens": output_reserve(limits, request),
        "messages": [{"role": "user", "content": content}],
        "stream": True,
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


class MessagesReading(Reading):
    def __init__(self) -> None:
        super().__init__(_VENDOR)
        self._figures: dict[str, object] = {}

    def take(self, event: object) -> bool:
        kind = words(event, "type")
        if kind == "error":
            raise ReplyFailed(event)
        if kind in {"message_start", "message"}:
            message = event if kind == "message" else dig(event, "message")
            self.model = words(message, "model")
            self._end = words(message, "stop_reason")
            for block in items(message, "content"):
                self._add(words(block, "text"))
            self._count(dig(message, "usage"))
        elif kind == "content_block_delta":
            self._add(words(event, "delta", "text"))
        elif kind == "message_delta":
            self._end = words(event, "delta", "stop_reason") or self._end
            self._count(dig(event, "usage"))
        return kind.startswith("content_block") or bool(self._end)

    def _count(self, usage: object) -> None:
        # Later events report totals.
        figures = cast("dict[str, object]", usage) if isinstance(usage, dict) else {}
        self._figures |= {name: value for name, value in figures.items() if value is not None}

    def usage(self) -> Usage:
        figures = self._figures  # does not include cached input
        cached = count(figures, "cache_read_input_tokens")
        written = count(figures, "cache_creation_input_tokens")
        return Usage(
            input_tokens=count(figures, "input_tokens") + cached + written,
            output_tokens=count(figures, "output_tokens"),
            cached_tokens=cached,
            written_tokens=written,
            reasoning_tokens=count(figures, "output_tokens_details", "thinking_tokens"),
            cost=None,
            attempts=1,
        )
