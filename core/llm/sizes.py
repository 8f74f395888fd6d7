"""How large a request is and what it may cost, learning from what models report."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import accumulate

from core.capabilities import Capability, Record, capability, says_context
from core.llm.cache_warmup import beginning_keys
from core.llm.fitting import fit_request
from core.llm.prices import Prices, corrected_factor, estimate_tokens, output_reserve, worst_cost
from core.llm.prompt_text import pieces, prompt_text
from core.request import ModelRequest
from core.usage import Usage

#: A reply takes a third of a context at most.
_REPLYS_SHARE = 3
#: What is left of a context that turned out to be smaller, where the server does not say its size.
_SMALLER = 0.75


class Measure:
    def __init__(self, records: Sequence[Record]) -> None:
        """Take settings' own records of capabilities.

        Raises:
            ValueError: One has a field that does not exist or a value that does not fit.
        """
        capability("", "", records)
        self._factors: dict[tuple[str, str], float] = {}
        self._records = tuple(records)
        self._known: dict[tuple[str, str], Capability] = {}

    def capability(self, provider: str, model: str) -> Capability:
        key = (provider, model)
        if key not in self._known:
            self._known[key] = capability(provider, model, self._records)
        return self._known[key]

    def learn_context(self, provider: str, model: str, tokens: int) -> None:
        """Take the context that a provider tells of, unless settings say another one."""
        if not says_context(provider, model, self._records):
            limits = self.capability(provider, model)
            changes = {"context_tokens": tokens}
            self._known[provider, model] = limits.model_copy(update=changes)

    def learn_too_long(
        self, provider: str, request: ModelRequest, window: int, tokens: int
    ) -> None:
        """Learn that a prompt was too long for a model.

        `request` is the one before it was fitted, `window` what the model was taken to hold then,
        `tokens` what the server says that it holds (0: it does not say).
        """
        limits = self.capability(provider, request.model)
        if limits.context_tokens < window:
            return  # another call has learnt it already
        if not 0 < tokens < window:
            reserve = output_reserve(limits, request.max_output_tokens, request.effort)
            tokens = int(_SMALLER * min(self.prompt_tokens(provider, request) + reserve, window))
        self._known[provider, request.model] = limits.model_copy(update={"context_tokens": tokens})

    def tokens(self, provider: str, model: str, text: str) -> int:
        factor = self._factors.get((provider, model))
        return estimate_tokens(text, factor or self.capability(provider, model).token_factor)

    def prompt_tokens(self, provider: str, request: ModelRequest) -> int:
        return self.tokens(provider, request.model, prompt_text(request))

    def learn(self, provider: str, request: ModelRequest, usage: Usage) -> None:
        key = (provider, request.model)
        factor = self._factors.get(key) or self.capability(*key).token_factor
        estimated = self.prompt_tokens(provider, request)
        self._factors[key] = corrected_factor(factor, estimated, usage.input_tokens)

    def worst(
        self,
        provider: str,
        request: ModelRequest,
        prices: Prices,
        *,
        at: datetime | None = None,
    ) -> Decimal | None:
        """The most one attempt can cost at a time (None: now); None when the price is unknown."""
        limits = self.capability(provider, request.model)
        if limits.local:
            return Decimal(0)
        tokens_in = self.prompt_tokens(provider, request)
        tokens_out = output_reserve(limits, request.max_output_tokens, request.effort)
        return worst_cost(provider, request.model, (tokens_in, tokens_out), prices, at=at)

    def with_estimates(
        self, provider: str, request: ModelRequest, text: str, usage: Usage
    ) -> Usage:
        if usage.input_tokens or usage.output_tokens or usage.cost is not None:
            return usage
        read = self.prompt_tokens(provider, request)
        written = self.tokens(provider, request.model, text)
        return usage.model_copy(update={"input_tokens": read, "output_tokens": written})

    def fit(self, provider: str, request: ModelRequest) -> ModelRequest:
        """The request, parts that may be trimmed shortened where the model's context is too small.

        Its `prompt_tokens` say how long it was found to be: a provider comes to the same result.

        Raises:
            LimitReached: It does not fit even then.
        """
        limits = self.capability(provider, request.model)
        tokens = partial(self.prompt_tokens, provider)
        # In a small context the prompt needs its room, too.
        room = limits.context_tokens // _REPLYS_SHARE - limits.reasoning_tokens[request.effort]
        if 0 < room < request.max_output_tokens:
            request = replace(request, max_output_tokens=room)
        short = fit_request(request, limits, tokens)
        return replace(short, prompt_tokens=tokens(short))

    def beginnings(self, provider: str, request: ModelRequest) -> dict[str, int]:
        """The beginnings that the vendor will cache: key → tokens, shortest first.

        Empty if it caches none, or not by marked places.
        """
        limits = self.capability(provider, request.model)
        if limits.cache != "explicit" or not request.cache_key:
            return {}
        cut = pieces(request)
        last = max((at for at, piece in enumerate(cut) if piece.breakpoint), default=-1)
        shared = cut[: last + 1]
        texts = [request.system, *(piece.text for piece in shared)]
        # The schema is part of the beginning.
        form = json.dumps(dict(request.answer.schema)) if request.answer else ""
        scope = (provider, request.model, request.effort, request.cache_key, form)
        keys = beginning_keys("\0".join(scope), texts)[1:]
        sizes = [self.tokens(provider, request.model, text) for text in accumulate(texts)][1:]
        pairs = zip(keys, sizes, strict=True)
        return {key: size for key, size in pairs if size >= limits.cache_min_tokens}
