"""Why each turn ran: what it waited for, what it was sent, how the rounds ended."""

from collections.abc import Sequence

import pytest

from core.debate.log import RecordedEvent
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.errors import BadInput
from core.settings import ROLES
from core.testing import a_setup
from core.transcript.explain import explain, explanation, turn_explanation
from tests.core.bench import DEBATE, Bench


async def whole_debate(setup: Setup) -> tuple[Debate, Sequence[RecordedEvent]]:
    bench = Bench()
    return await bench.run(setup), await bench.store.events(DEBATE)


async def test_a_turn_waited_for_exactly_its_inputs_and_saw_what_was_sent() -> None:
    debate, log = await whole_debate(a_setup(rounds=2))
    steps = {step.span.turn.key: step for step in explain(log)}
    waited = {key: [need.key for need in step.span.needs] for key, step in steps.items()}

    assert waited["r1/proposal/architect"] == []
    proposals = ["r1/proposal/architect", "r1/proposal/security"]
    assert sorted(waited["r1/critique/architect/security"]) == proposals
    assert sorted(waited["r1/refinement/security"]) == [
        "r1/critique/architect/security",
        "r1/critique/simplicity/security",
        "r1/proposal/security",
    ]
    assert waited["r2/proposal/security"] == ["r1/refinement/security"]
    assert waited["r2/synthesis/judge"] == ["tally"]
    question, draft = steps["r1/critique/architect/security"].parts
    assert (question.label, draft.label) == ("Question", "Proposal under review")
    assert draft.chars == len(debate.text_of(Act.PROPOSAL, 1, "security"))
    assert draft.left_out == 0


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
