"""Progress: what is said about each event, and the live line."""

import io
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.terminal.debating import hold
from bot.terminal.options import DebateCommand
from bot.terminal.screen import (
    LineScreen,
    LiveScreen,
    ProgressSink,
    event_lines,
    screen_for,
)
from bot.terminal.summary import dry_run_lines
from core.debate.contributions import Failure
from core.debate.debate_events import (
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    OutageEnded,
    TimeRanOut,
)
from core.debate.log import Event, RecordedEvent, apply, fold
from core.debate.people import Person, Stop
from core.debate.people_events import StopRequested
from core.debate.rules import USUAL_DEBATE_COST, When
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.errors import BadInput
from core.estimate import cap_words, estimate
from core.figures import money
from core.testing import a_setup
from core.usage import Usage
from tests.core.transcript.splits import split_log
from tests.core.transcript.test_transcript import a_log


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


async def lines_of(log: Sequence[RecordedEvent], *, verbose: bool = False) -> list[str]:
    stream, debate = io.StringIO(), None
    progress = ProgressSink(LineScreen(stream), verbose=verbose)
    for recorded in log:
        debate = apply(debate, recorded)
        await progress.publish(debate, recorded)
    return stream.getvalue().splitlines()


async def test_lines_are_written_as_things_happen() -> None:
    lines = await lines_of(a_log(), verbose=True)

    assert lines[:3] == [
        "Debate dabc2345: critique, 1 round, Architect, Security",
        "Warning: A warning of the setup.",
        "Questions to people: 2",
    ]
    for line in (
        "  Architect: critique of Security, round 1: done (1.5 s)",
        "    Too large.",
        "    Warning: No critique arrived.",
        "  Architect: refinement, round 1: failed: The provider | does not answer.",
        "  Summarizer: summary, round 1: 1,000 → 150 characters",
        "  Architect: blind ballot, after the first answers: Security first",
        "  Security: ballot, round 1: no ballot: It could not be read.",
        "Verdict: confidence 40 of 100, by the judge's own estimate",
    ):
        assert line in lines


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (StopRequested(stop=Stop(by=Person(id="U1"))), "Stopping: the judge decides"),
        (TimeRanOut(), "The debate's time was up"),
        (TimeRanOut(of_outage=True), "No model could be reached for too long"),
        (
            ModelWentAway(agent="architect", reason="Groq failed (500).", origin="1"),
            "  Architect waits for its model: Groq failed (500).",
        ),
        (ModelCameBack(agent="architect", origin="1"), "  Architect: its model answers again"),
        (OutageBegan(reason="Down.", origin="1"), "Waiting: nothing can go on"),
        (OutageEnded(origin="1"), "The outage is over."),
        (
            TurnFailed(
                failure=Failure(
                    turn=Turn(act=Act.PROPOSAL, round=1, agent="architect"), reason="[red]No[/red]."
                )
            ),
            "  Architect: proposal, round 1: failed: [red]No[/red].",
        ),
    ],
)
def test_an_event_has_its_line(event: Event, line: str) -> None:
    assert next(event_lines(fold(a_log()), event)).startswith(line)


def test_a_terminal_gets_a_live_line_that_goes_while_somebody_types() -> None:
    assert not isinstance(screen_for(io.StringIO()), LiveScreen)
    stream = Terminal()
    screen = screen_for(stream)
    assert isinstance(screen, LiveScreen)
    screen.say("[red]not red[/red]")
    screen.show("[bold]working[/bold]")
    screen.show("")
    before = stream.getvalue()
    screen.say("1. How many?")

    assert "[red]not red[/red]" in before, "text is never markup"
    assert "working" not in stream.getvalue()[len(before) :]
    screen.show("working again")
    screen.close()
    screen.close()
    assert "working again" in stream.getvalue()


async def test_options_gates_and_the_vote_have_lines_as_they_arrive() -> None:
    lines = await lines_of(split_log())

    names = "Architect, Security, Simplicity"
    texts = [
        f"Debate dabc2345: critique, 3 rounds where first answers differ, {names}",
        "Options, and whose text stands for which:",
        "  PostgreSQL: Architect, Simplicity",
        "  Kafka: Security",
        "  Architect: blind ballot, after the first answers: PostgreSQL 90%; Kafka 10%",
        'First answers differ, by up to 80 points about "PostgreSQL".',
        'Dana added the option "Kafka, hosted".',
        'Alex merged "Kafka" into "Kafka, hosted": they count as one.',
        "  Security: refinement, round 1: done (1 s); now holds Kafka, hosted 60%; PostgreSQL 40%",
        "Round 1 moved Security.",
        "  Security: proposal, round 2: done (carried over)",
        "Verdict: PostgreSQL, confidence fair (65 of 100)",
    ]
    assert [line for line in lines if line in texts] == texts
    assert any(line.startswith("Vote: PostgreSQL: 1 of 2 agents with a ballot") for line in lines)
    assert any(line.startswith("Asked with the positions in the opposite order") for line in lines)
    assert any(line.startswith("  Changed their mind: Security: from Kafka, ho") for line in lines)
    assert any("it went to the vote; 1 round was not held" in line for line in lines)


QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."


def test_the_saved_cost_is_shown_if_all_agree_at_once() -> None:
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
