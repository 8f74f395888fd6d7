"""How large a request is and what it may cost, learning from what models report; making it fit.

Parts of a prompt that does not fit a model's context are shortened by `trim_priority`, visibly.
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

#: A reply takes a third of a context at most.
_REPLYS_SHARE = 3
#: What is left of a context that turned out to be smaller, where the server does not say its size.
_SMALLER = 0.75
#: What is left of a part at least, in characters, as long as that fits.
_LEAST = 200
#: What was said earlier in the debate, the oldest first.
_HISTORY_LEVEL = 4
#: One's own text, of which something stays in any case.
_OWN_LEVEL = 1
#: Parts that say nothing of it themselves; the question, the task and one's own text stay whole.
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
#: Parts of one level are shortened in so many steps.
_STEPS = 1024


class Measure:
    """Sizes of requests, in tokens, and their cost, by model."""

    def __init__(self, records: Sequence[Record], prices: Prices = NO_PRICES) -> None:
        """Take settings' own records of capabilities, and prices.

        Raises:
            ValueError: A record has a field that does not exist or a value that does not fit.
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
        """Take the context that a provider tells of (0: of none), unless settings say another."""
        if tokens and not says_context(provider, model, self._records):
            changes = {"context_tokens": tokens}
            limits = self.capability(provider, model)
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

    def learn(self, provider: str, request: ModelRequest, usage: Usage) -> None:
        key, estimated = (provider, request.model), self.prompt_tokens(provider, request)
        factor = corrected_factor(self._factor(*key), estimated, usage.input_tokens)
        self._factors[key] = factor

    def tokens(self, provider: str, model: str, text: str) -> int:
        return estimate_tokens(text, self._factor(provider, model))

    def prompt_tokens(self, provider: str, request: ModelRequest) -> int:
        return self.tokens(provider, request.model, prompt_text(request))

    def _factor(self, provider: str, model: str) -> float:
        learnt = self._factors.get((provider, model))
        return learnt or self.capability(provider, model).token_factor

    def worst(
        self, provider: str, request: ModelRequest, at: datetime | None = None
    ) -> Decimal | None:
        """The most one attempt can cost at a time (None: now); None when the price is unknown."""
        limits = self.capability(provider, request.model)
        if limits.local:
            return Decimal(0)
        tokens_in = self.prompt_tokens(provider, request)
        tokens_out = output_reserve(limits, request.max_output_tokens, request.effort)
        return worst_cost(provider, request.model, (tokens_in, tokens_out), self._prices, at=at)

    def with_cost(self, provider: str, model: str, usage: Usage, at: datetime) -> Usage:
        """The usage of one attempt with its cost, by the price list where no vendor names it."""
        cost = Decimal(0) if self.capability(provider, model).local else usage.cost
        if cost is None:
            cost = price(provider, model, usage, self._prices, at=at)
        return replace(usage, cost=cost, attempts=1)

    def with_estimates(
        self, provider: str, request: ModelRequest, text: str, usage: Usage
    ) -> Usage:
        if usage.input_tokens or usage.output_tokens or usage.cost is not None:
            return usage
        read = self.prompt_tokens(provider, request)
        written = self.tokens(provider, request.model, text)
        return replace(usage, input_tokens=read, output_tokens=written)

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

    def beginnings(self, provider: str, request: ModelRequest) -> Sequence[str]:
        """Keys of the beginnings that the vendor will cache, shortest first.

        None if it caches none, or not by marked places.
        """
        limits = self.capability(provider, request.model)
        if limits.cache != "explicit" or not request.cache_key:
            return ()
        cut = pieces(request)
        last = max((at for at, piece in enumerate(cut) if piece.breakpoint), default=-1)
        texts = [request.system, *(piece.text for piece in cut[: last + 1])]
        # The schema is part of the beginning.
        form = json.dumps(dict(request.answer.schema)) if request.answer else ""
        scope = (provider, request.model, request.effort, request.cache_key, form)
        keys = beginning_keys("\0".join(scope), texts)
        sizes = (self.tokens(provider, request.model, text) for text in accumulate(texts))
        pairs = [*zip(keys, sizes, strict=True)][1:]
        return [key for key, size in pairs if size >= limits.cache_min_tokens]


