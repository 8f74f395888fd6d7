"""OpenAI and every vendor that speaks like it, through OpenAI's SDK.

Responses first; Chat Completions where an address has no Responses, which is remembered. Vendors
known to have only Chat Completions (OpenRouter, Moonshot) are asked that way at once.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from core.capabilities import Record, capability
from core.errors import KeyRefused, ProviderError, RequestRejected
from core.llm.providers import openai_chat as chat
from core.llm.providers import openai_responses as responses
from core.llm.providers.fields import dig, words
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
from core.llm.providers.vendor_errors import MESSAGE_MAX_CHARS, code_of
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

#: Paths of the two APIs, below an address.
_RESPONSES, _CHAT = "/responses", "/chat/completions"
_NO_SUCH_METHOD = frozenset({404, 405})
_MAYBE_UNSUPPORTED = frozenset({400, 501})
#: Together they say that the message is about the address asked, not a field of the request.
_UNSUPPORTED = re.compile(
    r"(?:not|un|in|no)[ -]?(?:supported|implemented|known|recogni[sz]ed|available|found|such)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"endpoint|\broute|\bpath\b|\burl\b|/responses|responses api", re.IGNORECASE)


_WRONG_REQUEST = frozenset({400, 422, 501})
_RESPONSE_FORMAT, _STREAM_OPTIONS = "response_format", "stream_options"
#: Fields that a server may lack, and how its message names them.
_SPARED: Mapping[str, re.Pattern[str]] = {
    _RESPONSE_FORMAT: re.compile(
        r"response_format|json_schema|json_object|structured output", re.IGNORECASE
    ),
    _STREAM_OPTIONS: re.compile(r"stream_options|include_usage", re.IGNORECASE),
}
#: Ways to ask for a structured answer, the strictest first.
_ANSWERS = ("strict", "object", "prompt")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How to speak to one vendor."""

    #: The provider's name in settings.
    name: str
    base_url: str
    chat: chat.ChatDialect
    #: What is spoken there: one of the two, or Responses with Chat Completions where an address
    #: turns out to have no Responses.
    apis: tuple[Literal["chat", "responses"], ...] = ("chat",)


OPENAI = Dialect(
    name="openai",
    base_url="https://api.openai.com/v1",
    chat=chat.OPENAI_CHAT,
    apis=("responses", "chat"),
)
OPENROUTER = Dialect(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    # Only vendors that honour every field (the schema above all); and the price of each call.
    chat=chat.ChatDialect(
        vendor="OpenRouter",
        own_fields={"provider": {"require_parameters": True}, "usage": {"include": True}},
    ),
)
MOONSHOT = Dialect(
    name="moonshot",
    base_url="https://api.moonshot.ai/v1",
    chat=chat.ChatDialect(vendor="Moonshot"),
)


