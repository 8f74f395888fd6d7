"""Summaries and context strategies in whole debates with a scripted model."""

import asyncio
import json

import pytest

from core.acts.context import parts_for
from core.debate.agents import ContextMethod, Summarization
from core.debate.contributions import Contribution, Failure, SummaryKind
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed
from core.errors import ProviderError, RequestRejected
from core.request import ModelRequest, Part, PartKind
from core.rules.history.material import round_turn
from core.testing import ScriptedProvider, a_setup, log_of, plausible_reply
from tests.core.bench import DEBATE, Bench
from tests.core.summing import Paced, debate_by, parts_of, script

pytestmark = pytest.mark.leaping


@pytest.mark.parametrize("form", ["critique", "panel"])
@pytest.mark.parametrize("method", list(ContextMethod))
async def test_first_answers_and_every_round_are_summed_up_for_the_board(
    form: str, method: ContextMethod
) -> None:
    _, debate = await debate_by(method, form=form, threshold=10**6)
    drafts = ["r1/summary/summarizer/proposal"] if form == "critique" else []

    keys = [key for key in debate.summaries if not key.endswith("/debate")]
    assert keys == [*drafts, *(f"r{n}/summary/summarizer" for n in (1, 2, 3, 4))]


async def test_a_failed_perspective_summary_means_the_full_history() -> None:
    def failing(request: ModelRequest) -> str | ProviderError:
        return RequestRejected("No.") if request.act is Act.SUMMARY else script(request)

    bench, debate = await debate_by(
        ContextMethod.LENGTH, provider=ScriptedProvider(failing), rounds=2
    )

    assert debate.status is Status.CONCLUDED
    assert "r2/summary/architect" in debate.failures
    assert "Your own position, in short" in parts_of(
        bench.provider.requests_of(Act.CRITIQUE)[-1], PartKind.OTHER
    )
    assert "Your earlier rounds" in parts_of(
        bench.provider.requests_of(Act.REFINEMENT)[-1], PartKind.OTHER
    )


async def test_after_ten_rounds_the_first_five_become_one_summary() -> None:
    bench, debate = await debate_by(ContextMethod.ROUNDS, rounds=13)
    meta = debate.summaries["r5/summary/summarizer/meta"]

    assert meta.kind is SummaryKind.META
    last = bench.provider.requests_of(Act.REFINEMENT)[-1]
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

    _, debate = await debate_by(
        ContextMethod.ROUNDS, form="panel", rounds=3, provider=ScriptedProvider(failing)
    )

    assert debate.summaries["r1/summary/summarizer"].method == method
    assert debate.status is Status.CONCLUDED


async def test_a_summary_that_hangs_keeps_nobodys_time_to_answer_open() -> None:
    def asking(request: ModelRequest) -> str:
        if request.act is Act.FACILITATION:
            fields = {"decision": "ask", "question": "How many?", "assumption": "Few."}
            return json.dumps(json.loads(plausible_reply(request)) | fields)
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


def with_failed_summary(method: ContextMethod, *texts: str) -> Debate:
    """Two rounds of a panel, after the first of which the log holds a failed summary."""
    rules = Summarization(method=method)
    setup = a_setup(rounds=3).model_copy(update={"format": "panel", "summarization": rules})
    turns = [Turn(act=Act.STATEMENT, round=1, agent=agent.id) for agent in setup.agents]
    contributions = [
        Contribution(turn=turn, text=text) for turn, text in zip(turns, texts, strict=False)
    ]
    events = [
        DebateStarted(setup=setup),
        *(ContributionMade(contribution=contribution) for contribution in contributions),
    ]
    failure = Failure(turn=round_turn(1), reason="The round's time was up.")
    return fold(log_of([*events, TurnFailed(failure=failure)]))


@pytest.mark.parametrize("method", [ContextMethod.ROUNDS, ContextMethod.HIERARCHICAL])
def test_a_round_whose_summary_failed_is_never_left_out(method: ContextMethod) -> None:
    texts = ("Kafka.", "SQS.", "Both.")
    nothing, part = (_round_1_for(with_failed_summary(method, *texts)) for texts in ((), texts))

    assert nothing.text == "[Round summary unavailable]"
    assert (part.label, part.kind) == ("Round 1 in short", PartKind.SUMMARY)
    assert [text in part.text for text in texts] == [True] * 3


def _round_1_for(debate: Debate) -> Part:
    turn = Turn(act=Act.STATEMENT, round=3, agent="architect")
    return next(part for part in parts_for(debate, turn) if "Round 1" in part.label)


async def test_hierarchical_condenses_long_contributions_then_rounds_then_the_debate() -> None:
    paced = Paced(latency=0.03, summaries=0.0)
    bench, debate = await debate_by(
        ContextMethod.HIERARCHICAL, form="panel", rounds=7, threshold=500, provider=paced
    )
    kinds = [summary.kind for summary in debate.summaries.values()]

    assert kinds.count(SummaryKind.CONTRIBUTION) == 3 * 6
    assert SummaryKind.ROUND in kinds
    assert parts_of(bench.provider.requests_of(Act.STATEMENT)[-1], PartKind.SUMMARY) == [
        "The debate up to round 3 in short",
        "Round 4 in short",
        "Round 5 in short",
    ]
