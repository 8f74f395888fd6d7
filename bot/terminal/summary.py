"""The text of `--dry-run`, and the figures of a debate after its end (pure)."""

import textwrap
from collections.abc import Iterator, Sequence

from core.acts.act import ACTS
from core.acts.request_for import request_for
from core.debate.agents import OFFLINE
from core.debate.log import RecordedEvent, fold
from core.debate.rules import When
from core.debate.setup import Forecast, Setup
from core.debate.state import Debate
from core.debate.turn import Act
from core.estimate import Estimate, PlannedCall, cap_words, estimate_words, initial_debate
from core.figures import duration, money, number, percent, quantity
from core.llm.prompt_text import prompt_text
from core.rules import casting
from core.rules.formats import clarifying
from core.rules.formats.registry import turns_ready
from core.rules.playbook import standing_questions
from core.transcript.explain import SummaryMetrics, summary_metrics
from core.transcript.report import spending, spending_section
from core.transcript.words import (
    calls_words,
    seconds_taken,
    tokens_words,
    usage_words,
)


def verbose_summary(debate: Debate) -> str:
    took = duration(seconds_taken(debate))
    failures = [item for item in debate.failures.values() if item.turn.act is not Act.SUMMARY]
    return "\n".join(
        [
            f"In all: {tokens_words(debate.usage)}, {calls_words(debate)}, {took}",
            f"Turns: {quantity(len(debate.contributions), 'contribution')}, {len(failures)} failed",
            *(
                f"Prompts of {item.name}: {', '.join(item.prompt_sources) or 'none'}"
                for item in spending(debate)
            ),
        ]
    )


def metrics(log: Sequence[RecordedEvent], forecast: Forecast | None = None) -> str:
    return "\n".join(
        [spending_section(fold(log), forecast), "", *_summary_lines(summary_metrics(log))]
    )


def _summary_lines(metrics: SummaryMetrics) -> Iterator[str]:
    if not metrics.timings:
        yield "Summaries: none"
        return
    shorter = percent(metrics.compression)
    failures = f", {metrics.failed} failed" if metrics.failed else ""
    yield f"Summaries: {metrics.generated}{failures}, {shorter} shorter than what they stand for"
    tokens = quantity(round(metrics.average_tokens), "token")
    yield f"  {tokens} and {duration(metrics.average_seconds)} on average"
    yield f"  {usage_words(metrics.usage)}"
    late = f"late: {metrics.late}"
    if metrics.late:
        late += f", {duration(metrics.late_seconds)}; the full text was used meanwhile"
    yield f"  ready before they were wanted: {metrics.ready_before_needed}; {late}"
    yield f"  turns that waited for one: {metrics.blocked}, {duration(metrics.blocked_seconds)}"
    for timing in metrics.timings:
        state = f"ready after {duration(timing.seconds)}" if timing.is_made else "not made"
        use = "in time" if timing.is_needed else "for the board"
        if timing.late:
            use = f"late by {duration(timing.late)} for {quantity(len(timing.missed_by), 'turn')}"
        yield f"  {timing.key}: {state}, {use}"


def dry_run_lines(setup: Setup, estimate: Estimate) -> Iterator[str]:
    yield "Dry run: no model is asked and nothing is spent. All figures are estimates."
    yield "Later prompts hold what was said before, and the sources, which are read when it runs."
    debate = initial_debate(setup)
    if questions := list(standing_questions(debate)):
        yield "People are asked before round 1:"
        yield from (f"    {question.text}" for question in questions)
    for prompt in first_prompts(setup):
        yield f"\n{prompt}"
    if estimate.planned:
        yield ""
        yield "All calls"
        yield from (f"  {line}" for line in _call_lines(estimate.planned))
    yield ""
    yield estimate_words(estimate)
    if setup.when is When.SPLIT and estimate.cost_if_agreed:
        yield f"If all agree at once and no round is held: about {money(estimate.cost_if_agreed)}."
    if cap_line := cap_words(setup, estimate):
        yield cap_line


def first_prompts(setup: Setup) -> Iterator[str]:
    """The prompts that are known before the first turn, each below its agent and model."""
    debate = initial_debate(setup)
    cast = [casting.TURN] if setup.casting is not None else []
    asking = [turn for turn in clarifying.ready(debate) or () if ACTS[turn.act].asks_model]
    for turn in (*cast, *asking, *turns_ready(debate, 0)):
        agent, model = setup.agent(turn.agent), "offline engine, no model"
        if agent.provider != OFFLINE:
            model = f"{agent.provider}/{agent.model}"
        prompt = prompt_text(request_for(debate, turn)).rstrip()
        text = textwrap.indent(prompt, "    | ", lambda _line: True)
        yield f"Round {turn.round}: {agent.name}, {turn.act.label} → {model}\n{text}"


def _call_lines(planned_calls: Sequence[PlannedCall]) -> Iterator[str]:
    groups = dict[tuple[int, str, str], list[PlannedCall]]()
    for call in planned_calls:
        label = call.turn.act.label
        key = (call.turn.round, label, f"{call.provider}/{call.model}")
        groups.setdefault(key, []).append(call)
    for (round_number, label, model), calls in sorted(groups.items(), key=lambda item: item[0][0]):
        tokens_in = sum(call.usual.input_tokens for call in calls)
        tokens_out = sum(call.usual.output_tokens for call in calls)
        usual = [call.usual.cost for call in calls]
        costs = [cost for cost in usual if cost is not None]
        cost = money(sum(costs, start=costs[0] * 0)) if len(costs) == len(usual) else "n/a"
        yield (
            f"Round {round_number}: {label} → {model}: {quantity(len(calls), 'call')}, "
            f"about {number(tokens_in)} tokens in, {number(tokens_out)} out, {cost}"
        )
