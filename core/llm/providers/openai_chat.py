"""The Chat Completions API, which many vendors speak: what is sent, and how its reply is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.capabilities import Capability
from core.llm.prices import output_reserve
from core.llm.prompt_text import Piece, pieces
from core.llm.providers.fields import count, dig, items, money, words
from core.llm.providers.schema_text import in_words
from core.llm.providers.vendor_errors import cut_off, ended_early, from_code, refused
from core.models import Usage
from core.request import ModelRequest

_OPENAI_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_ANTHROPIC_MARK = {"cache_control": {"type": "ephemeral"}}
#: Words for a whole reply: the standard one, and those of odd servers.
_WHOLE = frozenset({"stop", "eos", "end_turn"})


@dataclass(frozen=True, kw_only=True)
class ChatDialect:
    """How one vendor's Chat Completions differ from another's."""

    #: The vendor's name, for people.
    vendor: str
    #: Fields that only this vendor knows.
    own_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Sends OpenAI's own fields (store, cache key and options).
    openai_fields: bool = False
    #: How a marked place is written.
    mark: Mapping[str, Any] = field(default_factory=lambda: _ANTHROPIC_MARK)


OPENAI_CHAT = ChatDialect(vendor="OpenAI", openai_fields=True, mark=_OPENAI_MARK)


def parameters(request: ModelRequest, limits: Capability, dialect: ChatDialect) -> dict[str, Any]:
    """What to send."""
    cut = pieces(request)
    if request.answer and limits.answers != "strict":
        cut.append(Piece(in_words(request.answer)))
    # Plain text, unless places must be marked.
    content: object = "".join(piece.text for piece in cut)
    if limits.cache == "explicit":
        content = [
            {"type": "text", "text": piece.text, **(dialect.mark if piece.breakpoint else {})}
            for piece in cut
        ]
    system = [{"role": "system", "content": request.system}] if request.system else []
    # Reasoning models refuse the old field that caps the reply, old servers the new one.
    cap = "max_completion_tokens" if limits.efforts else "max_tokens"
    params: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, {"role": "user", "content": content}],
        cap: output_reserve(limits, request.max_output_tokens, request.effort),
        "stream_options": {"include_usage": True},
    }
    if limits.sampling and request.temperature is not None:
        params["temperature"] = request.temperature
    if request.effort in limits.efforts:
        params["reasoning_effort"] = limits.efforts[request.effort]
    # Only OpenAI's own models take these; compatible servers may refuse such fields.
    if dialect.openai_fields and limits.cache != "none":
        params["store"] = False
        if request.cache_key:
            params["prompt_cache_key"] = request.cache_key
        if limits.cache == "explicit":
            params["prompt_cache_options"] = {"mode": "explicit"}
    params |= dialect.own_fields
    if request.answer and limits.answers == "object":
        params["response_format"] = {"type": "json_object"}
    elif request.answer and limits.answers != "prompt":
        form = {"name": request.answer.name, "schema": dict(request.answer.schema), "strict": True}
        params["response_format"] = {"type": "json_schema", "json_schema": form}
    return params


class ChatReading:
    """A reply of the Chat Completions API while it arrives."""

    def __init__(self, vendor: str) -> None:
        self.vendor = vendor
        self.model = ""
        self.length = 0
        self._texts: list[str] = []
        self._reason = ""
        self._refused = False
        self._usage: object = None

    def take(self, event: object) -> bool:
        """Add one chunk of the stream, or the whole reply in one piece.

        Raises:
            ProviderError: The chunk says that the reply failed.
        """
        if dig(event, "error"):
            raise from_code(self.vendor, words(event, "error", "code"))
        self.model = words(event, "model") or self.model
        self._usage = dig(event, "usage") or self._usage
        choices = items(event, "choices")
        for choice in choices:
            said = dig(choice, "message") or dig(choice, "delta")
            text = words(said, "content")
            self._texts.append(text)
            self.length += len(text)
            self._refused = self._refused or bool(words(said, "refusal"))
            self._reason = words(choice, "finish_reason") or self._reason
        return bool(choices)

    def usage(self) -> Usage:
        """What was reported; cached input is part of the input."""
        found = self._usage
        return Usage(
            input_tokens=count(found, "prompt_tokens"),
            output_tokens=count(found, "completion_tokens"),
            cached_tokens=count(found, "prompt_tokens_details", "cached_tokens")
            or count(found, "cached_tokens"),
            written_tokens=count(found, "prompt_tokens_details", "cache_write_tokens"),
            reasoning_tokens=count(found, "completion_tokens_details", "reasoning_tokens"),
            cost=money(found, "cost"),
            attempts=1,
        )

    def text(self) -> str:
        """The text of the complete reply.

        Raises:
            ProviderError: It is refused or cut off, or the stream just ended.
        """
        if self._refused or self._reason == "content_filter":
            raise refused(self.vendor)
        if self._reason == "length":
            raise cut_off(self.vendor)
        if self._reason not in _WHOLE:
            raise ended_early(self.vendor)
        return "".join(self._texts)
