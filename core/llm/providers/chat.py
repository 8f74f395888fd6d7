"""The Chat Completions API, which many vendors speak: what is sent, and how its reply is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from core.capabilities import Capability
from core.llm.prices import output_reserve
from core.llm.prompt_text import Piece, answer_format, blocks, pieces, schema_in_words
from core.llm.providers.errors import ReplyFailed, refusal
from core.llm.providers.fields import dig, items, openai_usage, words
from core.llm.providers.reading import Reading
from core.request import ModelRequest
from core.usage import Usage

_OPENAI_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_ANTHROPIC_MARK = {"cache_control": {"type": "ephemeral"}}
#: What thoughts are called beside the text.
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    #: The provider's name in settings.
    name: str
    #: The vendor's name, for people.
    vendor: str
    base_url: str
    #: Speaks Responses, unless its address turns out to have none.
    responses: bool = False
    #: Fields that only this vendor knows.
    own_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Sends OpenAI's own fields (store, cache key and options).
    openai_fields: bool = False


def parameters(request: ModelRequest, limits: Capability, dialect: Dialect) -> dict[str, Any]:
    cut = pieces(request)
    if request.answer and limits.answers != "strict":
        cut.append(Piece(schema_in_words(request.answer)))
    # Plain text, unless places must be marked.
    content: object = "".join(piece.text for piece in cut)
    if limits.cache == "explicit":
        content = blocks(cut, _OPENAI_MARK if dialect.openai_fields else _ANTHROPIC_MARK)
    system = [{"role": "system", "content": request.system}] if request.system else []
    form = answer_format(request, limits.answers)
    if form and limits.answers == "strict":
        form = {"type": form.pop("type"), "json_schema": form}
    # Reasoning models refuse the old field that caps the reply, old servers the new one.
    cap = "max_completion_tokens" if limits.efforts else "max_tokens"
    own: dict[str, Any] = {}
    # Only OpenAI's own models take these; compatible servers may refuse such fields.
    if dialect.openai_fields and limits.cache != "none":
        marked = {"mode": "explicit"} if limits.cache == "explicit" else None
        key = request.cache_key or None
        own = {"store": False, "prompt_cache_key": key, "prompt_cache_options": marked}
    params: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, {"role": "user", "content": content}],
        cap: output_reserve(limits, request.max_output_tokens, request.effort),
        "stream_options": {"include_usage": True},
        "temperature": request.temperature if limits.sampling else None,
        "reasoning_effort": limits.efforts.get(request.effort),
        "response_format": form,
        **own,
        **dialect.own_fields,
    }
    return {name: value for name, value in params.items() if value is not None}


class ChatReading(Reading):
    def __init__(self, vendor: str) -> None:
        super().__init__(vendor)
        self._thoughts: list[str] = []
        self._refusal = ""
        self._usage: object = None

    def take(self, event: object) -> bool:
        choices = items(event, "choices")
        for failed in (event, *choices):
            if dig(failed, "error"):
                raise ReplyFailed(failed)
        self.model = words(event, "model") or self.model
        self._usage = dig(event, "usage") or self._usage
        for choice in choices:
            message = dig(choice, "message") or dig(choice, "delta")
            self._add(_text_of(dig(message, "content")) or words(choice, "text"))
            self._end = words(choice, "finish_reason") or self._end
            # Besides text: thoughts, a refusal, an answer sent as a tool call.
            calls = (words(call, "function", "arguments") for call in items(message, "tool_calls"))
            thoughts = (words(message, name) for name in _THOUGHTS)
            self._thoughts += [next(filter(None, thoughts), ""), *calls]
            self._refusal += words(message, "refusal")
        return bool(choices)

    def usage(self) -> Usage:
        return openai_usage(self._usage, "prompt", "completion")

    def text(self) -> str:
        if self._refusal:
            raise refusal(self.vendor, self._refusal)
        text = super().text()
        return text if text.strip() else "".join(self._thoughts)


def _text_of(content: object) -> str:
    """The text in the content of a message: itself, or of its parts without their thoughts."""
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return "".join(
        part if isinstance(part, str) else words(part, "text")
        for part in parts
        if words(part, "type") in {"", "text", "output_text"}
    )
