"""A debate in a few lines, for `--verbose` and `moot show --metrics` (pure)."""

from collections.abc import Iterator

from core.models import Debate, SummaryKind
from core.transcript.spending import spending
from core.transcript.words import (
    duration,
    money,
    seconds_taken,
    table,
    turn_words,
    usage_words,
)


def verbose_summary(debate: Debate) -> str:
    """Round by round what was said first, with figures; totals; where prompts came from."""
    return "\n".join(_verbose_lines(debate))


def metrics(debate: Debate) -> str:
    """Tokens, money and time per agent, and how well summaries did."""
    rows = [
        (
            one.name,
            ", ".join(one.models),
            one.calls,
            f"{one.usage.input_tokens:,}",
            f"{one.usage.cached_tokens:,}",
            f"{one.usage.output_tokens:,}",
            one.usage.attempts,
            duration(one.latency_ms / 1000),
            money(one.usage.cost),
        )
        for one in spending(debate)
    ]
    head = ("Agent", "Model", "Calls", "In", "Cached", "Out", "Attempts", "Waited", "Cost")
    lines = [table(head, rows), "", *_totals(debate), *_summary_lines(debate)]
    return "\n".join(lines)


def _verbose_lines(debate: Debate) -> Iterator[str]:
    number = None
    for made in debate.contributions.values():
        if made.turn.round != number:
            number = made.turn.round
            yield f"Round {number}"
        call = made.call
        figures = (
            f"{call.latency_ms:,} ms, {call.usage.input_tokens + call.usage.output_tokens:,} tokens"
            if call
            else "carried over, 0 ms, 0 tokens"
        )
        first = next((line.strip() for line in made.text.splitlines() if line.strip()), "")
        yield f"  {turn_words(debate, made.turn)} ({figures}): {first}"
    yield from _totals(debate)
    for one in spending(debate):
        yield f"Prompts of {one.name}: {', '.join(one.prompt_sources) or 'none'}"


def _totals(debate: Debate) -> Iterator[str]:
    yield f"In all: {usage_words(debate.usage)}, {duration(seconds_taken(debate))}"
    yield f"Turns: {len(debate.contributions)} contributions, {len(debate.failures)} failed"


def _summary_lines(debate: Debate) -> Iterator[str]:
    """Figures on the summaries of rounds: how many, how long, how much shorter."""
    made = [one for one in debate.summaries.values() if one.kind is not SummaryKind.PERSPECTIVE]
    own = len(debate.summaries) - len(made)
    if not debate.summaries:
        return
    before = sum(one.before_chars for one in debate.summaries.values())
    after = sum(one.after_chars for one in debate.summaries.values())
    calls = [one.call for one in debate.summaries.values() if one.call]
    tokens = sum(call.usage.output_tokens for call in calls) / len(calls) if calls else 0
    waited = sum(call.latency_ms for call in calls) / len(calls) / 1000 if calls else 0
    yield f"Summaries: {len(made)} of rounds and for the judge, {own} of agents' own history"
    yield f"  {before:,} → {after:,} characters, {1 - after / max(1, before):.0%} less"
    yield f"  {tokens:.0f} tokens and {duration(waited)} on average"
