"""Figures about a debate's summaries, computed from its log (pure).

Source: Board of One's background summarizer. Targets: 80 to 90 % compression, no turn that waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.debate.turn import Act
from core.rules.history import strategies
from core.transcript.timeline import Span, timeline
from core.usage import Usage

#: Seconds from a turn's last need to the call of its model that are the engine's own work.
_AT_ONCE = 0.25


@dataclass(frozen=True, kw_only=True)
class SummaryTiming:
    """One summary: when it was wanted and when it was there. Times are in seconds."""

    key: str
    #: From when it could be made until it was there, or given up.
    seconds: float
    #: Whether there is one; else it failed or is still being made.
    made: bool
    #: Whether a prompt would show it; else it is for the board only.
    wanted: bool
    #: For how long it was missing after the first turn that would show it had begun; 0: in time.
    late: float
    missed_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SummaryMetrics:
    generated: int
    #: Those that could not be made; the full text was used.
    failed: int
    #: Tokens the models wrote, in all and per summary on average.
    tokens: int
    average_tokens: float
    #: Characters of what was summed up, and of the summaries.
    chars_before: int
    chars_after: int
    #: 1 − characters after / characters before, over all summaries; 0 without any.
    compression: float
    #: Seconds models worked on a summary, on average.
    average_seconds: float
    #: Summaries that were there before a turn wanted them.
    ready_before_needed: int
    #: Summaries that were not; and for how long at least one of them was missing, in seconds.
    late: int
    late_seconds: float
    #: Turns whose model was asked only when a summary they wanted had come. Nothing makes a turn
    #: wait; this is measured all the same.
    blocked: int
    #: For how long at least one turn did, in seconds.
    blocked_seconds: float
    #: What was spent on summaries, failed attempts included.
    usage: Usage
    timings: tuple[SummaryTiming, ...]


def summary_metrics(
    log: Sequence[RecordedEvent], *, spans: Sequence[Span] | None = None
) -> SummaryMetrics:
    """The figures of one debate; `spans` is its `timeline`, where that is known already."""
    debate = fold(log)
    spans = timeline(log) if spans is None else spans
    summaries = list(debate.summaries.values())
    timings, late, waits = _timings(debate, spans)
    calls = [summary.call for summary in summaries if summary.call]
    before = sum(summary.before_chars for summary in summaries)
    after = sum(summary.after_chars for summary in summaries)
    failed = [failure for failure in debate.failures.values() if failure.turn.act is Act.SUMMARY]
    spent = [
        summary.lost + (summary.call.usage if summary.call else Usage()) for summary in summaries
    ]
    return SummaryMetrics(
        generated=len(summaries),
        failed=len(failed),
        tokens=sum(call.usage.output_tokens for call in calls),
        chars_before=before,
        chars_after=after,
        average_tokens=_mean([call.usage.output_tokens for call in calls]),
        compression=1 - after / before if before else 0.0,
        average_seconds=_mean([call.latency_ms / 1000 for call in calls]),
        ready_before_needed=sum(
            timing.made and timing.wanted and not timing.late for timing in timings
        ),
        late=len(late),
        late_seconds=_covered_seconds(late),
        blocked=len(waits),
        blocked_seconds=_covered_seconds(waits),
        usage=sum([*spent, *(failure.usage for failure in failed)], start=Usage()),
        timings=timings,
    )


_Times = Sequence[tuple[float, float]]


def _timings(
    debate: Debate, spans: Sequence[Span]
) -> tuple[tuple[SummaryTiming, ...], _Times, _Times]:
    """Each summary; when wanted ones were missing; when turns waited for one."""
    wanted_by: dict[str, list[Span]] = {}
    for span in spans:
        if debate.contributions.get(span.turn.key) and _call_seconds(debate, span) is None:
            continue  # carried over: nobody is shown anything
        for turn in strategies.wants(debate, span.turn):
            wanted_by.setdefault(turn.key, []).append(span)
    timings: list[SummaryTiming] = []
    late: list[tuple[float, float]] = []
    waits: dict[str, tuple[float, float]] = {}
    for span in (span for span in spans if span.turn.act is Act.SUMMARY):
        readers = wanted_by.get(span.turn.key, [])
        there = (span.ended.at if span.ended else debate.now).timestamp()
        missed = [reader for reader in readers if reader.ready.at.timestamp() < there]
        first = min((reader.ready.at.timestamp() for reader in missed), default=there)
        late += [(first, there)] if missed else []
        for reader in missed:
            wait = _waiting_span(debate, reader)
            if wait and wait[0] < there <= wait[1]:
                waits[reader.turn.key] = wait
        timings.append(
            SummaryTiming(
                key=span.turn.key,
                seconds=there - span.ready.at.timestamp(),
                made=span.turn.key in debate.summaries,
                wanted=bool(readers),
                late=there - first,
                missed_by=tuple(reader.turn.key for reader in missed),
            )
        )
    return tuple(timings), late, list(waits.values())


def _call_seconds(debate: Debate, span: Span) -> float | None:
    """How long the model of this speech took; None where none was asked."""
    outcome = debate.contributions.get(span.turn.key) or debate.guidance.get(span.turn.key)
    return outcome.call.latency_ms / 1000 if outcome and outcome.call else None


def _waiting_span(debate: Debate, span: Span) -> tuple[float, float] | None:
    """Start and end (seconds since 1970) of a turn's wait for its call; None: there was none."""
    seconds = _call_seconds(debate, span)
    if seconds is None or span.ended is None:
        return None
    ready, start = span.ready.at.timestamp(), span.ended.at.timestamp() - seconds
    return (ready, start) if start - ready > _AT_ONCE else None


def _covered_seconds(spans: _Times) -> float:
    """Seconds that lie in at least one of these spans: turns at the same time count once."""
    covered, upto = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, upto))
        upto = max(upto, end)
    return covered


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
