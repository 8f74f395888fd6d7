"""Ollama's native API, because its OpenAI-compatible one cannot set the context window.

By default Ollama drops the oldest text silently. So each request sets a window that is large
enough. The window only grows within a debate, because Ollama reloads the model at each change.
"""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

import httpx2

from core.capabilities import Capability, Record, capability, says_context
from core.errors import ProviderDown, RequestRejected
from core.llm.prices import ESTIMATE_SLACK, estimate_tokens, output_reserve
from core.llm.prompt_text import pieces, prompt_text
from core.llm.providers.errors import ReplyFailed, translate
from core.llm.providers.fields import count, dig, items, words
from core.llm.providers.reading import Reading, failure, read_reply
from core.llm.providers.sdk import http_client
from core.request import ModelReply, ModelRequest
from core.settings import USUAL_STALL_LIMITS, StallLimits
from core.usage import Usage
from core.values import Recent

DEFAULT_URL = "http://127.0.0.1:11434"
_VENDOR = "Ollama"
_SMALLEST_WINDOW = 4096
#: Debates whose windows are kept.
_REMEMBERED = 256
_NOT_FOUND = 404


class OllamaProvider:
    name = "ollama"

    def __init__(
        self,
        base_url: str | None = None,
        *,
        records: tuple[Record, ...] = (),
        stall: StallLimits = USUAL_STALL_LIMITS,
    ) -> None:
        # People also write `host:port`, or the path of its OpenAI-compatible API.
        url = base_url or DEFAULT_URL
        self._base_url = (url if "://" in url else f"http://{url}").rstrip("/").removesuffix("/v1")
        self._records = records
        #: Context sizes of models, in tokens, as Ollama reports them.
        self._contexts: dict[str, int] = {}
        #: The largest window so far, by model and debate.
        self._windows: Recent[tuple[str, str], int] = Recent(_REMEMBERED)
        self._stall = stall
        self._http: httpx2.AsyncClient | None = None

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reading, stall = _OllamaReading(_VENDOR), self._stall
        try:
            params = self._parameters(request)
            async with (
                asyncio.timeout(stall.first_token) as limit,
                self._client().stream("POST", "/api/chat", json=params) as response,
            ):
                if response.is_error:
                    await response.aread()
                    _check_model(response)
                    response.raise_for_status()
                return await read_reply(
                    reading, response, request, on_first_token, stall=stall, limit=limit
                )
        except Exception as error:  # noqa: BLE001 - whatever the network raises
            raise failure(reading, error, request) from None

    async def models(self) -> tuple[str, ...]:
        answer = await self._json("GET", "/api/tags")
        if not isinstance(dig(answer, "models"), list):
            raise ProviderDown("What answers is not Ollama.")
        return tuple(name for model in items(answer, "models") if (name := words(model, "name")))

    async def context(self, model: str) -> int:
        """The model's context size in tokens; 0 if Ollama does not report it."""
        answer = await self._json("POST", "/api/show", json={"model": model})
        facts = dig(answer, "model_info")
        fields = cast("dict[str, Any]", facts) if isinstance(facts, dict) else {}
        lengths = [count(fields, name) for name in fields if name.endswith(".context_length")]
        tokens = max(lengths, default=0)
        if tokens and not says_context(self.name, model, self._records):
            self._contexts[model] = tokens
        return tokens

    async def _json(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = await self._client().request(method, path, timeout=3.0, **options)
            response.raise_for_status()
            return response.json()
        except Exception as error:  # noqa: BLE001 - whatever the network raises
            raise translate(_VENDOR, error) from None

    async def close(self) -> None:
        if self._http:
            await self._http.aclose()
            self._http = None

    def _parameters(self, request: ModelRequest) -> dict[str, Any]:
        """The body of the request, with a window at least as large as before in this debate."""
        limits = capability(self.name, request.model, overrides=self._records)
        context = self._contexts.get(request.model, limits.context_tokens)
        reply = output_reserve(limits, request)
        key = (request.model, request.cache_key)
        window = max(_window(request, limits, context, reply), self._windows.get(key, 0))
        self._windows[key] = window
        options: dict[str, Any] = {"num_ctx": window, "num_predict": reply}
        if limits.sampling and request.temperature is not None:
            options["temperature"] = request.temperature
        prompt = "".join(piece.text for piece in pieces(request))
        system = [{"role": "system", "content": request.system}] if request.system else []
        return {
            "model": request.model,
            "messages": [*system, {"role": "user", "content": prompt}],
            "options": options,
            "stream": True,
            "think": limits.efforts.get(request.effort, False),
            "truncate": False,
            "shift": False,
            **({"format": dict(request.answer.schema)} if request.answer else {}),
        }

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            self._http = http_client(base_url=self._base_url)
        return self._http


def _check_model(response: httpx2.Response) -> None:
    if response.status_code == _NOT_FOUND:
        raise RequestRejected("Ollama does not have this model: run `ollama pull` for it.")


def _window(request: ModelRequest, limits: Capability, context: int, reply: int) -> int:
    """The context window for a request, in tokens: a power of two, so that it seldom grows.

    Raises:
        RequestRejected: The model's context is smaller.
    """
    prompt = request.prompt_tokens  # measured by `Measure.fit` in a debate
    if prompt is None:
        prompt = estimate_tokens(prompt_text(request), limits.token_factor)
    required = int(prompt * ESTIMATE_SLACK) + reply
    if required > context:
        raise RequestRejected(
            f"About {required} tokens are needed, and the model's context holds {context}."
        )
    return min(max(_SMALLEST_WINDOW, 1 << (required - 1).bit_length()), context)


class _OllamaReading(Reading):
    def take(self, event: object) -> bool:
        if dig(event, "error"):
            raise ReplyFailed(event)
        self.model = words(event, "model") or self.model
        self._add(words(event, "message", "content"))
        self._thoughts.append(words(event, "message", "thinking"))
        if dig(event, "done") is True:
            self._report, end = event, words(event, "done_reason") or "stop"
            self._end = "" if end == "unload" else end  # the model was unloaded during its reply
        return True

    def usage(self) -> Usage:
        return Usage(
            input_tokens=count(self._report, "prompt_eval_count"),
            output_tokens=count(self._report, "eval_count"),
            cost=Decimal(0),
            attempts=1,
        )
