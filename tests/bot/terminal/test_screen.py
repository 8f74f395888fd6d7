"""Progress: what is said about each event, and the live line."""

import io

import pytest

from bot.terminal.screen import (
    LineScreen,
    LiveScreen,
    ProgressSink,
    news,
    phase_line,
    rounds_to_come,
    screen_for,
    status_line,
)
from core.config.playbooks import built_in
from core.events import (
    DebateStarted,
    Event,
    ModelCameBack,
    ModelWentAway,
    OptionsMerged,
    OutageBegan,
    OutageEnded,
    Recorded,
    StopRequested,
    TimeRanOut,
    TurnFailed,
    VerdictReached,
    apply,
    fold,
)
from core.figures import money
from core.models import (
    ENGINE,
    Act,
    Debate,
    Ending,
    Failure,
    Options,
    Person,
    QuestionKind,
    SourceKind,
    SourceReference,
    Stop,
    Termination,
    Turn,
    Verdict,
    When,
)
from core.testing import a_setup
from core.testing import recorded as logged
from tests.core.transcript.splits import skipped_log, split_log, wanted_log
from tests.core.transcript.test_transcript import a_log, held


def debate_and_last() -> tuple[Debate, Recorded]:
    log = a_log()
    return fold(log), log[-1]


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


async def test_lines_are_written_as_things_happen() -> None:
    stream = io.StringIO()
    progress = ProgressSink(LineScreen(stream), verbose=True)
    debate = None
    for recorded in a_log():
        debate = apply(debate, recorded)
        await progress.publish(debate, recorded)
    lines = stream.getvalue().splitlines()

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
        "  Architect: blind ballot, before round 1: Security first",
        "  Security: ballot, round 1: abstained: It could not be read.",
        "Verdict: confidence 40 of 100, by the judge's own estimate",
    ):
        assert line in lines


async def test_a_phase_is_announced_once_with_its_number_of_turns() -> None:
    debate, log = await held(a_setup(rounds=1, provider="offline"))
    start = fold(log[:1])
    turns = [Turn(act=Act.PROPOSAL, round=1, agent=agent.id) for agent in debate.setup.agents]
    stream = io.StringIO()
    progress = ProgressSink(LineScreen(stream))
    await progress.turns_began(start, turns[:2])
    await progress.turns_began(start, turns)

    assert stream.getvalue() == "Round 1 of 1: proposal (3 turns)\n"


async def test_the_live_line_says_round_phase_count_names_and_cost() -> None:
    debate, log = await held(a_setup(rounds=1, provider="offline"))
    one_done = fold(log[:2])
    working = [Turn(act=Act.PROPOSAL, round=1, agent=name) for name in ("security", "simplicity")]

    assert len(one_done.contributions) == 1
    assert status_line(one_done, working) == (
        f"round 1/1 · proposal 1/3 · Security, Simplicity · {money(debate.usage.cost)}"
    )


def test_many_names_are_counted() -> None:
    agents = ("architect", "security", "simplicity", "testing", "finance")
    debate = fold(a_log())
    turns = [Turn(act=Act.PROPOSAL, round=1, agent=agent) for agent in agents]

    assert "Architect, Security, simplicity +2" in status_line(debate, turns)


