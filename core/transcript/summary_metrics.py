"""Figures about a debate's summaries, computed from its log (pure).

Source of the figures: Board of One's background summarizer. Targets: 80 to 90 % compression, and
never a turn that waits for a summary made in the background.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.events import Recorded, apply
from core.models import SUMMARIZER, Debate
from core.rules import schedule


@dataclass(frozen=True, kw_only=True)
class SummaryMetrics:
    """How the summaries of a debate did."""

    generated: int
    #: Tokens the models wrote, in all and per summary on average.
    tokens: int
    average_tokens: float
    #: Characters of what was summed up, and of the summaries.
    chars_before: int
    chars_after: int
    #: 1 − characters after / characters before, over all summaries; 0 without any.
    compression: float
    #: Seconds per summary, on average.
    average_seconds: float
    #: Background summaries that were there before a turn needed them.
    ready_before_needed: int
    #: Turns that waited for nothing but a background summary.
    blocked: int
    #: For how long turns waited, in seconds.
    blocked_seconds: float


def summary_metrics(log: Sequence[Recorded]) -> SummaryMetrics:
    """The figures of one debate, from its whole log."""
    debate: Debate | None = None
    waiting: dict[str, float] = {}
    spans: dict[str, float] = {}
    for recorded in log:
        debate = apply(debate, recorded)
        blocked = {turn.key for turn in schedule.blocked(debate)}
        now = recorded.at.timestamp()
        for key in waiting.keys() - blocked:
            spans[key] = now - waiting.pop(key)
        waiting |= dict.fromkeys(blocked - waiting.keys(), now)
    made = list(debate.summaries.values()) if debate else []
    blocked = {**spans, **dict.fromkeys(waiting, 0.0)}
    calls = [summary.call for summary in made if summary.call]
    before = sum(summary.before_chars for summary in made)
    after = sum(summary.after_chars for summary in made)
    background = sum(1 for summary in made if summary.turn.agent == SUMMARIZER)
    return SummaryMetrics(
        generated=len(made),
        tokens=sum(call.usage.output_tokens for call in calls),
        chars_before=before,
        chars_after=after,
        average_tokens=_mean([call.usage.output_tokens for call in calls]),
        compression=1 - after / before if before else 0.0,
        average_seconds=_mean([call.latency_ms / 1000 for call in calls]),
        ready_before_needed=max(0, background - len(blocked)),
        blocked=len(blocked),
        blocked_seconds=sum(blocked.values()),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
