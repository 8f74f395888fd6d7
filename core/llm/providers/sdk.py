"""HTTP clients of model servers, and what the providers share whose vendors have an SDK."""

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

#: Seconds in which a vendor lists its models.
_LIST_SECONDS = 10.0
#: Over aiohttp `pool` is for all it takes to have a connection: the look-up of the name, which
#: `connect` leaves out there, and the tunnel of a proxy, too.
_CONNECTING = httpx2.Timeout(None, connect=10.0, pool=20.0)
#: Bytes of the body of an error that are read, as they come: what is wrong stands at the beginning.
_LONGEST_ERROR = 16_000


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, whole: Any) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _LONGEST_ERROR
        async for piece in self._whole:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._whole.aclose()


async def _bound_error(response: httpx2.Response) -> None:
    if response.is_error:
        response.stream = _BoundedBody(response.stream)


def http_client(
    kind: type[httpx2.AsyncClient] = httpx2.AsyncClient, **options: Any
) -> httpx2.AsyncClient:
    """A client for servers of models, of the SDK's own class where one is used.

    Proxies and certificates are those of the environment; addresses of this machine are asked
    directly. Only connecting has a limit of time: replies are bounded by `StallLimits`. An SDK's
    class over aiohttp takes half the CPU for a reply that comes in many small pieces.
    """
    # At DEBUG they write whole prompts.
    for name in ("openai", "anthropic", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    hooks = {"response": [_bound_error]}
    return kind(mounts=DIRECT, event_hooks=hooks, timeout=_CONNECTING, **options)


class SDKProvider(ABC):
    """Serves models through an SDK, whose client is made on first use.

    The SDK sends requests and raises errors for statuses. Bodies stay plain JSON: compatible
    servers send other shapes than the SDKs' types have, and typed chunks take eight times the CPU
    of a long reply.
    """

    #: Its name in settings.
    name: str
    #: Its name, for people.
    vendor: str
    #: Where the vendor serves its models.
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
        """A client of the SDK, and the SDK's class of streams."""

    @abstractmethod
    async def _listed(self, client: Any) -> object:
        """The answer to the question which models there are."""

    async def load(self) -> None:
        """Load the SDK, in a thread: that takes up to a second."""
        await self._client()

    async def models(self) -> Sequence[str]:
        """The models there are for this key: the cheapest call that shows that it is accepted.

        Raises:
            ProviderError: The key is refused, or there is no answer of the vendor's form.
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
