"""Sizes and costs of requests, corrected by the usage that models report; fitting to a context.

If a prompt does not fit a model's context, its parts are shortened by `trim_priority`, with a mark
in the text.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import accumulate
from os.path import commonprefix

from core.capabilities import Capability, Record, capability, says_context
from core.errors import LimitReached
from core.figures import number, quantity
from core.llm.prices import (
    ESTIMATE_SLACK,
    NO_PRICES,
    Prices,
    corrected_factor,
    estimate_tokens,
    output_reserve,
    price,
    worst_cost,
)
from core.llm.prompt_text import pieces, prompt_text
from core.request import ModelRequest, Part, PartKind
from core.usage import SentPart, Usage

#: A reply takes at most 1/3 of a context.
_REPLY_DIVISOR = 3
#: Factor for a context that was too small, if the server does not report its size.
_SHRINK = 0.75
#: Characters that are left of each part, as long as they fit.
_MIN_PART_CHARS = 200
#: Earlier turns of the debate; the oldest text is cut first.
_HISTORY_LEVEL = 4
#: The agent's own text, which is never cut completely.
_OWN_LEVEL = 1
#: Levels of parts without a `trim_priority`. The question, the task and the agent's own text are
#: never cut.
_USUAL_LEVELS = {
    PartKind.SUMMARY: _HISTORY_LEVEL,
    PartKind.SOURCE: 3,
    PartKind.OTHER: 3,
    PartKind.CONTEXT: 2,
    PartKind.NOTES: 2,
    PartKind.CRITIQUE: 2,
    PartKind.POSITION: 2,
    PartKind.CANDIDATE: 2,
    PartKind.PLAYBOOK: 1,
    PartKind.TALLY: 1,
}
#: Number of lengths that are tried for the parts of one level.
_STEPS = 1024


class Measure:
    """Sizes of requests in tokens, and their cost, per model."""

    def __init__(self, records: Sequence[Record], prices: Prices = NO_PRICES) -> None:
        """`records` and `prices` are those of the settings.

        Raises:
            ValueError: A record has an unknown field or a wrong value.
        """
        capability("", "", records)
        self._factors: dict[tuple[str, str], float] = {}
        self._records = tuple(records)
        self._prices = prices
        self._known: dict[tuple[str, str], Capability] = {}

    def capability(self, provider: str, model: str) -> Capability:
        key = (provider, model)
        if key not in self._known:
            self._known[key] = capability(provider, model, self._records)
        return self._known[key]

    def learn_context(self, provider: str, model: str, tokens: int) -> None:
        """Store the context that a provider reports (0: none), unless the settings name one."""
        if tokens and not says_context(provider, model, self._records):
            changes = {"context_tokens": tokens}
            limits = self.capability(provider, model)
            self._known[provider, model] = limits.model_copy(update=changes)

    def learn_too_long(
        self, provider: str, request: ModelRequest, window: int, tokens: int
    ) -> None:
        """Store a smaller context after a prompt was too long for a model.

        `request` is the request before fitting, `window` the context assumed then, `tokens` the
        context that the server reports (0: none).
        """
        limits = self.capability(provider, request.model)
        if limits.context_tokens < window:
            return  # another call has stored it already
        if not 0 < tokens < window:
            reserve = output_reserve(limits, request)
            tokens = int(_SHRINK * min(self.prompt_tokens(provider, request) + reserve, window))
        self._known[provider, request.model] = limits.model_copy(update={"context_tokens": tokens})

    def learn(self, provider: str, request: ModelRequest, usage: Usage) -> None:
        key, estimated = (provider, request.model), self.prompt_tokens(provider, request)
        factor = corrected_factor(self._factor(*key), estimated, usage.input_tokens)
        self._factors[key] = factor

    def tokens(self, provider: str, model: str, text: str) -> int:
        return estimate_tokens(text, self._factor(provider, model))

    def prompt_tokens(self, provider: str, request: ModelRequest) -> int:
        return self.tokens(provider, request.model, prompt_text(request))

    def _factor(self, provider: str, model: str) -> float:
        return self._factors.get((provider, model)) or self.capability(provider, model).token_factor

    def worst(
        self, provider: str, request: ModelRequest, time: datetime | None = None
    ) -> Decimal | None:
        """The highest possible cost of an attempt, at this time or now; None if unknown."""
        limits = self.capability(provider, request.model)
        if limits.local:
            return Decimal(0)
        tokens_in = self.prompt_tokens(provider, request)
        tokens_out = output_reserve(limits, request)
        return worst_cost(provider, request.model, (tokens_in, tokens_out), self._prices, time=time)

    def with_cost(self, provider: str, model: str, usage: Usage, time: datetime) -> Usage:
        """The usage of one attempt with its cost: the vendor's figure, or from the price list."""
        cost = Decimal(0) if self.capability(provider, model).local else usage.cost
        if cost is None:
            cost = price(provider, model, usage, self._prices, time=time)
        return replace(usage, cost=cost, attempts=1)

    def with_estimates(
        self, provider: str, request: ModelRequest, text: str, usage: Usage
    ) -> Usage:
        """The usage; if the server reports none, with estimated tokens."""
        if usage.input_tokens or usage.output_tokens or usage.cost is not None:
            return usage
        tokens_in = self.prompt_tokens(provider, request)
        tokens_out = self.tokens(provider, request.model, text)
        return replace(
            usage, input_tokens=tokens_in, output_tokens=tokens_out, estimated_attempts=1
        )

    def fit(self, provider: str, request: ModelRequest) -> ModelRequest:
        """Shorten parts of the request if the model's context is too small.

        Sets `prompt_tokens`, so that the provider uses the same measured size.

        Raises:
            LimitReached: The shortest request does not fit either.
        """
        limits = self.capability(provider, request.model)
        tokens = partial(self.prompt_tokens, provider)
        # Leaves room for the prompt in a small context.
        room = limits.context_tokens // _REPLY_DIVISOR - limits.reasoning_tokens[request.effort]
        if 0 < room < request.max_output_tokens:
            request = replace(request, max_output_tokens=room)
        short = fit_request(request, limits, tokens)
        return replace(short, prompt_tokens=tokens(short))

    def cache_prefixes(self, provider: str, request: ModelRequest) -> Sequence[str]:
        """Keys of the prompt prefixes that the vendor will cache, the shortest first.

        Empty for models without a cache or without explicit cache breakpoints.
        """
        limits = self.capability(provider, request.model)
        if limits.cache != "explicit" or not request.cache_key:
            return ()
        cut = pieces(request)
        last = max((index for index, piece in enumerate(cut) if piece.breakpoint), default=-1)
        texts = [request.system, *(piece.text for piece in cut[: last + 1])]
        # The schema is part of the prefix.
        form = json.dumps(dict(request.answer.schema)) if request.answer else ""
        scope = (provider, request.model, request.effort, request.cache_key, form)
        keys = prefix_keys("\0".join(scope), texts)
        sizes = (self.tokens(provider, request.model, text) for text in accumulate(texts))
        pairs = [*zip(keys, sizes, strict=True)][1:]
        return [key for key, size in pairs if size >= limits.cache_min_tokens]


