"""Figures for Prometheus: counted as debates go on, or looked up when somebody asks."""

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
from bot.timeouts import DEFAULT_TIMEOUTS
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import RecordedEvent, spent_by
from core.debate.state import Debate, Status
from core.debate.turn import Turn
from core.debate.turn_events import GatePassed, TurnFailed
from core.errors import StoreError
from core.ports import Clock, DebateStore
from core.transcript.summary_metrics import summary_metrics

T = TypeVar("T")

_LAGS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


@dataclass(frozen=True, kw_only=True)
class Gauges:
    #: Debates this process works on.
    debates: Callable[[], int]
    #: Posts that are neither sent nor refused, in the whole installation.
    depth: Callable[[], Awaitable[float]]
    #: Seconds that the post next in line has waited at most, in this process.
    age: Callable[[], float]
    #: Whether each part works, as `/health` says.
    health: Callable[[], Awaitable[Mapping[str, bool]]]
    #: Landings that wait, and dead letters, in the whole installation.
    unlanded: Callable[[], Awaitable[tuple[float, float]]]
    #: Seconds that the database may take: Prometheus waits for ten.
    seconds: float = DEFAULT_TIMEOUTS.check


class Metrics:
    """One registry per running bot. Names begin with `moot_`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Memory, open files and CPU time of the process, where the system tells them (Linux).
        ProcessCollector(registry=self.registry)
        self.started = self._counter("debates_started", "Debates begun.")
        self.ended = self._counter("debates_ended", "Debates ended.", "status")
        self.running = self._gauge("debates_running", "Debates worked on by this process.")
        self.events = self._counter("events", "Events published.", "kind")
        self.gates = self._counter("gates", "Looks whether a round is worth it.", "reason")
        self.turns = self._counter("turns", "Contributions and failed turns.", "act", "outcome")
        self.tokens = self._counter("tokens", "Tokens used.", "kind")
        self.cost = self._counter("cost_dollars", "US dollars spent, where prices are known.")
        self.summaries = self._counter("summaries", "Summaries made.")
        self.summary_seconds = self._counter("summary_seconds", "Seconds summaries took.")
        self.summary_tokens = self._counter("summary_tokens", "Tokens written for summaries.")
        self.summary_chars = self._counter(
            "summary_characters", "Characters summed up, and of the summaries.", "when"
        )
        self.in_time = self._counter("summaries_in_time", "Summaries ready before needed.")
        self.late = self._counter("summaries_late", "Summaries missing when first wanted.")
        self.late_for = self._counter(
            "summary_late_seconds",
            "Seconds for which a wanted summary was missing.",
        )
        self.summaries_failed = self._counter("summaries_failed", "Summaries that were not made.")
        self.blocked = self._counter("summary_blocked_turns", "Turns that waited for a summary.")
        self.blocked_for = self._counter("summary_blocked_seconds", "Seconds they waited.")
        self.tasks = self._gauge("tasks", "Tasks of the event loop.")
        self.depth = self._gauge("outbox_depth", "Posts that wait to be sent.")
        self.age = self._gauge("outbox_age_seconds", "Longest wait of a post next in line.")
        self.health = Gauge(
            "moot_health",
            "1 if this part works, as /health says.",
            ["part"],
            registry=self.registry,
        )
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

    def _gauge(self, name: str, words: str) -> Gauge:
        return Gauge(f"moot_{name}", words, registry=self.registry)


@dataclass
class CountingSink:
    """An `EventSink` that counts what was published. After a crash, maybe twice."""

    store: DebateStore
    clock: Clock
    metrics: Metrics

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        lag = (self.clock.now() - recorded.at).total_seconds()
        self.metrics.lag.observe(max(0.0, lag))
        event, spent = recorded.event, spent_by(recorded.event)
        self.metrics.tokens.labels("input").inc(spent.input_tokens)
        self.metrics.tokens.labels("output").inc(spent.output_tokens)
        self.metrics.tokens.labels("cached").inc(spent.cached_tokens)
        self.metrics.cost.inc(float(spent.cost or 0))
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
                self.metrics.summaries.inc(summaries.generated)
                self.metrics.summary_seconds.inc(summaries.average_seconds * summaries.generated)
                self.metrics.summary_tokens.inc(summaries.tokens)
                self.metrics.summary_chars.labels("before").inc(summaries.chars_before)
                self.metrics.summary_chars.labels("after").inc(summaries.chars_after)
                self.metrics.in_time.inc(summaries.ready_before_needed)
                self.metrics.late.inc(summaries.late)
                self.metrics.late_for.inc(summaries.late_seconds)
                self.metrics.summaries_failed.inc(summaries.failed)
                self.metrics.blocked.inc(summaries.blocked)
                self.metrics.blocked_for.inc(summaries.blocked_seconds)
            case _:
                pass

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Nothing: turns count when they have ended."""


async def exposition(metrics: Metrics, gauges: Gauges) -> bytes:
    """All figures as of now; a gauge that cannot be looked up is not a number."""
    metrics.running.set(gauges.debates())
    metrics.age.set(gauges.age())
    metrics.tasks.set(len(asyncio.all_tasks()))
    nobody_knows = float("nan")
    health, depth, unlanded = await asyncio.gather(
        gauges.health(),
        _looked_up(gauges.depth, nobody_knows, gauges.seconds),
        _looked_up(gauges.unlanded, (nobody_knows, nobody_knows), gauges.seconds),
    )
    for part, works in health.items():
        metrics.health.labels(part).set(works)
    metrics.depth.set(depth)
    metrics.unlanded.set(unlanded[0])
    metrics.dead_letters.set(unlanded[1])
    return metrics.text()


async def _looked_up(look: Callable[[], Awaitable[T]], otherwise: T, seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await look()
    except (StoreError, TimeoutError):
        return otherwise