def beginning_keys(scope: str, texts: Sequence[str]) -> list[str]:
    """Keys of growing beginnings: one per text, each covering all texts up to it.

    `scope` is what else must be equal for the cache to hit (model, effort, …).
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
    """The request as it fits: what has the highest `trim_priority` is shortened first, and says so.

    Raises:
        LimitReached: It does not fit even then.
    """
    reply = output_reserve(limits, request.max_output_tokens, request.effort)
    room = limits.context_tokens - reply

    def fits(tried: ModelRequest) -> bool:
        return tokens(tried) * ESTIMATE_SLACK <= room

    whole = request
    levels = sorted({_level(part) for part in request.parts} - {0}, reverse=True)
    leasts = [(level, _LEAST) for level in levels]
    leasts += [(level, 0) for level in levels if level > _OWN_LEVEL]
    for level, least in leasts:
        if fits(request):
            return request
        # As much of the parts of this level as fits, or the least of them.
        shorten = partial(_shortened_request, whole, request, level=level, least=least)
        fitting = bisect_right(range(_STEPS), 0, key=lambda step: not fits(shorten(step)))
        request = shorten(max(0, fitting - 1))
    if not fits(request):
        raise LimitReached(
            f"The prompt does not fit into the context of {request.model}: it holds"
            f" {quantity(limits.context_tokens, 'token')},"
            f" and the reply may take {number(reply)} of them."
        )
    return request


def sent_parts(whole: ModelRequest, short: ModelRequest) -> tuple[SentPart, ...]:
    """The sent and left-out characters of each part but the task, for the record."""
    records: list[SentPart] = []
    for part, sent in zip(whole.parts, short.parts, strict=True):
        if part.kind is PartKind.TASK:
            continue
        sent_chars = len(part.text)
        if sent.text != part.text:  # its beginning or its end, and a mark
            texts = (part.text, sent.text)
            sent_chars = max(_alike(*texts), _alike(*(text[::-1] for text in texts)))
        left_out = len(part.text) - sent_chars
        records.append(
            SentPart(label=part.label, kind=part.kind.value, chars=sent_chars, left_out=left_out)
        )
    return tuple(records)


def _alike(text: str, other: str) -> int:
    return len(commonprefix((text, other)))  # noqa: RUF071 - of texts, not of paths


def _level(part: Part) -> int:
    """How readily a part is shortened: as it says, or as its kind does; 0: never."""
    return part.trim_priority or _USUAL_LEVELS.get(part.kind, 0)


def _shortened_request(
    whole: ModelRequest, request: ModelRequest, steps: int, *, level: int, least: int
) -> ModelRequest:
    """The request with that share of the parts of one level, at least `least` characters of each.

    Of the history the oldest text is cut first, over all its parts. Of other parts the end is cut.
    """
    parts, share = list[Part](), steps / _STEPS
    spare = sum(len(part.text) for part in whole.parts if _level(part) == level)
    to_go = round(spare * (1 - share))
    for part, present in zip(whole.parts, request.parts, strict=True):
        if _level(part) != level:
            parts.append(present)
            continue
        length = len(part.text)
        if level == _HISTORY_LEVEL:
            count = min(to_go, length)
            to_go -= count
            text = _without_beginning(part.text, count)
        else:
            text = _without_end(part.text, length - max(least, int(length * share)))
        parts.append(replace(part, text=text) if len(text) < length else part)
    return replace(request, parts=parts)


def _mark(left_out: int) -> str:
    return f"[… {quantity(left_out, 'character')} left out to fit the model's context]"


def _without_beginning(text: str, count: int) -> str:
    """A text without its first characters, from the beginning of a word on."""
    if count <= 0:
        return text
    rest = text[count:]
    if rest and not text[count - 1].isspace():
        rest = rest.partition(" ")[2]
    rest = rest.lstrip()
    mark = _mark(len(text) - len(rest))
    return f"{mark}\n{rest}" if rest else mark


def _without_end(text: str, count: int) -> str:
    if count <= 0:
        return text
    return f"{text[: len(text) - count].rstrip()}\n{_mark(count)}".lstrip()
