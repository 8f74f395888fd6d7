"""Summaries and context strategies in whole debates with a scripted model."""

import asyncio
import json
from itertools import pairwise

import pytest

from core.acts.context import parts_for
from core.engine import SUMMARY_GRACE
from core.errors import ProviderError, RequestRejected
from core.events import ContributionMade, DebateStarted, TurnFailed, fold
from core.models import (
    Act,
    Clarifying,
    ContextMethod,
    Contribution,
    Debate,
    Failure,
    Status,
    Summarization,
    SummaryKind,
    Turn,
)
from core.request import ModelRequest, Part, PartKind
from core.rules.history import rounds
from core.rules.voting import best_texts
from core.testing import ScriptedProvider, a_setup, plausible_reply, recorded
from core.transcript.summary_metrics import summary_metrics
from tests.core.bench import DEBATE, Bench
from tests.core.summing import Paced, held, parts_of, script, summed_up

pytestmark = pytest.mark.leaping


@pytest.mark.parametrize("form", ["critique", "panel"])
@pytest.mark.parametrize("method", list(ContextMethod))
async def test_first_answers_and_every_round_are_summed_up_for_the_board(
    form: str, method: ContextMethod
) -> None:
    _, debate = await held(method, form=form, threshold=10**6)
    drafts = ["r1/summary/summarizer/proposal"] if form == "critique" else []

    made = [key for key in debate.summaries if not key.endswith("/debate")]
    assert made == [*drafts, *(f"r{n}/summary/summarizer" for n in (1, 2, 3, 4))]


@pytest.mark.parametrize(
    ("form", "phases"),
    [
        ("council", ["gather", "formulate", "adjust", "rebuttal"]),
        ("review", ["review"]),
    ],
)
async def test_a_format_of_one_round_is_summed_up_phase_by_phase(
    form: str, phases: list[str]
) -> None:
    _, debate = await held(ContextMethod.LENGTH, form=form)

    assert list(debate.summaries) == [f"r1/summary/summarizer/{phase}" for phase in phases]


async def test_length_sums_up_each_agents_own_perspective_from_the_threshold_on() -> None:
    bench, debate = await held(ContextMethod.LENGTH)
    kinds = {summary.turn.key: summary.kind for summary in debate.summaries.values()}

    assert kinds["r2/summary/architect"] is SummaryKind.PERSPECTIVE
    assert len([k for k in kinds.values() if k is SummaryKind.PERSPECTIVE]) == 3 * 2, (
        "none in the last round"
    )
    for request in bench.provider.asked(Act.REFINEMENT)[3:]:
        assert "Your debate so far, in short" in parts_of(request, PartKind.SUMMARY)


async def test_a_failed_perspective_summary_means_the_full_history() -> None:
    def failing(request: ModelRequest) -> str | ProviderError:
        return RequestRejected("No.") if request.act is Act.SUMMARY else script(request)

    bench, debate = await held(ContextMethod.LENGTH, provider=ScriptedProvider(failing), rounds=2)

    assert debate.status is Status.CONCLUDED
    assert "r2/summary/architect" in debate.failures
    assert "Your own position, in short" in parts_of(
        bench.provider.asked(Act.CRITIQUE)[-1], PartKind.OTHER
    )
    assert "Your earlier rounds" in parts_of(
        bench.provider.asked(Act.REFINEMENT)[-1], PartKind.OTHER
    )


async def test_the_first_rounds_summary_is_not_lost_and_nothing_waits_for_one() -> None:
    paced = Paced(latency=0.03, summaries=0.0)
    bench, debate = await held(ContextMethod.ROUNDS, form="panel", rounds=7, provider=paced)
    metrics = summary_metrics(await bench.store.events(DEBATE))

    assert list(debate.summaries) == [f"r{n}/summary/summarizer" for n in range(1, 8)]
    assert (metrics.blocked, metrics.blocked_seconds) == (0, 0)
    assert metrics.generated == 7, "the last one is on the board only"
    assert (metrics.ready_before_needed, metrics.late, metrics.failed) == (6, 0, 0)
    assert metrics.compression > 0.8


