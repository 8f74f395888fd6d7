"""Making a prompt fit a model's context: parts are shortened by `trim_priority`, visibly (pure)."""

from collections.abc import Callable
from dataclasses import replace

from core.capabilities import Capability
from core.errors import LimitReached
from core.figures import counted, number
from core.llm.prices import ESTIMATE_SLACK, output_reserve
from core.models import SentPart
from core.request import ModelRequest, Part, PartKind

#: What is left of a part at least, in characters.
_LEAST = 200
#: Halvings on the way to the length that just fits.
_STEPS = 10


def fitted(
    request: ModelRequest, limits: Capability, tokens: Callable[[ModelRequest], int]
) -> ModelRequest:
    """The request as it fits: what has the highest `trim_priority` is shortened first, and says so.

    Args:
        request: What shall be asked.
        limits: What the model can take.
        tokens: Estimates the tokens of a prompt.

    Raises:
        LimitReached: It does not fit even then.
    """
    reply = output_reserve(limits, request.max_output_tokens, request.effort)
    room = limits.context_tokens - reply

    def fits(tried: ModelRequest) -> bool:
        return tokens(tried) * ESTIMATE_SLACK <= room

    for level in sorted(
        {part.trim_priority for part in request.parts if part.trim_priority}, reverse=True
    ):
        if fits(request):
            return request
        # As much of the parts of this level as fits, or the least of them.
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if fits(_shortened(request, level, middle)):
                low = middle
            else:
                high = middle
        request = _shortened(request, level, low)
    if not fits(request):
        raise LimitReached(
            f"The prompt does not fit into the context of {request.model}: it holds"
            f" {counted(limits.context_tokens, 'token')},"
            f" and the reply may take {number(reply)} of them."
        )
    return request


def sent_parts(whole: ModelRequest, short: ModelRequest) -> tuple[SentPart, ...]:
    """What was sent of each part but the task, for the record.

    Args:
        whole: The request as it was meant.
        short: The same as it fits.
    """
    found: list[SentPart] = []
    for part, sent in zip(whole.parts, short.parts, strict=True):
        if part.kind is PartKind.TASK:
            continue
        kept = len(part.text)
        if sent.text != part.text:  # a beginning, and a mark
            pairs = enumerate(zip(part.text, sent.text, strict=False))
            kept = next((at for at, (one, other) in pairs if one != other), len(sent.text))
        left_out = len(part.text) - kept
        found.append(
            SentPart(label=part.label, kind=part.kind.value, chars=kept, left_out=left_out)
        )
    return tuple(found)


def _shortened(request: ModelRequest, level: int, kept: float) -> ModelRequest:
    """The request with only the beginning, that share, of each part of one level."""
    parts = list[Part]()
    for part in request.parts:
        length = max(_LEAST, int(len(part.text) * kept))
        left_out = len(part.text) - length
        if part.trim_priority == level and left_out > 0:
            mark = f"\n[… {counted(left_out, 'character')} left out to fit the model's context]"
            parts.append(replace(part, text=part.text[:length].rstrip() + mark))
        else:
            parts.append(part)
    return replace(request, parts=parts)