@pytest.mark.parametrize(
    ("event", "said"),
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
        (OutageEnded(origin="1"), "The debate goes on."),
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
def test_an_event_is_told(event: Event, said: str) -> None:
    debate, _ = debate_and_last()

    assert next(news(debate, event)).startswith(said)


def test_the_opening_names_the_playbook_and_a_search_for_earlier_decisions_is_no_source() -> None:
    by = Person(id="U1")
    register = SourceReference(kind=SourceKind.REGISTER, title="register", fetch="", by=by)
    vendor = built_in()["vendor-choice"]
    changed = {"playbook": vendor, "references": (register,)}
    started = DebateStarted(setup=a_setup().model_copy(update=changed))
    debate = fold(logged([started]))

    assert f": {vendor.title} (critique)," in next(news(debate, started))
    reading = Turn(act=Act.READING, round=0, agent=ENGINE, target="1")
    assert phase_line(debate, reading) == "Before round 1: search for earlier decisions"


def test_a_verdict_without_a_confidence_is_told_without_a_figure() -> None:
    debate, _ = debate_and_last()
    unsure = Verdict(decision="d", solution="s", confidence=None)

    assert list(news(debate, VerdictReached(verdict=unsure))) == ["Verdict: confidence not given"]


def test_a_terminal_gets_a_live_line_and_a_pipe_gets_lines() -> None:
    live = screen_for(Terminal())
    live.close()

    assert isinstance(live, LiveScreen)
    assert isinstance(screen_for(io.StringIO()), LineScreen)


def test_text_is_shown_as_it_is_and_never_as_markup() -> None:
    stream = Terminal()
    screen = LiveScreen(stream)
    screen.say("[red]not red[/red]")
    screen.show("[bold]status[/bold]")
    screen.close()
    screen.close()

    assert "[red]not red[/red]" in stream.getvalue()


def test_the_live_line_goes_while_somebody_types() -> None:
    stream = Terminal()
    screen = LiveScreen(stream)
    screen.show("working")
    screen.show("")
    before = stream.getvalue()
    screen.say("1. How many?")

    assert "working" not in stream.getvalue()[len(before) :]
    screen.show("working again")
    screen.close()
    assert "working again" in stream.getvalue()


async def test_options_gates_and_the_vote_by_option_are_told_as_they_come() -> None:
    stream = io.StringIO()
    progress = ProgressSink(LineScreen(stream))
    debate = None
    for recorded in split_log():
        debate = apply(debate, recorded)
        await progress.publish(debate, recorded)
    lines = stream.getvalue().splitlines()

    names = "Architect, Security, Simplicity"
    told = [
        f"Debate dabc2345: critique, up to 3 rounds where first answers differ, {names}",
        "Options (choice), and whose text stands for which:",
        "  PostgreSQL: Architect, Simplicity",
        "  Kafka: Security",
        "  Architect: blind ballot, before round 1: PostgreSQL 90%; Kafka 10%",
        'First answers differ, most about "PostgreSQL": 80 points apart.',
        'Dana added "Kafka, hosted".',
        'Alex merged "Kafka" into "Kafka, hosted".',
        "  Security: refinement, round 1: done (1 s); now holds Kafka, hosted 60%; PostgreSQL 40%",
        "Round 1 moved Security.",
        "  Security: proposal, round 2: done (carried over)",
        "Verdict: PostgreSQL, confidence fair (65 of 100)",
    ]
    assert [line for line in lines if line in told] == told
    assert any(line.startswith("Vote: PostgreSQL: 1 of 2 agents, 55% on") for line in lines)
    assert any(line.startswith("The vote is close. Reading") for line in lines)
    assert any(line.startswith("  Changed their mind: Security: from Kafka, ho") for line in lines)
    assert any("it went to the vote; 1 round was not held" in line for line in lines)


async def test_no_options_are_told_as_none() -> None:
    stream = io.StringIO()
    progress = ProgressSink(LineScreen(stream))
    turn = Turn(act=Act.OPTIONS, round=0, agent="summarizer")
    none = Options(turn=turn, question_kind=QuestionKind.CHOICE, items=(), stances={})
    log = logged([split_log()[0].event, OptionsMerged(options=none)])
    await progress.publish(fold(log), log[-1])

    assert stream.getvalue().splitlines() == ["No options were found."]


async def test_a_skipped_debate_announces_no_round() -> None:
    stream = io.StringIO()
    progress = ProgressSink(LineScreen(stream))
    log = skipped_log()
    await progress.turns_began(fold(log[:1]), [Turn(act=Act.PROPOSAL, round=1, agent="architect")])
    await progress.publish(fold(wanted_log()), wanted_log()[-1])

    assert stream.getvalue().splitlines() == [
        "First answers, in isolation: proposal (3 turns)",
        "Dana wants the debate all the same.",
    ]


@pytest.mark.parametrize(
    ("rounds", "when", "ending", "said"),
    [
        (3, When.ALWAYS, Ending.FIXED, "3 rounds"),
        (3, When.ALWAYS, Ending.CONVERGED, "up to 3 rounds"),
        (1, When.ALWAYS, Ending.CONVERGED, "1 round"),
        (3, When.SPLIT, Ending.FIXED, "up to 3 rounds where first answers differ"),
        (1, When.SPLIT, Ending.FIXED, "1 round where first answers differ"),
    ],
)
def test_how_many_rounds_there_may_be_is_told(
    rounds: int, when: When, ending: Ending, said: str
) -> None:
    rules = {"when": when, "termination": Termination(ending=ending)}

    assert rounds_to_come(a_setup(rounds=rounds).model_copy(update=rules)) == said
