"""Figures for Prometheus that come from whole debates."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from bot.operations.metrics import CountingSink, Metrics, exposition
from bot.queue.landings import LandingBacklog
from core.clock import SystemClock
from core.debate.agents import ContextMethod
from core.debate.people import Person
from core.debate.people_events import FeedbackGiven
from core.debate.verdict import Feedback
from core.transcript.explain import summary_metrics
from tests.core.bench import DEBATE
from tests.core.summing import debate_by


async def test_what_a_debate_spent_is_counted_once_whatever_comes_after_its_end() -> None:
    bench, debate = await debate_by(ContextMethod.ROUNDS, rounds=2)
    metrics = Metrics()
    sink = CountingSink(store=bench.store, clock=SystemClock(), metrics=metrics)
    log = await bench.store.events(DEBATE)
    thumb = FeedbackGiven(feedback=Feedback(by=Person(id="U1"), helpful=True, origin="F1"))
    for recorded in [*log, replace(log[-1], seq=log[-1].seq + 1, event=thumb)]:
        await sink.publish(debate, recorded)

    lines = metrics.text().decode().splitlines()
    assert f'moot_tokens_total{{kind="input"}} {debate.usage.input_tokens}.0' in lines
    assert f'moot_tokens_total{{kind="output"}} {debate.usage.output_tokens}.0' in lines
    assert debate.usage.input_tokens > 0
    assert f"moot_summary_tokens_total {summary_metrics(log).tokens}.0" in lines


async def test_figures_come_soon_though_the_database_does_not_answer() -> None:
    async def never() -> int:
        await asyncio.sleep(60)
        return 0

    async def never_either() -> LandingBacklog:
        await never()
        return LandingBacklog(rows=(), waiting=0, dead=0, closed={})

    async def health() -> Mapping[str, bool]:
        return {"database": False, "slack": True}

    figures = await exposition(
        Metrics(), health=health, depth=never, backlog=never_either, seconds=0.05
    )
    text = figures.decode()

    assert "moot_outbox_depth NaN" in text
    assert "moot_dead_letters NaN" in text
    assert 'moot_health{part="database"} 0.0' in text
