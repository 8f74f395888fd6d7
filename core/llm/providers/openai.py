"""OpenAI and compatible vendors, through OpenAI's SDK.

Uses the Responses API, or Chat Completions if an address has no Responses. Optional fields that a
server refuses are left out of later requests to the same model.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx2

from core.capabilities import Capability, Record
from core.errors import RequestRejected
from core.llm.prices import output_reserve
from core.llm.prompt_text import Piece, blocks, pieces
from core.llm.providers.errors import (
    TOO_LONG,
    ReplyFailed,
    answer_in,
    check_key,
    error_code,
    error_text,
    read_body,
)
from core.llm.providers.fields import count, dig, items, money, words
from core.llm.providers.reading import Reading, failure
from core.llm.providers.sdk import SDKProvider, http_client
from core.proxies import names_socks
from core.request import ModelReply, ModelRequest, Part, PartKind
from core.settings import USUAL_STALL_LIMITS, StallLimits
from core.usage import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Api = Literal["chat", "responses"]
_NO_SUCH_METHOD = frozenset({404, 405})
_MAYBE_UNSUPPORTED = frozenset({400, 501})
#: A message that matches both patterns is about the address, not about a field.
_UNSUPPORTED = re.compile(
    r"(?:not|un|in|no)[ -]?(?:supported|implemented|known|recogni[sz]ed|available|found|such)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"endpoint|\broute|\bpath\b|\burl\b|/responses|responses api", re.IGNORECASE)

#: Statuses for a refused field.
_WRONG_REQUEST = frozenset({400, 422, 500, 501})
#: Refusals of a schema or of JSON, and failures of a model to keep to a schema.
_FORM_REFUSED = re.compile(
    r"response_format|text\.format|json_schema|json_object|json mode|structured output"
    r"|\bschema\b|grammar|peg-native|json_validate_failed|failed to generate json",
    re.IGNORECASE,
)
_FAILED_ONCE = re.compile(r"json_validate_failed|failed to generate json", re.IGNORECASE)
#: Modes of structured answers, the strictest first.
_ANSWERS = ("strict", "object", "prompt")
#: Both names of the limit of a reply's tokens; some servers know only one.
_CAPS = ("max_tokens", "max_completion_tokens")
#: Optional fields.
_OPTIONAL = (
    *("stream_options", "temperature", "reasoning_effort", "reasoning", "store"),
    *("prompt_cache_key", "prompt_cache_options", "safety_identifier", "max_output_tokens"),
)
#: Refusals of features that are no single field.
_FEATURES = {
    "stream": re.compile(
        r"to stream\b|^param: stream$|\bstream(?:ing)? (?:is|mode|responses?)? ?not",
        re.IGNORECASE | re.MULTILINE,
    ),
    "marks": re.compile(r"cache_control|prompt_cache_breakpoint", re.IGNORECASE),
    # Templates of Gemma and of older Mistral models have no system message.
    "system": re.compile(
        r"system role|support '?system|developer instruction|roles must alternate", re.IGNORECASE
    ),
}
#: OpenRouter has no vendor of the model that supports all fields of the request.
_NO_VENDOR = re.compile(r"no endpoints found.{0,40}requested parameters", re.IGNORECASE)
_OPENAI_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_ANTHROPIC_MARK = {"cache_control": {"type": "ephemeral"}}
#: Fields with reasoning text.
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    #: The name in settings.
    name: str
    #: The name shown to people.
    vendor: str
    base_url: str
    #: Whether to try the Responses API first.
    responses: bool = False
    #: Fields that only this vendor knows.
    own_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Whether to send the fields of OpenAI alone (store, cache key and options).
    openai_fields: bool = False


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
    # Routes only to vendors that support all fields (the schema above all); reports the price.
    own_fields={"provider": {"require_parameters": True}, "usage": {"include": True}},
)
MOONSHOT = Dialect(name="moonshot", vendor="Moonshot", base_url="https://api.moonshot.ai/v1")


@dataclass
class Refusals:
    """The refused features of one model at a server."""

    #: Refused fields; `stream`, `marks` and `system` are features.
    fields: set[str] = field(default_factory=set[str])
    #: The strictest accepted mode of structured answers.
    answers: str = _ANSWERS[0]
    #: Failures of the model to keep to a schema, by mode.
    failures: Counter[str] = field(default_factory=Counter[str])

    def limit_capability(self, limits: Capability) -> Capability:
        answers = max(self.answers, limits.answers, key=_ANSWERS.index)
        refuses_marks = "marks" in self.fields and limits.cache == "explicit"
        cache = "automatic" if refuses_marks else limits.cache
        return limits.model_copy(update={"answers": answers, "cache": cache})

    def accepted_request(self, request: ModelRequest) -> ModelRequest:
        """The request; if the model has no system message, with its text before the prompt."""
        if "system" not in self.fields:
            return request
        system = Part(kind=PartKind.TASK, label="System", text=request.system)
        return replace(request, system="", parts=(system, *request.parts))

    def accepted_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        accepted = {name: value for name, value in params.items() if name not in self.fields}
        for name, alternative in (_CAPS, _CAPS[::-1]):
            if name in self.fields and name in params:
                accepted[alternative] = params[name]
        return accepted

    def record(self, answer: httpx2.Response, params: Mapping[str, Any], answers: str) -> bool:
        """Record the refused field or mode; return whether there is one.

        `answers` is the mode of structured answers in this request.
        """
        text = error_text(read_body(answer.text))
        if "provider" in params and _NO_VENDOR.search(text):
            # Without it a vendor may ignore a schema: the prompt states it from now on.
            self.fields.add("provider")
            self.answers = max(answers, _ANSWERS[1], key=_ANSWERS.index)
            return True
        if answer.status_code not in _WRONG_REQUEST:
            return False
        if {"response_format", "text"} & {*params} and _FORM_REFUSED.search(text):
            self.failures[answers] += 1
            if not (_FAILED_ONCE.search(text) and self.failures[answers] == 1):
                self.answers = _ANSWERS[_ANSWERS.index(answers) + 1]
            return True
        field_name = self._refused_field(text, params)
        self.fields |= {field_name} - {""}
        return bool(field_name)

    def _refused_field(self, message: str, params: Mapping[str, Any]) -> str:
        """The field or feature that a server refuses for the first time; empty if none."""
        # Some servers quote the request after the field.
        for name in (*_OPTIONAL, *_CAPS):
            spelling = "stream_options|include_usage" if name == "stream_options" else name
            if name in params and re.search(rf"(?<![A-Za-z_])(?:{spelling})(?![A-Za-z_])", message):
                # The server may refuse the value of a cap instead; and one cap is necessary.
                is_kept = name in _CAPS and (TOO_LONG.search(message) or self.fields & {*_CAPS})
                return "" if is_kept else name
        features = {name for name, pattern in _FEATURES.items() if pattern.search(message)}
        return next(iter(features - self.fields), "")


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
        self.name, self.vendor, self.address = dialect.name, dialect.vendor, dialect.base_url
        super().__init__(key, base_url, records=records, stall=stall)
        self._dialect = dialect
        self._api: Api = "responses" if dialect.responses else "chat"
        #: By model.
        self._refusals: dict[str, Refusals] = {}

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Send the request; repeat it without what the server refuses."""
        check_key(self.vendor, self._key)
        api = self._api
        refusals = self._refusals.setdefault(request.model, Refusals())
        while True:
            limits = refusals.limit_capability(self._limits(request.model))
            accepted = refusals.accepted_request(request)
            params = refusals.accepted_parameters(parameters(api, accepted, limits, self._dialect))
            path, reader = _APIS[api]
            reading = reader(self.vendor)
            try:
                reply = await self._send(
                    path, params, request, reading=reading, began=on_first_token
                )
            except Exception as error:  # noqa: BLE001 - whatever the SDK and the network raise
                answer = answer_in(error)
                if answer is not None and refusals.record(answer, params, limits.answers):
                    continue
                if answer is not None and api == "responses" and lacks_responses(answer):
                    api = "chat"
                    continue
                provider_error = failure(reading, error, request, self._key)
                # If Chat Completions reject the request too, the address is wrong or the model does
                # not exist. That says nothing about Responses.
                if not isinstance(provider_error, RequestRejected):
                    self._api = api
                raise provider_error from None
            self._api = api
            return reply

    def left_out(self, model: str) -> Sequence[str]:
        """The features that are no longer sent to a model, in words."""
        refusals = self._refusals.get(model, Refusals())
        weaker = [] if refusals.answers == _ANSWERS[0] else [f"answers by {_ANSWERS[0]} schema"]
        return [*sorted(refusals.fields), *weaker]

    def _new_client(self) -> tuple[Any, Any]:
        from openai import AsyncStream  # noqa: PLC0415 - slow, and not always needed

        client = openai_client(self._key, self._base_url)
        if not self._dialect.openai_fields:
            # The SDK reads them from the environment and would send them to any server.
            client.organization = client.project = None
        return client, AsyncStream[object]

    async def _listed(self, client: Any) -> object:
        if self.name == OPENROUTER.name:  # its list of models is public; this checks the key
            await client.get("/key", cast_to=object)
        return await client.get("/models", cast_to=object)


