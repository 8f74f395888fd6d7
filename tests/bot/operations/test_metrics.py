"""Figures for Prometheus that come from whole debates."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace

from bot.operations.metrics import (
    CountingSink,
    Gauges,
    Metrics,
    exposition,
    watching_loop,
)
from core.clock import SystemClock
from core.events import DebateConcluded, FeedbackGiven, fold
from core.models import ContextMethod, Feedback, Person, When
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, a_setup
from tests.bot.plays import DEBATE_ID, play
from tests.core.bench import DEBATE
from tests.core.summing import held
from tests.frame.files import ROOT


async def test_figures_tell_how_long_summaries_are_and_how_much_shorter() -> None:
    bench, debate = await held(ContextMethod.ROUNDS, rounds=3)
    metrics = Metrics()
    sink = CountingSink(
        sink=RecordingSink(), store=bench.store, clock=SystemClock(), metrics=metrics
    )
    for recorded in await bench.store.events(DEBATE):
        if isinstance(recorded.event, DebateConcluded):
            await sink.publish(debate, recorded)

    made = debate.summaries.values()
    tokens = sum(one.call.usage.output_tokens for one in made if one.call)
    lines = metrics.text().decode().splitlines()
    assert f"moot_summaries_total {len(made)}.0" in lines
    assert f"moot_summary_tokens_total {tokens}.0" in lines
    for when, chars in (
        ("before", sum(one.before_chars for one in made)),
        ("after", sum(one.after_chars for one in made)),
    ):
        assert f'moot_summary_characters_total{{when="{when}"}} {chars}.0' in lines
    assert tokens > 0


async def test_what_a_debate_spent_is_counted_once_whatever_comes_after_its_end() -> None:
    bench, debate = await held(ContextMethod.ROUNDS, rounds=2)
    metrics = Metrics()
    sink = CountingSink(
        sink=RecordingSink(), store=bench.store, clock=SystemClock(), metrics=metrics
    )
    log = await bench.store.events(DEBATE)
    thumb = FeedbackGiven(feedback=Feedback(by=Person(id="U1"), helpful=True, origin="F1"))
    for recorded in [*log, replace(log[-1], seq=log[-1].seq + 1, event=thumb)]:
        await sink.publish(debate, recorded)

    lines = metrics.text().decode().splitlines()
    assert f'moot_tokens_total{{kind="input"}} {debate.usage.input_tokens}.0' in lines
    assert f'moot_tokens_total{{kind="output"}} {debate.usage.output_tokens}.0' in lines
    assert debate.usage.input_tokens > 0


async def test_a_process_counts_only_what_was_spent_while_it_published() -> None:
    bench, debate = await held(ContextMethod.ROUNDS, rounds=2)
    metrics = Metrics()
    sink = CountingSink(
        sink=RecordingSink(), store=bench.store, clock=SystemClock(), metrics=metrics
    )
    last = (await bench.store.events(DEBATE))[-1]
    await sink.publish(debate, last)
    assert 'moot_tokens_total{kind="input"} 0.0' in metrics.text().decode().splitlines()


async def test_gates_are_counted_by_reason_and_an_end_that_was_overtaken_is_none() -> None:
    setup = a_setup().model_copy(update={"when": When.SPLIT})
    log, store, metrics = play(setup, wanted=True), InMemoryStore(), Metrics()
    await store.create(DEBATE_ID, log[0].event, origin="o", at=log[0].at)
    sink = CountingSink(sink=RecordingSink(), store=store, clock=SystemClock(), metrics=metrics)
    for number, recorded in enumerate(log, start=1):
        await sink.publish(fold(log[:number]), recorded)
    running = fold(log[:-1])
    await sink.publish(running, replace(log[-1], event=DebateConcluded()))

    lines = metrics.text().decode().splitlines()
    assert 'moot_gates_total{reason="agreed"} 1.0' in lines
    assert 'moot_debates_ended_total{status="concluded"} 2.0' in lines
    assert not any('status="running"' in line for line in lines)


async def test_a_loop_that_is_held_up_shows() -> None:
    metrics = Metrics()
    async with watching_loop(metrics, every=0.01):
        await asyncio.sleep(0.03)
        time.sleep(0.3)  # noqa: ASYNC251 - holds the loop up, which is what is measured
        await asyncio.sleep(0.03)

    lines = metrics.text().decode().splitlines()
    [seen] = [line for line in lines if line.startswith("moot_loop_lag_seconds_sum")]
    assert float(seen.split()[1]) > 0.25


async def test_figures_come_soon_though_the_database_does_not_answer() -> None:
    async def never() -> int:
        await asyncio.sleep(60)
        return 0

    async def never_either() -> tuple[int, int]:
        return await never(), 0

    async def health() -> Mapping[str, bool]:
        return {"database": False, "slack": True}

    gauges = Gauges(
        debates=lambda: 0,
        depth=never,
        age=lambda: 0.0,
        health=health,
        unlanded=never_either,
        seconds=0.05,
    )
    text = (await exposition(Metrics(), gauges)).decode()

    assert "moot_outbox_depth NaN" in text
    assert "moot_dead_letters NaN" in text
    assert 'moot_health{part="database"} 0.0' in text


def test_the_documents_tell_of_every_figure() -> None:
    folder = ROOT / "docs"
    told = "".join(
        (folder / file).read_text(encoding="utf-8") for file in ("operations.md", "landing.md")
    )
    figures = [
        f"{one.name}_total" if one.type == "counter" else one.name
        for one in Metrics().registry.collect()
        if one.name.startswith("moot_")
    ]
    assert [name for name in figures if name not in told] == []
