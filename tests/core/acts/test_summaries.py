"""Summaries, context strategies and rules of one's own, in whole debates with scripted models."""

import asyncio
import json

import pytest

from core.acts.context import parts_for
from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.contributions import Contribution, Failure, SummaryKind
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed
from core.errors import ProviderError, RequestRejected
from core.request import ModelRequest, PartKind
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


def failing_at_first(times: int) -> ScriptedProvider:
    """A model that fails the first `times` summaries."""
    failed: list[ModelRequest] = []

    def failing(request: ModelRequest) -> str | ProviderError:
        if request.act is Act.SUMMARY and len(failed) < times:
            failed.append(request)
            return RequestRejected("No.")
        return script(request)

    return ScriptedProvider(failing)


async def test_a_failed_perspective_summary_means_the_full_history() -> None:
    bench, debate = await debate_by(ContextMethod.LENGTH, provider=failing_at_first(99), rounds=2)

    assert debate.status is Status.CONCLUDED
    assert "r2/summary/architect" in debate.failures
    requests = bench.provider.requests_of
    assert "Your own position, in short" in parts_of(requests(Act.CRITIQUE)[-1], PartKind.OTHER)
    assert "Your earlier rounds" in parts_of(requests(Act.REFINEMENT)[-1], PartKind.OTHER)


async def test_after_ten_rounds_the_first_five_become_one_summary() -> None:
    bench, debate = await debate_by(ContextMethod.ROUNDS, rounds=13)

    assert debate.summaries["r5/summary/summarizer/meta"].kind is SummaryKind.META
    last = bench.provider.requests_of(Act.REFINEMENT)[-1]
    in_short = [f"Round {n} in short" for n in range(6, 12)]
    assert parts_of(last, PartKind.SUMMARY) == ["Rounds 1 to 5 in short", *in_short]


@pytest.mark.parametrize(("times", "method"), [(1, "brief"), (2, "last contributions")])
async def test_a_rounds_summary_falls_back_step_by_step(times: int, method: str) -> None:
    _, debate = await debate_by(
        ContextMethod.ROUNDS, form="panel", rounds=3, provider=failing_at_first(times)
    )

    assert debate.summaries["r1/summary/summarizer"].method == method
    assert debate.status is Status.CONCLUDED


async def test_a_hanging_summary_does_not_delay_the_deadline_for_answers() -> None:
    def asking(request: ModelRequest) -> str:
        if request.act is Act.FACILITATION:
            fields = {"decision": "ask", "question": "How many?", "assumption": "Few."}
            return json.dumps(json.loads(plausible_reply(request)) | fields)
        return script(request)

    changes = {
        "format": "panel",
        "clarifying": Clarifying(enabled=True, wait_seconds=0.3),
        "summarization": Summarization(method=ContextMethod.ROUNDS),
    }
    bench = Bench(Paced(latency=0.0, summaries=None, answers=asking), grace=0.1)
    debate = await bench.run(a_setup(rounds=3).model_copy(update=changes))
    for _ in range(50):  # run again when a deadline has passed, as the bot does
        if debate.status is Status.RUNNING:
            await asyncio.sleep(0.1)
            debate = await bench.engine.run(DEBATE)

    assert debate.verdict
    assert [key for key in debate.times if key.endswith("/closed")]


@pytest.mark.parametrize("method", [ContextMethod.ROUNDS, ContextMethod.HIERARCHICAL])
def test_a_round_without_a_summary_is_still_shown(method: ContextMethod) -> None:
    rules, texts = Summarization(method=method), ("Kafka.", "SQS.", "Both.")
    setup = a_setup(rounds=3).model_copy(update={"format": "panel", "summarization": rules})
    said = [
        Contribution(turn=Turn(act=Act.STATEMENT, round=1, agent=agent.id), text=text)
        for agent, text in zip(setup.agents, texts, strict=True)
    ]
    failure = Failure(turn=round_turn(1), reason="The round's time was up.")
    contributions = [ContributionMade(contribution=contribution) for contribution in said]
    log = [DebateStarted(setup=setup), *contributions, TurnFailed(failure=failure)]

    third = Turn(act=Act.STATEMENT, round=3, agent="architect")
    (part,) = [part for part in parts_for(fold(log_of(log)), third) if "Round 1" in part.label]
    assert (part.label, part.kind) == ("Round 1 in short", PartKind.SUMMARY)
    assert [text in part.text for text in texts] == [True] * 3


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


async def judged(own: Summarization) -> tuple[Bench, Debate]:
    """A debate whose judge has these summary rules."""
    setup = a_setup(rounds=1)
    judge = setup.judge.model_copy(update={"summarization": own})
    bench = Bench(ScriptedProvider(script), grace=0)
    return bench, await bench.run(setup.model_copy(update={"judge": judge}))


async def test_the_judge_has_summary_rules_of_its_own() -> None:
    prompt = PromptText(text="For the judge, {{ length }}.", source="judge.md")
    bench, debate = await judged(Summarization(threshold=100, max_length=900, prompt=prompt))

    assert "r1/summary/judge" in debate.summaries
    summaries = bench.provider.requests_of(Act.SUMMARY)
    (request,) = [request for request in summaries if request.role == "judge"]
    assert request.parts[-1].text.endswith("For the judge, 900 characters.")


@pytest.mark.parametrize(
    "changes", [{"enabled": False}, {"method": ContextMethod.FULL}, {"threshold": 10**6}]
)
async def test_the_judges_summary_can_be_switched_off(changes: dict[str, object]) -> None:
    own = Summarization(threshold=100).model_copy(update=changes)
    _, debate = await judged(own)

    assert "r1/summary/judge" not in debate.summaries