async def test_a_failed_meta_summary_keeps_the_single_ones() -> None:
    def failing(request: ModelRequest) -> str | ProviderError:
        if request.act is Act.SUMMARY and "[Round 5]" in summed_up(request):
            return RequestRejected("No.")
        return "We must keep every job." if request.act is Act.SUMMARY else script(request)

    bench, debate = await held(ContextMethod.ROUNDS, rounds=11, provider=ScriptedProvider(failing))

    meta = debate.summaries["r5/summary/summarizer/meta"]
    assert meta.method == "single summaries"
    assert meta.warnings == ("The summary failed: No.",)
    last = bench.provider.asked(Act.REFINEMENT)[-1]
    shown = next(part for part in last.parts if part.kind is PartKind.SUMMARY)
    assert shown.text == "\n\n".join(f"[Round {n}]\nWe must keep every job." for n in range(1, 6))


async def test_after_ten_rounds_the_first_five_become_one_summary() -> None:
    bench, debate = await held(ContextMethod.ROUNDS, rounds=13)
    meta = debate.summaries["r5/summary/summarizer/meta"]

    assert meta.kind is SummaryKind.META
    last = bench.provider.asked(Act.REFINEMENT)[-1]
    labels = parts_of(last, PartKind.SUMMARY)
    assert labels[0] == "Rounds 1 to 5 in short"
    assert labels[1:] == [f"Round {n} in short" for n in range(6, 12)]


@pytest.mark.parametrize(
    ("broken_calls", "method"),
    [(1, "brief"), (2, "last contributions")],
)
async def test_a_rounds_summary_falls_back_step_by_step(broken_calls: int, method: str) -> None:
    broken: list[ModelRequest] = []

    def failing(request: ModelRequest) -> str | ProviderError:
        if request.act is Act.SUMMARY and len(broken) < broken_calls:
            broken.append(request)
            return RequestRejected("No.")
        return script(request)

    _, debate = await held(
        ContextMethod.ROUNDS, form="panel", rounds=3, provider=ScriptedProvider(failing)
    )

    assert debate.summaries["r1/summary/summarizer"].method == method
    assert debate.status is Status.CONCLUDED


async def chain_seconds(form: str, summaries: float | None, method: ContextMethod) -> float:
    """Seconds from the start to the verdict."""
    paced = Paced(latency=0.05, summaries=summaries)
    _, debate = await held(method, form=form, provider=paced, threshold=100, grace=0.1)
    assert debate.verdict
    return (debate.times["verdict"] - debate.started_at).total_seconds()


@pytest.mark.parametrize("summaries", [10.0, None])
@pytest.mark.parametrize(
    ("form", "method"),
    [
        ("critique", ContextMethod.LENGTH),
        ("critique", ContextMethod.HIERARCHICAL),
        ("panel", ContextMethod.ROUNDS),
        ("council", ContextMethod.LENGTH),
    ],
)
async def test_a_summary_of_ten_seconds_and_one_that_hangs_cost_the_chain_nothing(
    form: str, method: ContextMethod, summaries: float | None
) -> None:
    usual = await chain_seconds(form, 0.0, method)

    assert await chain_seconds(form, summaries, method) < 1.5 * usual + 5


async def test_a_summary_that_hangs_is_given_up_soon_after_all_else_is_done() -> None:
    paced = Paced(latency=0.0, summaries=None)
    bench, debate = await held(ContextMethod.ROUNDS, form="panel", rounds=3, provider=paced)
    log = await bench.store.events(DEBATE)
    failed = [
        event.failure for event in (one.event for one in log) if isinstance(event, TurnFailed)
    ]

    assert debate.status is Status.CONCLUDED
    assert debate.ended_at
    waited = (debate.ended_at - debate.times["verdict"]).total_seconds()
    assert SUMMARY_GRACE <= waited < SUMMARY_GRACE + 2
    assert {failure.turn.key for failure in failed} == {
        f"r{n}/summary/summarizer" for n in (1, 2, 3)
    }
    assert failed[0].reason == "It was not there 15 s after all else was done."
    assert debate.verdict
    assert not [words for words in debate.verdict.warnings if "failed" in words]