def prefix_keys(scope: str, texts: Sequence[str]) -> list[str]:
    """Keys of growing prefixes: one per text, for all texts up to this one.

    `scope` identifies the rest that must be equal for a cache hit (model, effort and so on).
    """
    digest = hashlib.sha256(scope.encode())
    keys: list[str] = []
    for text in texts:
        digest.update(f"\0{len(text)}\0{text}".encode("utf-8", "replace"))
        keys.append(digest.hexdigest())
    return keys


def fit_request(
    request: ModelRequest, limits: Capability, tokens: Callable[[ModelRequest], int]
) -> ModelRequest:
    """Shorten the request until it fits; parts with the highest `trim_priority` come first.

    Raises:
        LimitReached: The shortest request does not fit either.
    """
    reply = output_reserve(limits, request)
    room = limits.context_tokens - reply

    def fits(candidate: ModelRequest) -> bool:
        return tokens(candidate) * ESTIMATE_SLACK <= room

    full_request = request
    levels = sorted({_level(part) for part in request.parts} - {0}, reverse=True)
    minima = [(level, _MIN_PART_CHARS) for level in levels]
    minima += [(level, 0) for level in levels if level > _OWN_LEVEL]
    for level, min_chars in minima:
        if fits(request):
            return request
        # The longest text of this level that fits, or the shortest.
        shorten = partial(
            _shortened_request, full_request, request, level=level, min_chars=min_chars
        )
        fitting = bisect_right(range(_STEPS), 0, key=lambda step: not fits(shorten(step)))
        request = shorten(max(0, fitting - 1))
    if not fits(request):
        raise LimitReached(
            f"The prompt does not fit into the context of {request.model}: it is taken to hold"
            f" {quantity(limits.context_tokens, 'token')} (`context_tokens` under `models`),"
            f" and the reply may take {number(reply)} of them."
        )
    return request


