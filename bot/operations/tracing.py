"""Traces for OpenTelemetry: a span per debate, in it one per turn; nothing that people wrote.

Needs the extra `traces`. Ids follow from the debate's id, so that the spans of one debate belong
together whatever process made them. Source of names: OpenTelemetry's conventions for generative AI,
https://opentelemetry.io/docs/specs/semconv/gen-ai/.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from bot.operations.health import moot_version
from core.events import (
    DebateConcluded,
    DebateFailed,
    Event,
    Recorded,
    TurnFailed,
    VerdictReached,
)
from core.models import JUDGE, Act, Call, Debate, Turn
from core.ports import Clock
from core.recent import Recent
from core.rules.schedule import rounds_open

#: Debates whose turns under way are kept in memory.
_REMEMBERED = 1000
#: Seconds the collector may take, also for the last spans when the bot stops.
EXPORT_SECONDS = 3


class DebateIds(RandomIdGenerator):
    """Random ids for turns; a debate's own span gets the ids that follow from the debate's id."""

    def __init__(self) -> None:
        """No span is about to be made."""
        self.next: SpanContext | None = None

    def generate_trace_id(self) -> int:
        """Return the next trace's id."""
        return self.next.trace_id if self.next else super().generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the next span's id."""
        return self.next.span_id if self.next else super().generate_span_id()


@dataclass(frozen=True)
class Tracing:
    """What makes spans."""

    tracer: Tracer
    ids: DebateIds


@asynccontextmanager
async def tracing_to(endpoint: str) -> AsyncGenerator[Tracing]:
    """Send spans to a collector for as long as the block lasts; its absence is no error.

    Args:
        endpoint: Base address of the collector, OTLP over HTTP.
    """
    exporter = OTLPSpanExporter(
        endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_SECONDS
    )
    about = Resource.create({SERVICE_NAME: "moot", SERVICE_VERSION: moot_version()})
    ids = DebateIds()
    provider = TracerProvider(resource=about, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield Tracing(provider.get_tracer("moot"), ids)
    finally:
        await asyncio.to_thread(provider.shutdown)


@dataclass
class TracingSink:
    """An `EventSink` that makes a span of every turn and debate when it has ended.

    A turn begins when this process took it in hand. After a crash spans may come twice.
    """

    tracing: Tracing
    clock: Clock
    #: Bounded, as a debate can end on another replica.
    _began: Recent[str, dict[str, int]] = field(
        default_factory=lambda: Recent[str, dict[str, int]](_REMEMBERED), init=False
    )

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Trace a turn or a debate that has ended."""
        event = recorded.event
        spent, turn = event.spent, event.turn_taken
        if isinstance(event, VerdictReached):
            turn = Turn(act=Act.SYNTHESIS, round=rounds_open(debate), agent=JUDGE)
        if turn and spent:
            self._turn(debate, recorded, turn, spent.call)
        # Not where somebody wanted it to go on in the same moment.
        if isinstance(event, (DebateConcluded, DebateFailed)) and event.edition == debate.edition:
            self._debate(debate, recorded.at)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Note when."""
        began, now = self._began.setdefault(debate.id, {}), _nanoseconds(self.clock.now())
        for turn in turns:
            began.setdefault(turn.key, now)

    def _turn(self, debate: Debate, recorded: Recorded, turn: Turn, call: Call | None) -> None:
        """Make the span of a turn that has ended; without a call no model was asked."""
        attributes: dict[str, str | int | float] = {
            "moot.debate": debate.id,
            "moot.act": turn.act.value,
            "moot.round": turn.round,
            "moot.agent": turn.agent,
            "moot.target": turn.target or "",
        }
        if call:
            attributes |= {
                "gen_ai.provider.name": call.provider,
                "gen_ai.response.model": call.model,
                "gen_ai.usage.input_tokens": call.usage.input_tokens,
                "gen_ai.usage.output_tokens": call.usage.output_tokens,
            }
        end = _nanoseconds(recorded.at)
        begun = self._began.get(debate.id, {}).pop(turn.key, None)
        start = end - (call.latency_ms if call else 0) * 1_000_000
        span = self.tracing.tracer.start_span(
            turn.act.value,
            set_span_in_context(NonRecordingSpan(context_of(debate.id))),
            attributes=attributes,
            start_time=min(begun or start, start),  # which a slow sink heard of later
        )
        if failure := failure_of(recorded.event):
            span.set_status(Status(StatusCode.ERROR, failure))
        span.end(end)

    def _debate(self, debate: Debate, at: datetime) -> None:
        self._began.pop(debate.id, None)
        self.tracing.ids.next = context_of(debate.id)
        try:
            span = self.tracing.tracer.start_span(
                "debate",
                attributes={
                    "moot.debate": debate.id,
                    "moot.format": debate.setup.format,
                    "moot.agents": len(debate.setup.agents),
                    "moot.status": debate.status.value,
                },
                start_time=_nanoseconds(debate.times["start"]),
            )
        finally:
            self.tracing.ids.next = None
        span.end(_nanoseconds(at))


def context_of(debate_id: str) -> SpanContext:
    """Return the ids of a debate's own span."""
    digest = hashlib.sha256(debate_id.encode()).digest()
    return SpanContext(
        trace_id=int.from_bytes(digest[:16], "big"),
        span_id=int.from_bytes(digest[16:24], "big"),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def failure_of(event: Event) -> str:
    """Return the kind of failure; its words may quote a model, so they stay out."""
    return event.failure.cause.value if isinstance(event, TurnFailed) else ""


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