async def test_a_summary_that_hangs_keeps_nobodys_time_to_answer_open() -> None:
    def asking(request: ModelRequest) -> str:
        if request.act is Act.FACILITATION:
            asked = {"decision": "ask", "question": "How many?", "assumption": "Few."}
            return json.dumps(json.loads(plausible_reply(request)) | asked)
        return script(request)

    setup = a_setup(rounds=3).model_copy(
        update={
            "format": "panel",
            "clarifying": Clarifying(enabled=True, wait_seconds=0.3),
            "summarization": Summarization(method=ContextMethod.ROUNDS),
        }
    )
    bench = Bench(Paced(latency=0.0, summaries=None, answers=asking), grace=0.1)
    await bench.start(setup)
    debate = await asyncio.wait_for(_to_the_end(bench), 300)

    assert debate.verdict
    assert [key for key in debate.times if key.endswith("/closed")]


async def _to_the_end(bench: Bench) -> Debate:
    """Run it again when a deadline has passed, as the bot does."""
    debate = await bench.engine.run(DEBATE)
    for _ in range(50):
        if debate.status is Status.RUNNING:
            await asyncio.sleep(0.1)
            debate = await bench.engine.run(DEBATE)
    return debate


async def test_a_summary_under_way_at_the_end_is_finished_and_recorded() -> None:
    paced = Paced(latency=0.0, summaries=0.4)
    bench, debate = await held(ContextMethod.ROUNDS, form="panel", rounds=3, provider=paced)
    metrics = summary_metrics(await bench.store.events(DEBATE))

    assert set(debate.summaries) == {f"r{n}/summary/summarizer" for n in (1, 2, 3)}
    assert (metrics.blocked, metrics.blocked_seconds) == (0, 0)
    assert (metrics.generated, metrics.ready_before_needed, metrics.late) == (3, 0, 2)
    assert 0.2 < metrics.late_seconds < 2.0
    assert all(0.35 < timing.seconds < 2.0 for timing in metrics.timings)


async def test_a_round_is_shown_in_full_until_its_summary_is_there() -> None:
    paced = Paced(latency=0.1, summaries=0.35)
    bench, _ = await held(ContextMethod.ROUNDS, form="panel", rounds=6, provider=paced)
    third, last = (bench.provider.asked(Act.STATEMENT)[at] for at in (2 * 3, -1))

    assert parts_of(third, PartKind.OTHER)[:2] == ["Round 1 in full", "Round 2 in full"]
    assert parts_of(last, PartKind.SUMMARY)[0] == "Round 1 in short"


def with_failed_summary(method: ContextMethod, *texts: str) -> Debate:
    """Two rounds of a panel, after the first of which the log holds a failed summary."""
    rules = Summarization(method=method)
    setup = a_setup(rounds=3).model_copy(update={"format": "panel", "summarization": rules})
    turns = [Turn(act=Act.STATEMENT, round=1, agent=agent.id) for agent in setup.agents]
    said = [Contribution(turn=turn, text=text) for turn, text in zip(turns, texts, strict=False)]
    events = [DebateStarted(setup=setup), *(ContributionMade(contribution=made) for made in said)]
    failure = Failure(turn=rounds.summary_turn(1), reason="The round's time was up.")
    return fold(recorded([*events, TurnFailed(failure=failure)]))


@pytest.mark.parametrize("method", [ContextMethod.ROUNDS, ContextMethod.HIERARCHICAL])
def test_a_round_whose_summary_failed_is_never_left_out(method: ContextMethod) -> None:
    said = ("Kafka.", "SQS.", "Both.")
    nothing, shown = (_round_1_for(with_failed_summary(method, *texts)) for texts in ((), said))

    assert nothing.text == "[Round summary unavailable]"
    assert (shown.label, shown.kind) == ("Round 1 in short", PartKind.SUMMARY)
    assert [text in shown.text for text in said] == [True] * 3