def openai_client(key: str, base_url: str, **options: Any) -> "AsyncOpenAI":
    """A client of OpenAI's SDK; importing that takes up to a second.

    The address may have a query, as Azure's do (`?api-version=…`).
    """
    from openai import (  # noqa: PLC0415 - slow, and not always needed
        AsyncOpenAI,
        DefaultAioHttpClient,
        DefaultAsyncHttpxClient,
    )

    url = httpx2.URL(base_url)
    options |= {"base_url": url.copy_with(query=None), "default_query": dict(url.params)}
    http = http_client(DefaultAsyncHttpxClient if names_socks() else DefaultAioHttpClient)
    return AsyncOpenAI(api_key=key, max_retries=0, http_client=http, **options)


def lacks_responses(answer: httpx2.Response) -> bool:
    """Whether the response means that the address has no Responses API.

    False for a refused key, a rate limit, a server error and an unknown model.
    """
    body = read_body(answer.text)
    if answer.status_code in _NO_SUCH_METHOD:
        return "model" not in error_code(body)
    text = error_text(body)
    is_unsure = answer.status_code in _MAYBE_UNSUPPORTED
    return is_unsure and bool(_UNSUPPORTED.search(text) and _ADDRESS.search(text))


def parameters(
    api: Api, request: ModelRequest, limits: Capability, dialect: Dialect
) -> dict[str, Any]:
    """The body of the request. Only OpenAI gets its own fields, which other servers may refuse."""
    speak = _responses_parameters if api == "responses" else _chat_parameters
    cut = pieces(request)
    if request.answer and limits.answers != "strict":
        schema = json.dumps(request.answer.schema, ensure_ascii=False)
        cut.append(
            Piece(
                "\n\nReply with one JSON object and nothing else. It must fit this JSON Schema,"
                f" with every field filled:\n{schema}"
            )
        )
    params: dict[str, Any] = {
        "model": request.model,
        "stream": True,
        "temperature": request.temperature if limits.sampling else None,
        **speak(request, limits, dialect, cut),
    }
    # Models without a cache may refuse its fields.
    if dialect.openai_fields and limits.cache != "none":
        params["prompt_cache_key"] = request.cache_key or None
        # Disables the automatic breakpoint after the last message, which no other call shares.
        cache_options = {"mode": "explicit"} if limits.cache == "explicit" else None
        params |= {"store": False, "prompt_cache_options": cache_options}
    if dialect is OPENAI:
        params["safety_identifier"] = request.user or None
    return {name: value for name, value in params.items() if value is not None}


