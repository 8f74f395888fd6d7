"""Figures for Prometheus that come from whole debates."""

from bot.metrics import CountingSink, Metrics
from core.clock import SystemClock
from core.events import DebateConcluded
from core.models import ContextMethod
from core.testing import RecordingSink
from tests.core.bench import DEBATE
from tests.core.summing import held


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
