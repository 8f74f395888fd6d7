"""OpenAI's Responses API: what is sent, and how its reply is read."""

from typing import Any

from core.capabilities import Capability
from core.errors import ReplyCutOff
from core.llm.prices import output_reserve
from core.llm.prompt_text import answer_format, blocks, pieces, schema_in_words
from core.llm.providers.errors import ReplyFailed, ended_early, from_body, refusal
from core.llm.providers.fields import dig, items, openai_usage, words
from core.llm.providers.reading import Reading
from core.request import ModelRequest
from core.usage import Usage


def parameters(
    request: ModelRequest, limits: Capability, *, openai_fields: bool = True
) -> dict[str, Any]:
    """What to send; only OpenAI itself gets `openai_fields` (store, cache).

    Where places are marked for the cache, the vendor's own choice (after the last message, which is
    never shared) is switched off.
    """
    marks = openai_fields and limits.cache == "explicit"
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}} if marks else {}
    content = blocks(pieces(request), mark, "input_text")
    if request.answer and limits.answers != "strict":
        content.append({"type": "input_text", "text": schema_in_words(request.answer)})
    form = answer_format(request, limits.answers)
    # Models without a cache may refuse its fields.
    is_cached = openai_fields and limits.cache != "none"
    effort = limits.efforts.get(request.effort)
    params: dict[str, Any] = {
        "model": request.model,
        "input": [{"role": "user", "content": content}],
        "instructions": request.system or None,
        "max_output_tokens": output_reserve(limits, request.max_output_tokens, request.effort),
        "temperature": request.temperature if limits.sampling else None,
        "reasoning": {"effort": effort} if effort else None,
        "store": False if openai_fields else None,
        "prompt_cache_key": (request.cache_key or None) if is_cached else None,
        "prompt_cache_options": {"mode": "explicit"} if marks else None,
        "text": {"format": form} if form else None,
    }
    return {name: value for name, value in params.items() if value is not None}


class ResponsesReading(Reading):
    def __init__(self, vendor: str) -> None:
        super().__init__(vendor)
        #: The newest whole response.
        self._response: object = None

    def take(self, event: object) -> bool:
        kind = words(event, "type")
        if kind == "response.output_text.delta":  # nearly all are
            self._add(words(event, "delta"))
            return True
        if dig(event, "output") is not None or words(event, "object") == "response":
            self._response, self.model = event, words(event, "model")
            return True
        if kind == "error" or dig(event, "error"):
            raise ReplyFailed(event)
        if kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._response = dig(event, "response")
            self.model = words(self._response, "model")
        return kind.startswith("response.output_") or kind.endswith(".delta")

    def usage(self) -> Usage:
        return openai_usage(dig(self._response, "usage"), "input", "output")

    def text(self) -> str:
        match words(self._response, "status"):
            case "completed":
                # Compatible servers may have sent the text only in pieces.
                content = [
                    part
                    for item in items(self._response, "output")
                    if words(item, "type") == "message"
                    for part in items(item, "content")
                ]
                refusals = [part for part in content if words(part, "type") == "refusal"]
                if refusals:
                    raise refusal(self.vendor, words(refusals[0], "refusal"))
                texts = [
                    words(part, "text") for part in content if words(part, "type") == "output_text"
                ]
                return "".join(texts or self._texts)
            case "incomplete":
                reason = words(self._response, "incomplete_details", "reason")
                raise refusal(self.vendor) if reason == "content_filter" else ReplyCutOff()
            case "failed":
                raise from_body(self.vendor, 0, {"error": dig(self._response, "error")})
            case _:
                raise ended_early(self.vendor)
