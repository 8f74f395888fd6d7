"""A debate in a few lines, for `--verbose` and `moot show --metrics` (pure)."""

from collections.abc import Iterator, Sequence

from core.debate.log import RecordedEvent, fold
from core.debate.setup import Forecast
from core.debate.state import Debate
from core.debate.turn import Act
from core.figures import duration, percent, quantity
from core.transcript.agent_spending import spending
from core.transcript.report import spending_section
from core.transcript.summary_metrics import SummaryMetrics, summary_metrics
from core.transcript.words import (
    calls_words,
    seconds_taken,
    tokens_words,
    turn_words,
    usage_words,
)


def verbose_summary(debate: Debate) -> str:
    lines, number = list[str](), None
    for contribution in debate.contributions.values():
        if contribution.turn.round != number:  # rounds overlap
            number = contribution.turn.round
            lines.append(f"Round {number}")
        call = contribution.call
        figures = (
            f"{duration(call.latency_ms / 1000)}, "
            f"{quantity(call.usage.input_tokens + call.usage.output_tokens, 'token')}"
            if call
            else "carried over, 0 s, 0 tokens"
        )
        first = next((line.strip() for line in contribution.text.splitlines() if line.strip()), "")
        lines.append(f"  {turn_words(debate, contribution.turn)} ({figures}): {first}")
    took = duration(seconds_taken(debate))
    lines.append(f"In all: {tokens_words(debate.usage)}, {calls_words(debate)}, {took}")
    count = quantity(len(debate.contributions), "contribution")
    failed = [item for item in debate.failures.values() if item.turn.act is not Act.SUMMARY]
    lines.append(f"Turns: {count}, {len(failed)} failed")
    lines += [
        f"Prompts of {item.name}: {', '.join(item.prompt_sources) or 'none'}"
        for item in spending(debate)
    ]
    return "\n".join(lines)


def metrics(log: Sequence[RecordedEvent], forecast: Forecast | None = None) -> str:
    return "\n".join(
        [spending_section(fold(log), forecast), "", *_summary_lines(summary_metrics(log))]
    )


def _summary_lines(metrics: SummaryMetrics) -> Iterator[str]:
    if not metrics.timings:
        yield "Summaries: none"
        return
    shorter = percent(metrics.compression)
    failed = f", {metrics.failed} failed" if metrics.failed else ""
    yield f"Summaries: {metrics.generated}{failed}, {shorter} shorter than what they stand for"
    tokens = quantity(round(metrics.average_tokens), "token")
    yield f"  {tokens} and {duration(metrics.average_seconds)} on average"
    yield f"  {usage_words(metrics.usage)}"
    late = f"late: {metrics.late}"
    if metrics.late:
        late += f", {duration(metrics.late_seconds)}; the full text was used meanwhile"
    yield f"  ready before they were wanted: {metrics.ready_before_needed}; {late}"
    yield f"  turns that waited for one: {metrics.blocked}, {duration(metrics.blocked_seconds)}"
    for timing in metrics.timings:
        there = f"there after {duration(timing.seconds)}" if timing.made else "not there"
        use = "in time" if timing.wanted else "for the board"
        if timing.late:
            use = f"late by {duration(timing.late)} for {quantity(len(timing.missed_by), 'turn')}"
        yield f"  {timing.key}: {there}, {use}"
