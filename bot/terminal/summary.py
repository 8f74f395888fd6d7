"""A debate in a few lines, for `--verbose` and `moot show --metrics` (pure)."""

from collections.abc import Iterator, Sequence

from core.debate.log import RecordedEvent, fold
from core.debate.setup import Forecast
from core.debate.state import Debate
from core.debate.turn import Act
from core.figures import duration, money, number, percent, quantity
from core.transcript.agent_spending import forecast_words, spending
from core.transcript.summary_metrics import SummaryMetrics, summary_metrics
from core.transcript.words import (
    calls_words,
    seconds_taken,
    table,
    tokens_words,
    turn_words,
    usage_words,
)


def verbose_summary(debate: Debate) -> str:
    """Round by round what was said first, with figures; totals; where prompts came from."""
    lines = list[str]()
    number = None
    for contribution in debate.contributions.values():
        if contribution.turn.round != number:
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
    lines += _totals(debate)
    for item in spending(debate):
        lines.append(f"Prompts of {item.name}: {', '.join(item.prompt_sources) or 'none'}")
    return "\n".join(lines)


def metrics(log: Sequence[RecordedEvent], forecast: Forecast | None = None) -> str:
    """Tokens, money and time per agent, how good the estimate was, how well summaries did.

    Args:
        log: The debate's.
        forecast: What it was expected to take; None: what was kept with it, if anything was.
    """
    debate = fold(log)
    rows = [
        (
            item.name,
            ", ".join(item.models),
            item.calls,
            number(item.usage.input_tokens),
            number(item.usage.cached_tokens),
            number(item.usage.output_tokens),
            item.usage.attempts,
            duration(item.latency_ms / 1000),
            money(item.usage.cost),
        )
        for item in spending(debate)
    ]
    head = ("Agent", "Model", "Calls", "In", "Cached", "Out", "Requests", "Waited", "Cost")
    compared = forecast_words(debate, forecast or debate.setup.forecast)
    lines = [table(head, rows), "", *_totals(debate), *([compared] if compared else [])]
    lines += _summary_lines(summary_metrics(log))
    return "\n".join(lines)


def _totals(debate: Debate) -> Iterator[str]:
    took = duration(seconds_taken(debate))
    yield f"In all: {tokens_words(debate.usage)}, {calls_words(debate)}, {took}"
    text = quantity(len(debate.contributions), "contribution")
    failed = [
        failure for failure in debate.failures.values() if failure.turn.act is not Act.SUMMARY
    ]
    yield f"Turns: {text}, {len(failed)} failed"


def _summary_lines(metrics: SummaryMetrics) -> Iterator[str]:
    """Figures on the summaries: count, compression, lateness and use."""
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
        use = (
            "for the board"
            if not timing.wanted
            else "in time"
            if not timing.late
            else (f"late by {duration(timing.late)} for {quantity(len(timing.missed_by), 'turn')}")
        )
        yield f"  {timing.key}: {there}, {use}"