def _answer_format(request: ModelRequest, answers: str) -> dict[str, Any] | None:
    """The answer format of Responses; None if only the prompt describes the answer."""
    if not request.answer or answers == "prompt":
        return None
    if answers == "object":
        return {"type": "json_object"}
    form = {"name": request.answer.name, "schema": dict(request.answer.schema), "strict": True}
    return {"type": "json_schema", **form}


def _responses_parameters(
    request: ModelRequest, limits: Capability, dialect: Dialect, cut: Sequence[Piece]
) -> dict[str, Any]:
    is_marked = dialect.openai_fields and limits.cache == "explicit"
    content = blocks(cut, _OPENAI_MARK if is_marked else {}, "input_text")
    form, effort = _answer_format(request, limits.answers), limits.efforts.get(request.effort)
    return {
        "input": [{"role": "user", "content": content}],
        "instructions": request.system or None,
        "max_output_tokens": output_reserve(limits, request),
        "reasoning": {"effort": effort} if effort else None,
        "store": False if dialect.openai_fields else None,
        "text": {"format": form} if form else None,
    }


def _chat_parameters(
    request: ModelRequest, limits: Capability, dialect: Dialect, cut: Sequence[Piece]
) -> dict[str, Any]:
    # Plain text, unless there are cache breakpoints.
    content: object = "".join(piece.text for piece in cut)
    if limits.cache == "explicit":
        content = blocks(cut, _OPENAI_MARK if dialect.openai_fields else _ANTHROPIC_MARK)
    system = [{"role": "system", "content": request.system}] if request.system else []
    form = _answer_format(request, limits.answers)
    if form and limits.answers == "strict":
        form = {"type": form.pop("type"), "json_schema": form}
    # Reasoning models refuse the old name of the token limit, old servers the new one.
    cap = "max_completion_tokens" if limits.efforts else "max_tokens"
    return {
        "messages": [*system, {"role": "user", "content": content}],
        cap: output_reserve(limits, request),
        "stream_options": {"include_usage": True},
        "reasoning_effort": limits.efforts.get(request.effort),
        "response_format": form,
        **dialect.own_fields,
    }


