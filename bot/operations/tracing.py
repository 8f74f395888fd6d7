"""Traces for OpenTelemetry: a span per debate, with a span per turn; no text of people.

Needs the extra `traces`. Source of names: OpenTelemetry's conventions for generative AI,
https://opentelemetry.io/docs/specs/semconv/gen-ai/.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode, Tracer, set_span_in_context

from bot.operations.health import moot_version
from core.debate.debate_events import DebateConcluded, DebateFailed
from core.debate.log import RecordedEvent
from core.debate.people_events import DebateWanted
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn
from core.debate.turn_events import TurnFailed, VerdictReached
from core.ports import DebateStore
from core.rules.schedule import rounds_open

#: Time limit of the collector in seconds, also for the last spans when the bot stops.
EXPORT_SECONDS = 3


@asynccontextmanager
async def tracing_to(endpoint: str) -> AsyncGenerator[Tracer]:
    """Send spans to a collector (OTLP over HTTP). An unreachable collector is not an error."""
    exporter = OTLPSpanExporter(
        endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_SECONDS
    )
    resource = Resource.create({SERVICE_NAME: "moot", SERVICE_VERSION: moot_version()})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield provider.get_tracer("moot")
    finally:
        await asyncio.to_thread(provider.shutdown)


@dataclass
class TracingSink:
    """An `EventSink` that makes the spans of a debate from its log when it has ended.

    A debate that is continued after its end gets a second trace for the new events. After a crash,
    spans may be sent twice. Questions to agents after the end are not traced.
    """

    tracer: Tracer
    store: DebateStore

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Trace a debate that has ended, unless a person continued it at the same moment."""
        event = recorded.event
        if not isinstance(event, DebateConcluded | DebateFailed) or event.edition != debate.edition:
            return
        log = (await self.store.events(debate.id))[: recorded.seq]
        # Events before `DebateWanted` were traced at the first end.
        starts = (entry.seq for entry in log if isinstance(entry.event, DebateWanted))
        log = log[next(starts, 1) - 1 :]
        span = self.tracer.start_span(
            "debate",
            attributes={
                "moot.debate": debate.id,
                "moot.format": debate.setup.format,
                "moot.agents": len(debate.setup.agents),
                "moot.status": debate.status.value,
            },
            start_time=_nanoseconds(log[0].at),
        )
        for entry in log:
            self._turn(debate, entry, set_span_in_context(span))
        span.end(_nanoseconds(recorded.at))

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Does nothing: spans are made at the end."""

    def _turn(self, debate: Debate, recorded: RecordedEvent, parent: Context) -> None:
        """Make the span of a turn. Turns that asked no model have none."""
        event = recorded.event
        expense, turn = event.expense, event.ended_turn
        if isinstance(event, VerdictReached):
            turn = Turn(act=Act.SYNTHESIS, round=rounds_open(debate), agent=JUDGE)
        if not turn or not expense:
            return
        call = expense.call
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
        span = self.tracer.start_span(
            turn.act.value,
            parent,
            attributes=attributes,
            start_time=end - (call.latency_ms if call else 0) * 1_000_000,
        )
        if isinstance(event, TurnFailed):  # its reason may quote a model, so only the cause is sent
            span.set_status(Status(StatusCode.ERROR, event.failure.cause.value))
        span.end(end)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
