"""Metrics for Prometheus: counted as events are published, or read at each request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from bot.presenter.posts import turn_of
from bot.queue.landings import LandingBacklog
from bot.timeouts import DEFAULT_TIMEOUTS
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import RecordedEvent, usage_of
from core.debate.state import Debate, Status
from core.debate.turn import Turn
from core.debate.turn_events import GatePassed, TurnFailed
from core.errors import StoreError
from core.ports import Clock, DebateStore
from core.transcript.explain import SummaryMetrics, summary_metrics

T = TypeVar("T")
N = TypeVar("N")

_LAGS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
#: Counters of the summaries of a debate, increased at its end: name, help, and value.
_SUMMARIES: Sequence[tuple[str, str, Callable[[SummaryMetrics], float]]] = (
    ("summaries", "Summaries made.", lambda metrics: metrics.generated),
    (
        "summary_seconds",
        "Seconds summaries took.",
        lambda metrics: metrics.average_seconds * metrics.generated,
    ),
    ("summary_tokens", "Tokens written for summaries.", lambda metrics: metrics.tokens),
    (
        "summaries_in_time",
        "Summaries ready before needed.",
        lambda metrics: metrics.ready_before_needed,
    ),
    ("summaries_late", "Summaries missing when first wanted.", lambda metrics: metrics.late),
    (
        "summary_late_seconds",
        "Seconds for which a wanted summary was missing.",
        lambda metrics: metrics.late_seconds,
    ),
    ("summaries_failed", "Summaries that were not made.", lambda metrics: metrics.failed),
    ("summary_blocked_turns", "Turns that waited for a summary.", lambda metrics: metrics.blocked),
    ("summary_blocked_seconds", "Seconds they waited.", lambda metrics: metrics.blocked_seconds),
)


class Metrics:
    """The metrics of one bot. Names begin with `moot_`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Memory, open files and CPU time of the process (on Linux).
        ProcessCollector(registry=self.registry)
        self.started = self._counter("debates_started", "Debates begun.")
        self.ended = self._counter("debates_ended", "Debates ended.", "status")
        self.running = self._gauge("debates_running", "Debates worked on by this process.")
        self.events = self._counter("events", "Events published.", "kind")
        self.gates = self._counter("gates", "Looks whether a round is worth it.", "reason")
        self.turns = self._counter("turns", "Contributions and failed turns.", "act", "outcome")
        self.tokens = self._counter("tokens", "Tokens used.", "kind")
        self.cost = self._counter("cost_dollars", "US dollars spent, where prices are known.")
        self.summaries = [
            (self._counter(name, words), figure) for name, words, figure in _SUMMARIES
        ]
        self.summary_chars = self._counter(
            "summary_characters", "Characters summed up, and of the summaries.", "when"
        )
        self.tasks = self._gauge("tasks", "Tasks of the event loop.")
        self.depth = self._gauge("outbox_depth", "Posts that wait to be sent.")
        self.age = self._gauge("outbox_age_seconds", "Longest wait of a post next in line.")
        self.health = self._gauge("health", "1 if this part works, as /health says.", "part")
        self.slack_errors = self._counter("slack_errors", "Calls Slack did not take.", "reason")
        self.landings = self._counter("landings", "Attempts to land something.", "outcome")
        self.unlanded = self._gauge("landings_waiting", "Landings that wait for their receivers.")
        self.dead_letters = self._gauge("dead_letters", "Landings that were given up.")
        self.lag = Histogram(
            "moot_event_lag_seconds",
            "From an event's time to its publication.",
            buckets=_LAGS,
            registry=self.registry,
        )

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"moot_{name}", words, labels, registry=self.registry)

    def _gauge(self, name: str, words: str, *labels: str) -> Gauge:
        return Gauge(f"moot_{name}", words, labels, registry=self.registry)


@dataclass
class CountingSink:
    """An `EventSink` that counts published events. After a crash, events may be counted twice."""

    store: DebateStore
    clock: Clock
    metrics: Metrics

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        lag = (self.clock.now() - recorded.at).total_seconds()
        self.metrics.lag.observe(max(0.0, lag))
        event, usage = recorded.event, usage_of(recorded.event)
        self.metrics.tokens.labels("input").inc(usage.input_tokens)
        self.metrics.tokens.labels("output").inc(usage.output_tokens)
        self.metrics.tokens.labels("cached").inc(usage.cached_tokens)
        self.metrics.cost.inc(float(usage.cost or 0))
        self.metrics.events.labels(event.kind).inc()
        if (turn := turn_of(recorded)) is not None:
            outcome = "failed" if isinstance(event, TurnFailed) else "done"
            self.metrics.turns.labels(turn.act.value, outcome).inc()
        match event:
            case DebateStarted():
                self.metrics.started.inc()
            case GatePassed(gate=gate):
                self.metrics.gates.labels(gate.reason.value).inc()
            case DebateConcluded() | DebateFailed() if debate.status is not Status.RUNNING:
                self.metrics.ended.labels(debate.status.value).inc()
                log = await self.store.events(debate.id)
                summaries = await asyncio.to_thread(summary_metrics, log)
                for counter, figure in self.metrics.summaries:
                    counter.inc(figure(summaries))
                self.metrics.summary_chars.labels("before").inc(summaries.chars_before)
                self.metrics.summary_chars.labels("after").inc(summaries.chars_after)
            case _:
                pass

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Does nothing: turns are counted at their end."""


async def exposition(
    metrics: Metrics,
    *,
    health: Callable[[], Awaitable[Mapping[str, bool]]],
    depth: Callable[[], Awaitable[float]],
    backlog: Callable[[], Awaitable[LandingBacklog]],
    seconds: float = DEFAULT_TIMEOUTS.check,
) -> bytes:
    """All metrics with their current values; NaN for a value that cannot be read.

    Args:
        metrics: The counters of this process.
        health: Returns whether each part works, as in `/health`.
        depth: Returns the number of waiting posts in the whole installation.
        backlog: Returns waiting landings and dead letters in the whole installation.
        seconds: Time limit of the database; Prometheus waits ten seconds.
    """

    async def value_or(default: N, read: Callable[[], Awaitable[T]]) -> T | N:
        try:
            async with asyncio.timeout(seconds):
                return await read()
        except (StoreError, TimeoutError):
            return default

    unknown = float("nan")
    parts, waiting, landings = await asyncio.gather(
        health(), value_or(unknown, depth), value_or(None, backlog)
    )
    metrics.tasks.set(len(asyncio.all_tasks()))
    for part, works in parts.items():
        metrics.health.labels(part).set(works)
    metrics.depth.set(waiting)
    metrics.unlanded.set(landings.waiting if landings else unknown)
    metrics.dead_letters.set(landings.dead if landings else unknown)
    return metrics.text()