class ChatReading(Reading):
    def take(self, event: object) -> bool:
        choices = items(event, "choices")
        for failed in (event, *choices):
            if dig(failed, "error"):
                raise ReplyFailed(failed)
        self.model = words(event, "model") or self.model
        self._report = dig(event, "usage") or self._report
        for choice in choices:
            message = dig(choice, "message") or dig(choice, "delta")
            if text := _text_of(dig(message, "content")) or words(choice, "text"):
                self._add(text)
            else:  # reasoning, a refusal, an answer as a tool call
                calls = items(message, "tool_calls")
                thoughts = filter(None, (words(message, name) for name in _THOUGHTS))
                self._thoughts.append(next(thoughts, ""))
                self._thoughts += (words(call, "function", "arguments") for call in calls)
                self._refusal += words(message, "refusal")
            self._end = words(choice, "finish_reason") or self._end
        if not choices:
            self._remark = event
        return bool(choices)

    def usage(self) -> Usage:
        return _usage(self._report, "prompt", "completion")


def _text_of(content: object) -> str:
    """The text of a message's content, which may be a list of parts; without reasoning."""
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return "".join(
        part if isinstance(part, str) else words(part, "text")
        for part in parts
        if words(part, "type") in {"", "text", "output_text"}
    )


class ResponsesReading(Reading):
    def take(self, event: object) -> bool:
        kind = words(event, "type")
        if kind == "response.output_text.delta":  # the most frequent event
            self._add(words(event, "delta"))
            return True
        if dig(event, "output") is not None or words(event, "object") == "response":
            self._end_with(event)
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._end_with(dig(event, "response"))
        elif kind == "error" or dig(event, "error"):
            raise ReplyFailed(event)
        return kind.startswith("response.output_") or kind.endswith(".delta")

    def _end_with(self, response: object) -> None:
        self.model, self._report = words(response, "model"), dig(response, "usage")
        match words(response, "status"):
            case "failed":
                raise ReplyFailed({"error": dig(response, "error")})
            case "incomplete":
                self._end = words(response, "incomplete_details", "reason") or "length"
            case "completed" | "cancelled" as status:
                self._end = status
            case _:
                pass
        content = [
            part
            for item in items(response, "output")
            if words(item, "type") == "message"
            for part in items(item, "content")
        ]
        self._refusal = "".join(words(part, "refusal") for part in content)
        # Compatible servers may send the text in deltas only.
        texts = [words(part, "text") for part in content if words(part, "type") == "output_text"]
        self._texts = texts or self._texts

    def usage(self) -> Usage:
        return _usage(self._report, "input", "output")


def _usage(report: object, input_name: str, output_name: str) -> Usage:
    """The usage; the protocols have different names for input and output tokens."""
    details = f"{input_name}_tokens_details"
    tokens_in = count(report, f"{input_name}_tokens")
    # Gemini and Grok count reasoning in the total only.
    rest = count(report, "total_tokens") - tokens_in if tokens_in else 0
    return Usage(
        input_tokens=tokens_in,
        output_tokens=max(count(report, f"{output_name}_tokens"), rest),
        # Moonshot reports it beside the details.
        cached_tokens=count(report, details, "cached_tokens") or count(report, "cached_tokens"),
        written_tokens=count(report, details, "cache_write_tokens"),
        reasoning_tokens=count(report, f"{output_name}_tokens_details", "reasoning_tokens"),
        cost=money(report, "cost"),
        attempts=1,
    )


#: The path and the reader of each API.
_APIS: Mapping[Api, tuple[str, Callable[[str], Reading]]] = {
    "responses": ("/responses", ResponsesReading),
    "chat": ("/chat/completions", ChatReading),
}
