"""OpenAI and every vendor that speaks like it, through OpenAI's SDK.

Responses first; Chat Completions where an address has no Responses, which is remembered. Vendors
known to have only Chat Completions (OpenRouter, Moonshot) are asked that way at once. What a server
refuses of a request and can be spared is left out, and that is remembered, too.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from core.capabilities import Capability, Record, capability
from core.errors import ProviderError, RequestRejected
from core.llm.providers import chat, responses
from core.llm.providers.chat import Dialect
from core.llm.providers.error_bodies import MESSAGE_MAX_CHARS, code_of, said_in
from core.llm.providers.errors import check_key, says_too_long
from core.llm.providers.fields import dig
from core.llm.providers.reading import (
    BROKEN,
    Reading,
    failure,
    http_client,
    read_reply,
    stall_timeout,
)
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Api = Literal["chat", "responses"]
_PATHS: Mapping[Api, str] = {"responses": "/responses", "chat": "/chat/completions"}
_NO_SUCH_METHOD = frozenset({404, 405})
_MAYBE_UNSUPPORTED = frozenset({400, 501})
#: Together they say that the message is about the address asked, not a field of the request.
_UNSUPPORTED = re.compile(
    r"(?:not|un|in|no)[ -]?(?:supported|implemented|known|recogni[sz]ed|available|found|such)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"endpoint|\broute|\bpath\b|\burl\b|/responses|responses api", re.IGNORECASE)

#: Statuses with which a server refuses a part of a request.
_WRONG_REQUEST = frozenset({400, 422, 500, 501})
#: A schema, or JSON at all, refused in any words. The model may also have failed to keep to it.
_FORM_REFUSED = re.compile(
    r"response_format|text\.format|json_schema|json_object|json mode|structured output"
    r"|\bschema\b|grammar|peg-native|json_validate_failed|failed to generate json",
    re.IGNORECASE,
)
_FAILED_ONCE = re.compile(r"json_validate_failed|failed to generate json", re.IGNORECASE)
#: Ways to ask for a structured answer, the strictest first.
_ANSWERS = ("strict", "object", "prompt")
_STREAM_REFUSED = re.compile(
    r"to stream\b|^param: stream$|\bstream(?:ing)? (?:is|mode|responses?)? ?not",
    re.IGNORECASE | re.MULTILINE,
)
#: The two names of the field that bounds a reply; a server may know only one.
_CAPS = ("max_tokens", "max_completion_tokens")
#: Fields that can be spared.
_OPTIONAL = (
    *("stream_options", "temperature", "reasoning_effort", "reasoning", "store"),
    *("prompt_cache_key", "prompt_cache_options", "safety_identifier", "max_output_tokens"),
)
_MARKS = re.compile(r"cache_control|prompt_cache_breakpoint", re.IGNORECASE)


OPENAI = Dialect(
    name="openai",
    vendor="OpenAI",
    base_url="https://api.openai.com/v1",
    responses=True,
    openai_fields=True,
)
OPENROUTER = Dialect(
    name="openrouter",
    vendor="OpenRouter",
    base_url="https://openrouter.ai/api/v1",
    # Only vendors that honour every field (the schema above all); and the price of each call.
    own_fields={"provider": {"require_parameters": True}, "usage": {"include": True}},
)
MOONSHOT = Dialect(name="moonshot", vendor="Moonshot", base_url="https://api.moonshot.ai/v1")


@dataclass
class Refusals:
    """What a server refused of requests to one model."""

    #: Fields that are left out, and `stream` and `marks`.
    fields: set[str] = field(default_factory=set[str])
    #: The strictest way to ask for a structured answer that is left.
    answers: str = _ANSWERS[0]
    #: How often the model failed to keep to a form, by the way it was asked for.
    failed: Counter[str] = field(default_factory=Counter[str])

    def limit_capability(self, limits: Capability) -> Capability:
        """What the model can take, as far as the server lets it."""
        changes: dict[str, Any] = {}
        if _ANSWERS.index(self.answers) > _ANSWERS.index(limits.answers):
            changes["answers"] = self.answers
        if "marks" in self.fields and limits.cache == "explicit":
            changes["cache"] = "automatic"
        return limits.model_copy(update=changes) if changes else limits

    def accepted_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is sent of these parameters."""
        sent = {name: value for name, value in params.items() if name not in self.fields}
        for name, other in (_CAPS, _CAPS[::-1]):
            if name in self.fields and name in params and other not in self.fields:
                sent[other] = params[name]
        return sent

    def note(self, error: Exception, params: Mapping[str, Any], answers: str) -> bool:
        """Remember what the error says that the server refuses; False: nothing to be spared.

        Args:
            error: Of the SDK.
            params: What was sent.
            answers: How a structured answer was asked for.
        """
        if dig(error, "status_code") not in _WRONG_REQUEST:
            return False
        text = said_in(dig(error, "body")) or str(error)[:MESSAGE_MAX_CHARS]
        if {"response_format", "text"} & {*params} and _FORM_REFUSED.search(text):
            self.failed[answers] += 1
            if not (_FAILED_ONCE.search(text) and self.failed[answers] == 1):
                self.answers = _ANSWERS[_ANSWERS.index(answers) + 1]
            return True
        refused = self._refused_field(text, params)
        self.fields |= {refused} - {""}
        return bool(refused)

    def _refused_field(self, message: str, params: Mapping[str, Any]) -> str:
        """The field, or `stream` or `marks`, that a server refuses now for the first time."""
        # Some servers quote the request after the field.
        names = (name for name in (*_OPTIONAL, *_CAPS) if name in params and _names(message, name))
        name = next(names, "")
        if name in _CAPS and (says_too_long(message) or self.fields & {*_CAPS}):
            return ""  # the value is refused, not the field; and one cap must stay
        others = (("stream", _STREAM_REFUSED), ("marks", _MARKS))
        features = (other for other, words in others if words.search(message))
        return name or next((other for other in features if other not in self.fields), "")