def _round_1_for(debate: Debate) -> Part:
    turn = Turn(act=Act.STATEMENT, round=3, agent="architect")
    return next(part for part in parts_for(debate, turn) if "Round 1" in part.label)


async def test_hierarchical_condenses_long_contributions_then_rounds_then_the_debate() -> None:
    paced = Paced(latency=0.03, summaries=0.0)
    bench, debate = await held(
        ContextMethod.HIERARCHICAL, form="panel", rounds=7, threshold=500, provider=paced
    )
    kinds = [summary.kind for summary in debate.summaries.values()]

    assert kinds.count(SummaryKind.CONTRIBUTION) == 3 * 6
    assert SummaryKind.ROUND in kinds
    assert parts_of(bench.provider.asked(Act.STATEMENT)[-1], PartKind.SUMMARY) == [
        "The debate up to round 3 in short",
        "Round 4 in short",
        "Round 5 in short",
    ]


async def test_a_contribution_that_cannot_be_condensed_is_shown_in_full() -> None:
    def failing(request: ModelRequest) -> str | ProviderError:
        if request.act is Act.SUMMARY and "[Round" not in summed_up(request):
            return RequestRejected("No.")
        return script(request)

    bench, debate = await held(
        ContextMethod.HIERARCHICAL,
        form="panel",
        rounds=2,
        provider=ScriptedProvider(failing),
        threshold=500,
    )
    said = debate.contributions["r1/statement/architect"].text
    summary = debate.summaries["r1/summary/summarizer/r1/statement/architect"]

    assert (summary.text, summary.method) == (said, "full text")
    last = next(
        p for p in bench.provider.asked(Act.STATEMENT)[-1].parts if p.label.startswith("Round 1,")
    )
    assert last.text.count(said) == 1


async def test_the_judges_summary_is_really_used_and_leaves_critiques_out() -> None:
    rules = Summarization(method=ContextMethod.LENGTH, threshold=1000)
    bench, debate = await held(ContextMethod.LENGTH, judge=rules)
    summary = next(s for s in debate.summaries.values() if s.kind is SummaryKind.JUDGE)
    asked = next(r for r in bench.provider.asked(Act.SUMMARY) if r.role == "judge")
    synthesis = bench.provider.asked(Act.SYNTHESIS)[0]

    assert "critique" not in next(p.text for p in asked.parts if p.label == "To be summed up")
    assert summary.text in [part.text for part in synthesis.parts]
    winner = next(iter(best_texts(debate.tally))) if debate.tally else ""
    assert parts_of(synthesis, PartKind.POSITION) == [
        f"Position of {debate.setup.agent(winner).name}"
    ]


async def test_a_summary_is_cut_visibly_at_its_bound() -> None:
    def wordy(request: ModelRequest) -> str:
        words = " ".join(f"word{number}" for number in range(900))
        return words if request.act is Act.SUMMARY else script(request)

    _, debate = await held(
        ContextMethod.LENGTH, provider=ScriptedProvider(wordy), rounds=2, max_length=200
    )
    text = debate.summaries["r2/summary/architect"].text

    assert len(text) <= 200
    assert text.endswith("[…]")


async def test_a_history_that_is_summed_up_again_begins_with_the_same_marked_pieces() -> None:
    bench, _ = await held(ContextMethod.LENGTH, rounds=4)
    asked = bench.provider.asked(Act.SUMMARY)
    of_one = [
        [part for part in request.parts if part.label == "To be summed up"]
        for request in asked
        if request.role == "architect"
    ]
    for earlier, later in pairwise(sorted(of_one, key=len)):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 1
    last = max(of_one, key=len)
    assert [part.ends_shared for part in last] == [True, False]
