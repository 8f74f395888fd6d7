"""The estimate people can read before they pay, and how far off it was."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.terminal.debating import DebateCommand, hold
from bot.terminal.dry_run import dry_run_lines
from bot.terminal.records import show_record
from bot.terminal.summary import metrics
from core.errors import BadInput
from core.estimate import estimate
from core.figures import money
from core.models import JUDGE, USUAL_DEBATE_COST, Clarifying, Forecast, Setup, Spent, When
from core.testing import a_setup
from core.transcript.agent_spending import forecast_words
from core.transcript.report import report
from tests.core.bench import Bench

QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."


def on_claude(rounds: int = 2) -> Setup:
    change = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
    setup = a_setup(rounds=rounds)
    agents = tuple(agent.model_copy(update=change) for agent in setup.agents)
    judge = setup.judge.model_copy(update=change)
    return setup.model_copy(update={"agents": agents, "judge": judge})


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")


def test_the_first_prompts_are_there_as_they_would_be_sent() -> None:
    setup = on_claude().model_copy(update={"clarifying": Clarifying(enabled=True)})
    text = "\n".join(dry_run_lines(setup, estimate(setup)))
    prompts = text.split("All calls")[0]

    assert prompts.count("Proposal → anthropic/claude-sonnet-5-5") == len(setup.agents)
    assert prompts.count("Questions → anthropic/claude-sonnet-5-5") == len(setup.agents)
    assert "Should we use Kafka or PostgreSQL as our job queue?" in prompts
    assert "| Your task: write your own position on the question." in prompts


def test_calls_are_listed_by_round_and_act() -> None:
    setup = on_claude(rounds=2)
    listed = "\n".join(dry_run_lines(setup, estimate(setup))).split("All calls")[1]

    assert "Round 1: Critique → anthropic/claude-sonnet-5-5: 6 calls, about" in listed
    assert "Round 2: Refinement → anthropic/claude-sonnet-5-5: 3 calls, about" in listed
    assert "Round 2: Proposal" not in listed, "it is carried over"


def test_what_is_saved_if_all_agree_at_once_is_told() -> None:
    setup = on_claude().model_copy(update={"when": When.SPLIT})
    always = on_claude()
    found = estimate(setup)

    assert found.cost_if_agreed
    line = f"If all agree at once and no round is held: about {money(found.cost_if_agreed)}."
    assert line in [*dry_run_lines(setup, found)]
    assert line not in [*dry_run_lines(always, estimate(always))]


def test_a_cap_is_named_at_the_end() -> None:
    setup = on_claude(rounds=1)
    limits = setup.limits.model_copy(update={"debate_cost": Decimal("0.25")})
    capped = setup.model_copy(update={"limits": limits})

    assert "its cap, $0.25" in list(dry_run_lines(capped, estimate(setup)))[-1]


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
    last = list(dry_run_lines(unpriced, estimate(unpriced)))[-1]

    assert words in last
    assert last.startswith("It stops before") is (cap != USUAL_DEBATE_COST)


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_dry_run_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await hold(DebateCommand(question=QUESTION, rounds=1, dry_run=True)) == 0

    said = capsys.readouterr().out
    assert "no model is asked and nothing is spent" in said
    assert "Performance, Proposal → offline engine, no model" in said
    assert "Estimated: no model call, no cost." in said
    assert files(tmp_path) == []


async def test_a_debate_that_runs_already_has_no_dry_run() -> None:
    with pytest.raises(BadInput, match="--dry-run"):
        await hold(DebateCommand(resume="dabc2345", dry_run=True))


async def test_afterwards_metrics_and_report_say_how_far_off_the_estimate_was() -> None:
    forecast = Forecast(cost=Decimal(1), seconds=60, calls=20, input_tokens=1, output_tokens=1)
    bench = Bench()
    debate = await bench.run(a_setup(rounds=1).model_copy(update={"forecast": forecast}))

    assert "Estimated before: 20 calls, $1.00" in metrics(await bench.store.events(debate.id))
    assert "Estimated before: 20 calls, $1.00" in report(debate)


async def test_afterwards_nothing_is_compared_where_no_model_was_to_be_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await hold(DebateCommand(question=QUESTION, rounds=1))
    told = capsys.readouterr().err
    debate_id = told.rsplit("moot show ", 1)[1].split()[0]
    await show_record(debate_id, metrics=True)

    assert "Estimated: no model call, no cost.\n" in told
    shown = capsys.readouterr().out
    assert "Estimated before" not in shown
    assert "In all: 0 tokens in, 0 out, no model call, $0.00" in shown


@pytest.mark.parametrize(
    ("estimated", "words"),
    [("0.0000", "."), (None, "."), ("0.50", "less than the cost estimated.")],
)
async def test_an_estimate_is_compared_where_there_is_something_to_compare(
    estimated: str | None, words: str
) -> None:
    debate = await Bench().run(a_setup(rounds=1))
    cost = None if estimated is None else Decimal(estimated)
    forecast = Forecast(cost=cost, seconds=60, calls=20, input_tokens=1, output_tokens=1)
    verdict = debate.verdict
    assert verdict
    assert verdict.call
    priced = verdict.call.usage.model_copy(update={"cost": Decimal("0.40")})
    call = verdict.call.model_copy(update={"usage": priced})
    told = replace(debate, spent=(Spent(agent=JUDGE, call=call),))
    said = forecast_words(told, forecast)

    assert said.endswith(words)
    assert ("20% less" in said) is (estimated == "0.50")
    assert forecast_words(told, None) == ""
