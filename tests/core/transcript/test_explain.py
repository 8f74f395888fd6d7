"""Explanations of turns: inputs, prompts, the end of the rounds; figures about summaries."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

import pytest

from core.debate.agents import ContextMethod, Summarization
from core.debate.contributions import Contribution, Failure, Summary, SummaryKind
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, RecordedEvent
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.turn_events import ContributionMade, FacilitatorDecided, SummaryMade, TurnFailed
from core.debate.vote import Guidance, NextStep
from core.errors import BadInput
from core.settings import ROLES
from core.testing import ManualClock, a_setup
from core.transcript.explain import explain, explanation, summary_metrics, turn_explanation
from core.usage import Call, Usage
from tests.core.bench import DEBATE, Bench
from tests.core.rules.formats.debates import AGENTS, a_format_setup, options, turn, voted


async def whole_debate(setup: Setup) -> tuple[Debate, Sequence[RecordedEvent]]:
    bench = Bench()
    return await bench.run(setup), await bench.store.events(DEBATE)


async def test_the_inputs_and_the_prompt_of_a_turn_are_explained() -> None:
    debate, log = await whole_debate(a_setup(rounds=2))
    steps = {step.span.turn.key: step for step in explain(log)}
    waited = {key: [need.key for need in step.span.needs] for key, step in steps.items()}

    assert waited["r1/proposal/architect"] == []
    proposals = ["r1/proposal/architect", "r1/proposal/security"]
    assert sorted(waited["r1/critique/architect/security"]) == proposals
    assert waited["r2/synthesis/judge"] == ["tally"]
    call = steps["r1/critique/architect/security"].call
    assert call
    question, draft = call.sent
    assert (question.label, draft.label) == ("Question", "Proposal under review")
    assert draft.chars == len(debate.text_of(Act.PROPOSAL, 1, "security"))
    assert draft.left_out == 0
    assert ", carried over from r1/refinement/security" in explanation(log)


async def test_one_turn_is_explained_by_its_key_or_by_words() -> None:
    _, log = await whole_debate(a_setup(rounds=1))
    text = turn_explanation(log, "r1/critique/architect/security")

    assert turn_explanation(log, "Synthesis").startswith("Judge: synthesis, round 1")
    assert text.startswith("Architect: critique of Security, round 1  [r1/critique/architect/")
    for words in ("asked scripted/", "prompt: built-in", "1 request"):
        assert words in text
    wrong = {"critique": "fits several turns", "r1/critique/architect/securty": "is no turn"}
    for unclear, how in wrong.items():
        with pytest.raises(BadInput, match=rf"{how} .*r1/critique/architect/security"):
            turn_explanation(log, unclear)


@pytest.mark.slow
@pytest.mark.timeout(300)  # where each turn is looked for among all turns it takes minutes
async def test_ten_agents_and_seven_rounds_are_explained() -> None:
    debate, log = await whole_debate(a_setup(agents=list(ROLES)[:10], rounds=7))
    assert len(log) >= 800
    assert explanation(log).count("  [r") == len(explain(log))
    assert debate.status is Status.CONCLUDED


def a_call(seconds: float, *, tokens: int = 0, cents: int = 0) -> Call:
    usage = Usage(output_tokens=tokens, cost=Decimal(cents) / 100, attempts=1)
    return Call(provider="scripted", model="m", latency_ms=round(seconds * 1000), usage=usage)


def stated(number: int, *took: float) -> Sequence[Event]:
    """The statements of a round, and how long each took."""
    turns = [turn(f"r{number}/statement/{agent}") for agent in AGENTS]
    return [
        ContributionMade(contribution=Contribution(turn=each, text="Kafka.", call=a_call(seconds)))
        for each, seconds in zip(turns, took, strict=True)
    ]


def went_on(number: int) -> Event:
    own_turn = turn(f"r{number}/facilitation/facilitator")
    return FacilitatorDecided(
        guidance=Guidance(turn=own_turn, next_step=NextStep.GO_ON, call=a_call(2))
    )


def summed_up(number: int, seconds: float, *, tokens: int, before: int, cents: int) -> Event:
    return SummaryMade(
        summary=Summary(
            turn=turn(f"r{number}/summary/summarizer"),
            kind=SummaryKind.ROUND,
            text="In short.",
            before_chars=before,
            after_chars=before // 10,
            method="rounds",
            call=a_call(seconds, tokens=tokens, cents=cents),
        )
    )


def given_up(number: int) -> Event:
    lost = Usage(cost=Decimal(4) / 100, attempts=1)
    own_turn = turn(f"r{number}/summary/summarizer")
    return TurnFailed(failure=Failure(turn=own_turn, reason="It was late.", usage=lost))


def four_rounds() -> list[RecordedEvent]:
    """A panel of four rounds whose summaries come in time, late, late and not at all."""
    setup = a_format_setup(
        "panel", rounds=4, summarization=Summarization(method=ContextMethod.ROUNDS)
    )
    first, second, third, fourth = (
        stated(number, *took)
        for number, took in enumerate([(10, 11, 12), (8, 9, 10), (8, 9, 10), (9, 10, 11)], start=1)
    )
    ballots = [voted(4, agent, o1=0.8, o2=0.2) for agent in AGENTS]
    happened: list[tuple[float, Event]] = [
        (0, DebateStarted(setup=setup)),
        *zip((10, 11, 12), first, strict=True),
        (14, went_on(1)),
        (15, options("Kafka", "SQS")),
        (20, summed_up(1, 6, tokens=50, before=2000, cents=1)),  # from 12 on; first read at 24
        *zip((22, 23, 24), second, strict=True),
        (26, went_on(2)),
        *zip((34, 35, 36), third, strict=True),
        (38, summed_up(2, 12, tokens=40, before=1500, cents=2)),  # from 24 on; first read at 36
        (41, went_on(3)),  # took 2 s of the 5 since the third round was over
        *zip((50, 51, 52), fourth, strict=True),
        (53, ballots[0]),
        (55, summed_up(3, 18, tokens=30, before=1500, cents=3)),  # from 36 on; first read at 52
        *zip((56, 57), ballots[1:], strict=True),
        (60, given_up(4)),  # from 52 on; for the board only
    ]
    start = ManualClock().now()
    return [
        RecordedEvent("d1", seq, start + timedelta(seconds=at), event)
        for seq, (at, event) in enumerate(happened, start=1)
    ]


def test_the_figures_about_summaries() -> None:
    metrics = summary_metrics(four_rounds())

    # 1. How many, and what became of the rest.
    assert (metrics.generated, metrics.failed) == (3, 1)
    # 2. Tokens: 50 + 40 + 30. Cost: 1 + 2 + 3 cents, and 4 for nothing.
    assert (metrics.tokens, metrics.average_tokens) == (120, 40)
    assert metrics.usage.cost == Decimal("0.10")
    # 3. Compression: 200 + 150 + 150 characters of 2,000 + 1,500 + 1,500.
    assert (metrics.chars_before, metrics.chars_after) == (5000, 500)
    assert metrics.compression == 0.9
    # 4. Time: the models' (6 + 12 + 18) / 3; by the clock 20 - 12, 38 - 24, 55 - 36, 60 - 52.
    assert metrics.average_seconds == 12
    assert [timing.seconds for timing in metrics.timings] == [8, 14, 19, 8]
    # 5. In time: the first. Late: the second for 38 - 36 s, the third for 55 - 52 s.
    assert [(timing.is_needed, timing.late) for timing in metrics.timings] == [
        (True, 0),
        (True, 2),
        (True, 3),
        (False, 0),
    ]
    assert (metrics.ready_before_needed, metrics.late, metrics.late_seconds) == (1, 2, 5)
    assert metrics.timings[1].missed_by == ("r3/facilitation/facilitator",)
    # 6. A turn whose model was asked only when what it wanted had come: from 36 to 39 s.
    assert (metrics.blocked, metrics.blocked_seconds) == (1, 3)
