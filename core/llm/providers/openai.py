"""OpenAI and every vendor that speaks like it, through OpenAI's SDK.

Responses first; Chat Completions where an address has no Responses. What a server refuses of a
request and can be spared is left out. Both are remembered.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from core.capabilities import Capability, Record
from core.errors import RequestRejected
from core.llm.providers import chat, responses
from core.llm.providers.chat import Dialect
from core.llm.providers.error_bodies import code_of, read_body, said_in
from core.llm.providers.errors import answer_in, check_key, says_too_long
from core.llm.providers.reading import Reading, failure, http_client
from core.llm.providers.sdk import SDKProvider
from core.proxies import names_socks
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Api = Literal["chat", "responses"]
#: The path of each, and what reads its replies.
_APIS: Mapping[Api, tuple[str, Callable[[str], Reading]]] = {
    "responses": ("/responses", responses.ResponsesReading),
    "chat": ("/chat/completions", chat.ChatReading),
}
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
        changes: dict[str, Any] = {}
        if _ANSWERS.index(self.answers) > _ANSWERS.index(limits.answers):
            changes["answers"] = self.answers
        if "marks" in self.fields and limits.cache == "explicit":
            changes["cache"] = "automatic"
        return limits.model_copy(update=changes) if changes else limits

    def accepted_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        sent = {name: value for name, value in params.items() if name not in self.fields}
        for name, other in (_CAPS, _CAPS[::-1]):
            if name in self.fields and name in params and other not in self.fields:
                sent[other] = params[name]
        return sent

    def note(self, answer: httpx2.Response, params: Mapping[str, Any], answers: str) -> bool:
        """Remember what a server refuses of these parameters; False: nothing that can be spared.

        `answers` is how a structured answer was asked for.
        """
        if answer.status_code not in _WRONG_REQUEST:
            return False
        text = said_in(read_body(answer.text))
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
    words_for = {"stream_options": r"stream_options|include_usage"}.get(name, re.escape(name))
    return bool(re.search(rf"(?<![A-Za-z_])(?:{words_for})(?![A-Za-z_])", message))


class OpenAIProvider(SDKProvider):
    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        *,
        dialect: Dialect = OPENAI,
        records: tuple[Record, ...] = (),
        stall: StallLimits = USUAL_STALL_LIMITS,
    ) -> None:
        """Keep what is needed to connect; `dialect` says how to speak to the vendor."""
        self.name, self.vendor, self.address = dialect.name, dialect.vendor, dialect.base_url
        super().__init__(key, base_url, records=records, stall=stall)
        self._dialect = dialect
        self._api: Api = "responses" if dialect.responses else "chat"
        #: By model.
        self._refusals: dict[str, Refusals] = {}

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask once; again only without what the server refuses."""
        check_key(self.vendor, self._key)
        api = self._api
        refusals = self._refusals.setdefault(request.model, Refusals())
        while True:
            limits = refusals.limit_capability(self._limits(request.model))
            params = refusals.accepted_parameters(self._parameters(api, request, limits))
            path, reader = _APIS[api]
            reading = reader(self.vendor)
            try:
                reply = await self._send(
                    path, params, request, reading=reading, began=on_first_token
                )
            except Exception as error:  # noqa: BLE001 - whatever the SDK and the network raise
                answer = answer_in(error)
                if answer is not None and refusals.note(answer, params, limits.answers):
                    continue
                if answer is not None and api == "responses" and lacks_responses(answer):
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

    def _parameters(self, api: Api, request: ModelRequest, limits: Capability) -> dict[str, Any]:
        params: dict[str, Any] = {"stream": True}
        if self._dialect.name == OPENAI.name and request.user:
            params["safety_identifier"] = request.user
        if api == "chat":
            return chat.parameters(request, limits, self._dialect) | params
        own = self._dialect.openai_fields
        return responses.parameters(request, limits, openai_fields=own) | params

    def _new_client(self) -> tuple[Any, Any]:
        from openai import AsyncStream  # noqa: PLC0415 - slow, and not always needed

        client = openai_client(self._key, self._base_url)
        if not self._dialect.openai_fields:
            # The SDK takes them from the environment and would send them to any server.
            client.organization = client.project = None
        return client, AsyncStream[object]

    async def _listed(self, client: Any) -> object:
        if self.name == OPENROUTER.name:  # everybody may see its models; only this shows the key
            await client.get("/key", cast_to=object)
        return await client.get("/models", cast_to=object)


def openai_client(key: str, base_url: str, **options: Any) -> "AsyncOpenAI":
    """A client of OpenAI's SDK; importing that takes up to a second."""
    from openai import (  # noqa: PLC0415 - slow, and not always needed
        AsyncOpenAI,
        DefaultAioHttpClient,
        DefaultAsyncHttpxClient,
    )

    http = http_client(DefaultAsyncHttpxClient if names_socks() else DefaultAioHttpClient)
    return AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0, http_client=http, **options)


def lacks_responses(answer: httpx2.Response) -> bool:
    """Whether a server's answer says that its address has no Responses API.

    Never for a refused key, a rate limit or a failing server, and not for a model that is unknown.
    """
    body = read_body(answer.text)
    if answer.status_code in _NO_SUCH_METHOD:
        return "model" not in code_of(body)
    text = said_in(body)
    is_unsure = answer.status_code in _MAYBE_UNSUPPORTED
    return is_unsure and bool(_UNSUPPORTED.search(text) and _ADDRESS.search(text))
