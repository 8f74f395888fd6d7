"""Rules for summaries: the debate's, and those that an agent or the judge has of its own."""

import asyncio
from collections.abc import Callable

import pytest

from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act
from core.request import ModelReply, ModelRequest
from core.testing import ScriptedProvider, a_setup
from tests.core.bench import Bench
from tests.core.summing import Paced, script
from tests.core.test_debated_options import a_gated_setup, a_script


async def judged(
    own: Summarization, provider: ScriptedProvider | None = None, setup: Setup | None = None
) -> tuple[Bench, Debate]:
    setup = setup or a_setup(rounds=1)
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


class _SlowCheck(Paced):
    """A provider whose summaries come after the vote, and before a check of a close one is done."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        await asyncio.sleep(0.2 if request.act is Act.CROSS_CHECK else 0.0)
        return await super().complete(request, on_first_token)


async def test_a_summary_for_the_judge_goes_on_while_the_judge_checks_a_close_vote() -> None:
    minds = {"architect": (55, 55), "security": (52, 52), "simplicity": (48, 48)}
    provider = _SlowCheck(0.0, 0.05, a_script(minds))
    bench, debate = await judged(Summarization(threshold=10), provider, a_gated_setup(rounds=1))

    assert debate.verdict
    assert bench.provider.requests_of(Act.CROSS_CHECK)
    summary = debate.summaries[f"r{debate.setup.rounds}/summary/judge"]
    assert any(
        summary.text in part.text for part in bench.provider.requests_of(Act.SYNTHESIS)[0].parts
    )