def _names(message: str, name: str) -> bool:
    """Whether an error names a field."""
    words_for = {"stream_options": r"stream_options|include_usage"}.get(name, re.escape(name))
    return bool(re.search(rf"(?<![A-Za-z_])(?:{words_for})(?![A-Za-z_])", message))


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
        self._api: Api = "responses" if dialect.responses else "chat"
        #: By model.
        self._refusals: dict[str, Refusals] = {}
        self._sdk: AsyncOpenAI | None = None
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        """Load the SDK, in a thread: that takes up to a second."""
        async with self._loading:
            self._sdk = self._sdk or await asyncio.to_thread(self._new_client)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask once; again only without what the server refuses.

        Raises:
            ProviderError: What went wrong, with what it cost.
        """
        check_key(self._dialect.vendor, self._key)
        await self.load()
        from openai import OpenAIError  # noqa: PLC0415 - slow, and not always needed

        api = self._api
        refusals = self._refusals.setdefault(request.model, Refusals())
        while True:
            limits = refusals.limit_capability(self._limits(request.model))
            params = refusals.accepted_parameters(self._parameters(api, request, limits))
            reading = _READINGS[api](self._dialect.vendor)
            try:
                reply = await self._attempt(params, request, reading, on_first_token)
            except (ProviderError, *BROKEN, OpenAIError) as error:
                if refusals.note(error, params, limits.answers):
                    continue
                if api == "responses" and lacks_responses(error):
                    api = "chat"
                    continue
                failed = failure(reading, error, request, self._key)
                # That an address has no Responses is not remembered when Chat Completions reject
                # the request too: then the address is wrong, or the model does not exist.
                if not isinstance(failed, RequestRejected):
                    self._api = api
                raise failed from None
            self._api = api
            return reply

    def left_out(self, model: str) -> Sequence[str]:
        """What the server refused of requests to a model and is not sent to it any more."""
        refusals = self._refusals.get(model, Refusals())
        weaker = [] if refusals.answers == _ANSWERS[0] else [f"answers by {_ANSWERS[0]} schema"]
        return [*sorted(refusals.fields), *weaker]

    async def close(self) -> None:
        """Free connections."""
        if self._sdk:
            await self._sdk.close()
            self._sdk = None

    def _parameters(self, api: Api, request: ModelRequest, limits: Capability) -> dict[str, Any]:
        """What to send; OpenAI alone is told who asks, as others do not know the field."""
        params: dict[str, Any] = {"stream": True}
        if self._dialect.name == OPENAI.name and request.user:
            params["safety_identifier"] = request.user
        if api == "chat":
            return chat.parameters(request, limits, self._dialect) | params
        own = self._dialect.openai_fields
        return responses.parameters(request, limits, openai_fields=own) | params

    async def _attempt(
        self,
        params: Mapping[str, Any],
        request: ModelRequest,
        reading: Reading,
        began: Callable[[], None],
    ) -> ModelReply:
        """The reply, with the SDK's errors as they are."""
        from openai import AsyncStream  # noqa: PLC0415 - slow, and not always needed

        self._sdk = sdk = self._sdk or self._new_client()
        async with stall_timeout(reading, self._stall) as came:
            stream = await sdk.post(
                _PATHS["chat" if "messages" in params else "responses"],
                cast_to=object,
                body=dict(params),
                stream=True,
                stream_cls=AsyncStream[object],
            )
            async with stream:
                return await read_reply(reading, stream.response, request, began, came=came)

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
            max_retries=0,
            http_client=http_client(DefaultAsyncHttpxClient),
        )
        if not self._dialect.openai_fields:
            # The SDK takes them from the environment and would send them to any server.
            client.organization = client.project = None
        return client


_READINGS: Mapping[Api, Callable[[str], Reading]] = {
    "chat": chat.ChatReading,
    "responses": responses.ResponsesReading,
}


def lacks_responses(error: Exception) -> bool:
    """Whether the error says that this address has no Responses API.

    Never for a refused key, a rate limit or a failing server, and not for a model that is unknown.
    """
    status = dig(error, "status_code")
    if status in _NO_SUCH_METHOD:
        return "model" not in code_of(dig(error, "body"))
    if status not in _MAYBE_UNSUPPORTED:
        return False
    # Some servers quote the prompt in their message, after what is wrong with it.
    text = str(error)[:MESSAGE_MAX_CHARS]
    return bool(_UNSUPPORTED.search(text) and _ADDRESS.search(text))
