"""HTTP clients for model servers, and the base class of providers with an SDK."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import httpx2

from core.capabilities import Record, capability
from core.errors import ProviderDown
from core.llm.providers.errors import check_key, translate
from core.llm.providers.fields import dig, items, words
from core.llm.providers.reading import Reading, read_reply
from core.proxies import DIRECT
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits

#: Timeout, in seconds, for the list of a vendor's models.
_LIST_SECONDS = 10.0
#: With aiohttp, `pool` also covers the DNS lookup and the tunnel of a proxy; `connect` does not.
_CONNECTING = httpx2.Timeout(None, connect=10.0, pool=20.0)
#: Bytes that are read of the body of an error.
_LONGEST_ERROR = 16_000


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = _LONGEST_ERROR
        async for piece in self._stream:
            yield piece[:remaining]
            remaining -= len(piece)
            if remaining <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_error(response: httpx2.Response) -> None:
    if response.is_error:
        response.stream = _BoundedBody(response.stream)


def http_client(
    kind: type[httpx2.AsyncClient] = httpx2.AsyncClient, **options: Any
) -> httpx2.AsyncClient:
    """A client for model servers; `kind` is the class of an SDK.

    Uses the proxies and certificates of the environment, but no proxy for addresses of this
    machine. Only connecting has a timeout; `StallLimits` bound replies. An SDK's aiohttp class
    needs half the CPU for a reply in many small pieces.
    """
    # At DEBUG these log whole prompts.
    for name in ("openai", "anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    hooks = {"response": [_bound_error]}
    return kind(mounts=DIRECT, event_hooks=hooks, timeout=_CONNECTING, **options)


class SDKProvider(ABC):
    """A provider with an SDK, whose client is created at the first use.

    The SDK sends requests and raises errors for statuses. Bodies stay plain JSON: those of
    compatible servers do not fit the SDKs' types, and typed chunks need eight times the CPU.
    """

    #: The name in settings.
    name: str
    #: The name shown to people.
    vendor: str
    #: The base URL of the vendor.
    address: str

    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        *,
        records: tuple[Record, ...] = (),
        stall: StallLimits = USUAL_STALL_LIMITS,
    ) -> None:
        self._key = key
        self._base_url = base_url or self.address
        self._limits = lru_cache(maxsize=64)(partial(capability, self.name, overrides=records))
        self._stall = stall
        self._made: tuple[Any, Any] | None = None
        self._making = asyncio.Lock()

    @abstractmethod
    def _new_client(self) -> tuple[Any, Any]:
        """A client of the SDK, and its class of streams."""

    @abstractmethod
    async def _listed(self, client: Any) -> object:
        """The response to a request for the list of models."""

    async def load(self) -> None:
        """Load the SDK in a thread, which takes up to a second."""
        await self._client()

    async def models(self) -> Sequence[str]:
        """The models of this key; also the cheapest check of the key.

        Raises:
            ProviderError: The key is refused, or the response is no list of models.
        """
        check_key(self.vendor, self._key)
        client, _ = await self._client()
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                answer = await self._listed(client)
        except Exception as error:  # noqa: BLE001 - whatever the SDK and the network raise
            raise translate(self.vendor, error, key=self._key) from None
        if not isinstance(dig(answer, "data"), list):
            raise ProviderDown(f"What answers in the place of {self.vendor} has no list of models.")
        return [name for model in items(answer, "data") if (name := words(model, "id"))]

    async def close(self) -> None:
        if self._made:
            (client, _), self._made = self._made, None
            await client.close()

    async def _client(self) -> tuple[Any, Any]:
        async with self._making:
            self._made = self._made or await asyncio.to_thread(self._new_client)
            return self._made

    async def _send(
        self,
        path: str,
        params: Mapping[str, Any],
        request: ModelRequest,
        *,
        reading: Reading,
        began: Callable[[], None],
    ) -> ModelReply:
        client, stream_class = await self._client()
        async with asyncio.timeout(self._stall.first_token) as limit:
            stream = await client.post(
                path, cast_to=object, body=params, stream=True, stream_cls=stream_class
            )
            async with stream:
                return await read_reply(
                    reading, stream.response, request, began, stall=self._stall, limit=limit
                )
