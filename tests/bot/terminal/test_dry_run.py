"""The estimate people can read before they pay."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.terminal.debating import hold
from bot.terminal.dry_run import dry_run_lines
from bot.terminal.options import DebateCommand
from core.debate.rules import USUAL_DEBATE_COST, When
from core.errors import BadInput
from core.estimate import cap_words, estimate
from core.figures import money
from core.testing import a_setup
from core.usage import Usage

QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."


def test_what_is_saved_if_all_agree_at_once_is_told() -> None:
    always = a_setup(rounds=2)
    change = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
    agents = tuple(agent.model_copy(update=change) for agent in always.agents)
    judge = always.judge.model_copy(update=change)
    always = always.model_copy(update={"agents": agents, "judge": judge})
    split = always.model_copy(update={"when": When.SPLIT})
    forecast = estimate(split)

    assert forecast.cost_if_agreed
    line = f"If all agree at once and no round is held: about {money(forecast.cost_if_agreed)}."
    assert line in [*dry_run_lines(split, forecast)]
    assert line not in [*dry_run_lines(always, estimate(always))]


@pytest.mark.parametrize(
    ("cap", "words"),
    [
        (USUAL_DEBATE_COST, "It can cost more than its cap, $5.00: calls whose price is unknown"),
        (Decimal("0.25"), "more than its cap, $0.25, and asks no model whose price is unknown."),
    ],
)
def test_no_cap_is_promised_where_a_price_is_unknown(cap: Decimal, words: str) -> None:
    setup = a_setup(rounds=1)
    limits = setup.limits.model_copy(update={"debate_cost": cap})
    unpriced = setup.model_copy(update={"limits": limits})
    text = cap_words(unpriced, estimate(unpriced))

    assert words in text
    assert text.startswith("It stops before") is (cap != USUAL_DEBATE_COST)
    free = replace(estimate(setup), least=Usage(), usage=Usage(), most=Usage())
    assert cap_words(unpriced, free) == ""


async def test_a_dry_run_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    assert await hold(DebateCommand(question=[QUESTION], rounds=1, dry_run=True)) == 0

    text = capsys.readouterr().out
    assert "no model is asked and nothing is spent" in text
    assert "Performance, Proposal → offline engine, no model" in text
    assert "Estimated: no model call, no cost." in text
    assert [*tmp_path.iterdir()] == []  # noqa: ASYNC240 - at once
    with pytest.raises(BadInput, match="--dry-run"):
        await hold(DebateCommand(resume="dabc2345", dry_run=True))