def sent_parts(full_request: ModelRequest, short_request: ModelRequest) -> tuple[SentPart, ...]:
    """The sent and left-out characters of each part but the task, for the record."""
    records: list[SentPart] = []
    for part, short_part in zip(full_request.parts, short_request.parts, strict=True):
        if part.kind is PartKind.TASK:
            continue
        sent_chars = len(part.text)
        if short_part.text != part.text:  # the beginning or the end of the text, and a mark
            texts = (part.text, short_part.text)
            backwards = [text[::-1] for text in texts]
            sent_chars = max(
                len(commonprefix(pair))  # noqa: RUF071 - of texts, not of paths
                for pair in (texts, backwards)
            )
        left_out = len(part.text) - sent_chars
        records.append(
            SentPart(label=part.label, kind=part.kind.value, chars=sent_chars, left_out=left_out)
        )
    return tuple(records)


def _level(part: Part) -> int:
    """The level at which a part is shortened, the highest first; 0: never."""
    return part.trim_priority or _USUAL_LEVELS.get(part.kind, 0)


def _shortened_request(
    full_request: ModelRequest, request: ModelRequest, steps: int, *, level: int, min_chars: int
) -> ModelRequest:
    """The request with `steps / _STEPS` of the text of one level.

    At least `min_chars` characters of each part are left. In the history the oldest text is cut
    first, over all its parts; in other parts the end is cut.
    """
    parts, share = list[Part](), steps / _STEPS
    total = sum(len(part.text) for part in full_request.parts if _level(part) == level)
    excess = round(total * (1 - share))
    for part, current in zip(full_request.parts, request.parts, strict=True):
        if _level(part) != level:
            parts.append(current)
            continue
        length = len(part.text)
        if level == _HISTORY_LEVEL:
            count = min(excess, length)
            excess -= count
            text = _without_beginning(part.text, count)
        else:
            text = _without_end(part.text, length - max(min_chars, int(length * share)))
        parts.append(replace(part, text=text) if len(text) < length else part)
    return replace(request, parts=parts)


def _mark(left_out: int) -> str:
    return f"[… {quantity(left_out, 'character')} left out to fit the model's context]"


def _without_beginning(text: str, count: int) -> str:
    """Cut so many characters from the beginning, up to the end of a word, and add a mark."""
    if count <= 0:
        return text
    ending = text[count:]
    if ending and not text[count - 1].isspace():
        ending = ending.partition(" ")[2]
    ending = ending.lstrip()
    mark = _mark(len(text) - len(ending))
    return f"{mark}\n{ending}" if ending else mark


def _without_end(text: str, count: int) -> str:
    if count <= 0:
        return text
    return f"{text[: len(text) - count].rstrip()}\n{_mark(count)}".lstrip()
