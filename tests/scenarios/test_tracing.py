"""Traces of a debate at a real collector's door: OTLP over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bot.slack.ids import ActionId
from bot.testing import BotSpec, team_at_work
from core.debate.rules import When
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import ReplyUnusable
from core.testing import ScriptedProvider
from tests.scenarios.test_faults import failing

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


@dataclass(eq=False)
class Collector:
    """Keeps the spans it is sent."""

    spans: list[Span] = field(default_factory=list[Span])
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        sent = ExportTraceServiceRequest.FromString(await request.read())
        for resource in sent.resource_spans:
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return web.Response()

    def named(self, *names: str) -> list[Span]:
        return [span for span in self.spans if span.name in names]


@asynccontextmanager
async def collecting() -> AsyncGenerator[Collector]:
    collector, app = Collector(), web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield collector
    await runner.cleanup()


def said_of(span: Span) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}


async def test_a_debate_is_a_span_and_each_turn_one_inside_it():
    async with (
        collecting() as collector,
        team_at_work(spec=BotSpec(traces=collector.url)) as team,
    ):
        board = await team.debate(QUESTION)
        await team.say("We are only quokkas.", board)
        debate = await team.wait_for_end(board)
    # What people and models wrote is in no span.
    texts = [contribution.text for contribution in debate.contributions.values()]
    sent = "".join(str(span) for span in collector.spans)
    assert not [text for text in (QUESTION, "quokka", *texts) if text in sent]
    [whole] = collector.named("debate")
    assert said_of(whole)["moot.status"] == Status.CONCLUDED.value
    assert said_of(whole)["moot.debate"] == debate.id
    assert not whole.parent_span_id
    turns = [span for span in collector.spans if span is not whole]
    assert {span.trace_id for span in turns} == {whole.trace_id}
    assert {span.parent_span_id for span in turns} == {whole.span_id}
    outcomes = [*debate.contributions.values(), *debate.ballots.values()]
    acts = [outcome.turn.act.value for outcome in outcomes] + [
        Act.OPTIONS.value,
        Act.SYNTHESIS.value,
    ]
    acts += [Act.SUMMARY.value for _ in debate.summaries]
    assert sorted(span.name for span in turns) == sorted(acts)
    assert all(
        whole.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        for span in turns
    )


async def test_a_skipped_debate_that_is_wanted_has_a_second_trace_of_what_came_since():
    async with (
        collecting() as collector,
        team_at_work(spec=BotSpec(when=When.SPLIT, traces=collector.url)) as team,
    ):
        board = await team.debate(QUESTION)
        skipped = await team.wait_for_end(board)
        await team.click(board, ActionId.DEBATE_ANYWAY.value)
        await team.wait_for_log(
            board, lambda now: now.edition > skipped.edition and now.status is Status.CONCLUDED
        )
        debate = await team.wait_for_end(board)
    first, second = collector.named("debate")
    assert first.end_time_unix_nano <= second.start_time_unix_nano
    traces = [
        {span.name for span in collector.spans if span.trace_id == whole.trace_id}
        for whole in (first, second)
    ]
    assert [Act.CRITIQUE.value in names for names in traces] == [False, True]
    asked = [*debate.contributions.values(), *debate.ballots.values()]
    named = collector.named(*{outcome.turn.act.value for outcome in asked})
    assert len(named) == len(asked), "no turn is counted twice"


async def test_a_failed_turn_is_marked_with_its_kind():
    provider = failing("security", error=ReplyUnusable("No."))
    async with (
        collecting() as collector,
        team_at_work(spec=BotSpec(provider=provider, traces=collector.url)) as team,
    ):
        debate = await team.wait_for_end(await team.debate(QUESTION))
    failed = [span for span in collector.spans if span.status.message]
    assert len(failed) == len(debate.failures) > 0
    causes = {failure.cause.value for failure in debate.failures.values()}
    assert {span.status.message for span in failed} == causes


async def test_a_collector_that_is_away_holds_up_nothing():
    spec = BotSpec(provider=ScriptedProvider(), traces="http://127.0.0.1:9")
    async with team_at_work(spec=spec) as team:
        debate = await team.wait_for_end(await team.debate(QUESTION))
    assert debate.status is Status.CONCLUDED
