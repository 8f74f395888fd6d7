"""Why each turn ran: what it waited for, what it was sent, how the rounds ended."""

from collections.abc import Sequence

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.engine import Engine
from core.errors import BadInput
from core.llm.call import ModelCalls, Tables
from core.llm.providers.offline import OfflineProvider
from core.ports import ModelProvider
from core.settings import ROLES
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, ScriptedProvider, a_setup
from core.transcript.explain import explain, explanation, turn_explanation


async def whole_debate(
    setup: Setup, provider: ModelProvider | None = None, tables: Tables | None = None
) -> tuple[Debate, Sequence[RecordedEvent]]:
    """A whole debate by the offline engine, or by that provider."""
    clock, store, model = SystemClock(), InMemoryStore(), provider or OfflineProvider()
    calls = ModelCalls({model.name: model}, clock, tables=tables or Tables())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    await store.create("dabc2345", DebateStarted(setup=setup), origin="test", at=clock.now())
    return await engine.run("dabc2345"), await store.events("dabc2345")


async def test_a_turn_waited_for_exactly_its_inputs() -> None:
    _, log = await whole_debate(a_setup(rounds=2, provider="offline"))
    waited = {step.span.turn.key: [need.key for need in step.span.needs] for step in explain(log)}

    assert waited["r1/proposal/architect"] == []
    assert sorted(waited["r1/critique/architect/security"]) == [
        "r0/options/summarizer",
        "r1/proposal/architect",
        "r1/proposal/security",
    ]
    assert sorted(waited["r1/refinement/security"]) == [
        "r1/critique/architect/security",
        "r1/critique/simplicity/security",
        "r1/proposal/security",
    ]
    assert waited["r2/proposal/security"] == ["r1/refinement/security"]
    assert waited["r2/synthesis/judge"] == ["tally"]


async def test_a_turn_saw_what_the_model_was_sent() -> None:
    debate, log = await whole_debate(a_setup(rounds=1, provider="offline"))
    steps = {step.span.turn.key: step for step in explain(log)}
    critique = steps["r1/critique/architect/security"]

    assert [part.label for part in critique.parts] == ["Question", "Proposal under review"]
    assert critique.parts[1].chars == len(debate.text_of(Act.PROPOSAL, 1, "security"))
    assert critique.parts[1].left_out == 0


async def test_one_turn_is_explained_by_its_key_or_by_words() -> None:
    _, log = await whole_debate(a_setup(rounds=1, provider="offline"))
    text = turn_explanation(log, "r1/critique/architect/security")

    assert turn_explanation(log, "Synthesis").startswith("Judge: synthesis, round 1")
    assert text.startswith("Architect: critique of Security, round 1  [r1/critique/architect/")
    assert "asked offline/" in text
    assert "prompt: built-in" in text
    assert "1 request" in text


@pytest.mark.parametrize(
    ("key", "words"),
    [("critique", "fits several turns"), ("r1/critique/architect/securty", "is no turn")],
)
async def test_an_unclear_turn_names_those_like_it(key: str, words: str) -> None:
    _, log = await whole_debate(a_setup(rounds=1, provider="offline"))

    with pytest.raises(BadInput, match=words) as error:
        turn_explanation(log, key)
    assert "r1/critique/architect/security" in str(error.value)


@pytest.mark.slow
@pytest.mark.timeout(300)  # where each turn is looked for among all turns it takes minutes
async def test_ten_agents_and_seven_rounds_are_explained() -> None:
    setup = a_setup(agents=list(ROLES)[:10], rounds=7)
    debate, log = await whole_debate(setup, ScriptedProvider())
    text = explanation(log)

    assert len(log) >= 800
    assert text.count("  [r") == len(explain(log))
    assert debate.status is Status.CONCLUDED
