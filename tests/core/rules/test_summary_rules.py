"""Rules for summaries: the debate's, and those that an agent or the judge has of its own."""

import pytest

from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.state import Debate
from core.debate.turn import Act
from core.testing import ScriptedProvider, a_setup
from tests.core.bench import Bench
from tests.core.summing import Paced, script


async def judged(
    own: Summarization, provider: ScriptedProvider | None = None
) -> tuple[Bench, Debate]:
    setup = a_setup(rounds=1)
    judge = setup.judge.model_copy(update={"summarization": own})
    bench = Bench(provider or ScriptedProvider(script), grace=0)
    return bench, await bench.run(setup.model_copy(update={"judge": judge}))


async def test_the_judge_goes_by_its_own_rules() -> None:
    prompt = PromptText(text="For the judge, {{ length }}.", source="judge.md")
    own = Summarization(threshold=100, max_length=900, prompt=prompt)
    bench, debate = await judged(own)

    assert "r1/summary/judge" in debate.summaries
    requests = [
        request for request in bench.provider.requests_of(Act.SUMMARY) if request.role == "judge"
    ]
    task = requests[0].parts[-1].text
    assert task.endswith("For the judge, 900 characters.")


@pytest.mark.parametrize(
    "changes", [{"enabled": False}, {"method": ContextMethod.FULL}, {"threshold": 10**6}]
)
async def test_the_judge_may_want_no_summary(changes: dict[str, object]) -> None:
    own = Summarization(threshold=100).model_copy(update=changes)
    _, debate = await judged(own)

    assert "r1/summary/judge" not in debate.summaries


async def test_a_summary_for_the_judge_that_is_late_is_given_up() -> None:
    bench, debate = await judged(Summarization(threshold=100), Paced(0.0, None))

    assert debate.verdict
    assert bench.provider.requests_of(Act.SUMMARY)
    assert "r1/summary/judge" not in {*debate.summaries, *debate.failures}