class OpenAIProvider:
    """Serves models of OpenAI, or of a vendor that speaks like it."""

    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        *,
        dialect: Dialect = OPENAI,
        records: tuple[Record, ...] = (),
        stall: StallLimits = USUAL_STALL_LIMITS,
    ) -> None:
        """Keep what is needed to connect; nothing is sent yet.

        Args:
            key: The API key.
            base_url: Another address that speaks the same protocol.
            dialect: How to speak to the vendor.
            records: Settings' own records of capabilities.
            stall: How long a model may be silent.
        """
        self.name = dialect.name
        self._key = key
        self._dialect = dialect
        self._base_url = base_url or dialect.base_url
        self._limits = lru_cache(maxsize=64)(partial(capability, dialect.name, overrides=records))
        self._stall = stall
        self._has_responses = "responses" in dialect.apis
        #: What a server refused, by model: ways to ask for a structure, fields.
        self._refused: dict[str, set[str]] = {}
        self._sdk: AsyncOpenAI | None = None
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
            raise KeyRefused(f"No API key for {self._dialect.chat.vendor} is set.")
        await self.load()
        if not self._has_responses:
            return await self._chat(request, on_first_token)
        reading = responses.ResponsesReading(self._dialect.chat.vendor)
        try:
            return await self._responses(request, reading, on_first_token)
        except (ProviderError, *BROKEN, self._sdk_error()) as error:
            if not lacks_responses(error) or "chat" not in self._dialect.apis:
                give_up(reading, error)
        # That this address has no Responses is remembered. Not when Chat Completions reject the
        # request too: then the address is wrong, or the model does not exist, and Responses may be
        # there after all.
        try:
            reply = await self._chat(request, on_first_token)
        except RequestRejected:
            raise
        except ProviderError:
            self._has_responses = False
            raise
        self._has_responses = False
        return reply

    async def close(self) -> None:
        """Free connections."""
        if self._sdk:
            await self._sdk.close()
            self._sdk = None

    async def _responses(
        self,
        request: ModelRequest,
        reading: responses.ResponsesReading,
        began: Callable[[], None],
    ) -> ModelReply:
        """The reply by Responses, with the SDK's errors as they are."""
        params = responses.parameters(
            request,
            self._limits(request.model),
            openai_fields=self._dialect.chat.openai_fields,
        )
        params |= self._asker(request)
        async with await self._ask(_RESPONSES, params) as answer:
            coming = _arrival(answer.response)
            return await read_reply(reading, coming, request, began, stall=self._stall)

    async def _chat(self, request: ModelRequest, began: Callable[[], None]) -> ModelReply:
        """The reply by Chat Completions."""
        reading = chat.ChatReading(self._dialect.chat.vendor)
        refused = self._refused.setdefault(request.model, set())
        limits = self._limits(request.model)
        answers = next((level for level in _ANSWERS if level not in refused), "prompt")
        if _ANSWERS.index(answers) > _ANSWERS.index(limits.answers):
            limits = limits.model_copy(update={"answers": answers})
        params = chat.parameters(request, limits, self._dialect.chat) | self._asker(request)
        if _STREAM_OPTIONS in refused:
            params.pop(_STREAM_OPTIONS, None)
        try:
            async with await self._ask(_CHAT, params) as answer:
                coming = _arrival(answer.response)
                return await read_reply(reading, coming, request, began, stall=self._stall)
        except (ProviderError, *BROKEN, self._sdk_error()) as error:
            field = refused_field(error, params)
            if self._dialect.chat.openai_fields or not field:
                give_up(reading, error)
            # Not every server has all of the protocol: it is asked once more without that.
            refused.add(limits.answers if field == _RESPONSE_FORMAT else field)
            return await self._chat(request, began)

    def _asker(self, request: ModelRequest) -> dict[str, Any]:
        """Who asks, for OpenAI alone: others do not know the field."""
        known = self._dialect.name == OPENAI.name and request.user
        return {"safety_identifier": request.user} if known else {}

    async def _ask(self, path: str, params: Mapping[str, Any]) -> "AsyncStream[object]":
        """The answer to this request, not yet read."""
        self._sdk = self._sdk or self._new_client()
        body = {**params, "stream": True}
        return await _post(self._sdk, path, body, http_timeout(self._stall))

    def _new_client(self) -> "AsyncOpenAI":
        """A client of the SDK."""
        from openai import (  # noqa: PLC0415 - slow, and not always needed
            AsyncOpenAI,
            DefaultAsyncHttpxClient,
        )

        # At DEBUG the SDK prints whole prompts.
        logging.getLogger("openai").setLevel(logging.WARNING)
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        client = AsyncOpenAI(
            api_key=self._key,
            base_url=self._base_url,
            timeout=http_timeout(self._stall),
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(event_hooks=EVENT_HOOKS),
        )
        if not self._dialect.chat.openai_fields:
            # The SDK takes them from the environment and would send them to any server.
            client.organization = client.project = None
        return client

    def _sdk_error(self) -> type[Exception]:
        """The base of the SDK's errors."""
        from openai import OpenAIError  # noqa: PLC0415 - slow, and not always needed

        return OpenAIError


async def _post(
    client: "AsyncOpenAI", path: str, body: Mapping[str, Any], limit: httpx2.Timeout
) -> "AsyncStream[object]":
    """Ask, and return the answer before it is read.

    With the SDK's own `post`: its `responses` and `chat` take 70 ms to import, and walk through
    what is sent by its types, for a quarter of the CPU that a reply takes.
    """
    from openai import AsyncStream  # noqa: PLC0415 - slow, and not always needed

    return await client.post(
        path,
        cast_to=object,
        body=body,
        options={"timeout": limit},
        stream=True,  # else the SDK reads the answer before anybody can say how much of it
        stream_cls=AsyncStream[object],
    )


def _arrival(response: httpx2.Response) -> Arrival:
    """What the server sends, in the way it says."""
    whole = comes_whole(response)
    request_id = response.headers.get("x-request-id", "")
    return Arrival(_events(response, whole=whole), whole, request_id)


def _events(response: httpx2.Response, *, whole: bool = False) -> AsyncGenerator[Any]:
    """The events of a stream; one that holds an error is raised as the SDK raises it."""

    def fails(_name: str, found: Any) -> Exception | None:
        if not (said := dig(found, "error")):
            return None
        from openai import APIError  # noqa: PLC0415 - slow, and not always needed

        message = words(said, "message") or "An error occurred during streaming"
        return APIError(message, request=response.request, body=said)

    return read_events(response.aiter_bytes(), fails=fails, whole=whole)


def refused_field(error: Exception, params: Mapping[str, Any]) -> str:
    """The field of the request that a server says it cannot take and can be spared; empty: none."""
    if dig(error, "status_code") not in _WRONG_REQUEST:
        return ""
    said = str(error)[:MESSAGE_MAX_CHARS]
    fields = (field for field in _SPARED if field in params)
    return next((field for field in fields if _SPARED[field].search(said)), "")


def lacks_responses(error: Exception) -> bool:
    """Whether the error says that this address has no Responses API.

    Never for a refused key, a rate limit or a failing server, and not for a model that is unknown.
    """
    status = dig(error, "status_code")
    if status in _NO_SUCH_METHOD:
        return "model" not in code_of(error)
    if status not in _MAYBE_UNSUPPORTED:
        return False
    # Some servers quote the prompt in their message, after what is wrong with it.
    said = str(error)[:MESSAGE_MAX_CHARS]
    return bool(_UNSUPPORTED.search(said) and _ADDRESS.search(said))
