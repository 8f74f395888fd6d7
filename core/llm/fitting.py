"""Making a prompt fit a model's context: parts are shortened by `trim_priority`, visibly (pure)."""

from collections.abc import Callable
from dataclasses import replace
from os.path import commonprefix

from core.capabilities import Capability
from core.errors import LimitReached
from core.figures import number, quantity
from core.llm.prices import ESTIMATE_SLACK, output_reserve
from core.request import ModelRequest, Part, PartKind
from core.usage import SentPart

#: What is left of a part at least, in characters, as long as that fits.
_LEAST = 200
#: What was said earlier in the debate, the oldest first.
HISTORY_LEVEL = 4
#: One's own text, of which something stays in any case.
_OWN_LEVEL = 1
#: Parts that say nothing of it themselves; the question, the task and one's own text stay whole.
_USUAL_LEVELS = {
    PartKind.SUMMARY: HISTORY_LEVEL,
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
#: Halvings on the way to the length that just fits.
_STEPS = 10


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
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if fits(_shortened_request(whole, request, middle, level=level, least=least)):
                low = middle
            else:
                high = middle
        request = _shortened_request(whole, request, low, level=level, least=least)
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
    whole: ModelRequest, request: ModelRequest, share: float, *, level: int, least: int
) -> ModelRequest:
    """The request with that share of the parts of one level, at least `least` characters of each.

    Of the history the oldest text is cut first, over all its parts. Of other parts the end is cut.
    """
    parts = list[Part]()
    spare = sum(len(part.text) for part in whole.parts if _level(part) == level)
    to_go = round(spare * (1 - share))
    for part, present in zip(whole.parts, request.parts, strict=True):
        if _level(part) != level:
            parts.append(present)
            continue
        length = len(part.text)
        if level == HISTORY_LEVEL:
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
