"""Debates that cannot be held: no model is set up, or there is only one agent."""

from dataclasses import replace

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.agents import OFFLINE
from core.debate.debate_events import DebateStarted
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import NOT_DECIDED
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.providers.offline import OfflineProvider
from core.rules.ending import ending_sentences, limitations, reopening_fault, round_reasons
from core.rules.gate import rounds_open, undebatable
from core.rules.schedule import rounds_held
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, a_setup
from tests.core.bench import DEBATE

CHOIR = "Should our choir sing Bach or Brahms in spring?"
QUEUE = "Kafka or PostgreSQL for our job queue? No job may be lost."
NO_MODEL = "No model was asked, and no checklist takes a side on the question."
ALONE = "One agent alone is no debate: nobody criticises what it says."


def without_a_model(question: str, form: str, when: When = When.SPLIT) -> Setup:
    setup = a_setup(question, agents=("performance", "sceptic"), provider=OFFLINE, rounds=3)
    return setup.model_copy(update={"format": form, "when": when})


def alone(form: str) -> Setup:
    return a_setup(agents=("security",), rounds=3).model_copy(update={"format": form})


async def debate_of(setup: Setup) -> Debate:
    store, clock = InMemoryStore(), SystemClock()
    providers = {OFFLINE: OfflineProvider(), "scripted": ScriptedProvider()}
    turns = Turns(ModelCalls(providers, clock))
    engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
    await store.create(DEBATE, DebateStarted(setup=setup), origin="trigger-1", at=clock.now())
    return await engine.run(DEBATE)


@pytest.mark.parametrize(
    ("setup", "reason", "advice"),
    [
        (without_a_model(CHOIR, "critique"), NO_MODEL, "No model was asked."),
        (without_a_model(CHOIR, "council"), NO_MODEL, "No model was asked."),
        (without_a_model(CHOIR, "panel", When.ALWAYS), NO_MODEL, "No model was asked."),
        (alone("critique"), ALONE, "with at least two."),
        (alone("council"), ALONE, "with at least two."),
        (alone("panel"), ALONE, "with at least two."),
    ],
)
async def test_without_a_debate_each_agent_answers_once_and_people_read_why(
    setup: Setup, reason: str, advice: str
) -> None:
    debate = await debate_of(setup)
    acts = [contribution.turn.act for contribution in debate.contributions.values()]

    assert debate.status is Status.CONCLUDED
    assert len(acts) == len(set(acts)) * len(setup.agents)
    # Acts that do not answer another agent.
    assert set(acts) <= {Act.PROPOSAL, Act.GATHER, Act.PLAN, Act.FORMULATE, Act.STATEMENT}
    assert rounds_held(debate) == 0
    assert ending_sentences(debate) == (reason, "Only first answers were given.")
    assert round_reasons(debate) == ()
    assert advice in reopening_fault(debate)
    assert list(limitations(debate)) == [], "a declared abstention is no failure"
    assert debate.verdict
    if reason == NO_MODEL:
        assert debate.verdict.decision == f"{NOT_DECIDED}."
        assert debate.verdict.confidence is None
        assert any("Sceptic asks: " in question for question in debate.verdict.open_questions)


@pytest.mark.parametrize("when", [When.SPLIT, When.ALWAYS])
async def test_what_checklists_know_is_debated_without_a_model(when: When) -> None:
    debate = await debate_of(without_a_model(QUEUE, "critique", when))

    assert rounds_held(debate) > 0
    assert not any(gate.undebatable for gate in debate.gates.values())
    # There is a gate only if the first answers are compared.
    assert bool(debate.gates) is (when is When.SPLIT)


@pytest.mark.parametrize(
    ("setup", "act", "number"),
    [
        (alone("critique"), Act.CRITIQUE, 1),
        (alone("panel"), Act.STATEMENT, 2),
        (without_a_model(CHOIR, "critique", When.ALWAYS), Act.REFINEMENT, 2),
    ],
)
async def test_rounds_that_an_older_version_began_continue(
    setup: Setup, act: Act, number: int
) -> None:
    """As after an upgrade in the middle of such a debate."""
    debate = await debate_of(setup)
    contribution = next(iter(debate.contributions.values()))
    later = contribution.turn.model_copy(update={"round": number, "act": act})
    both = {**debate.contributions, later.key: contribution.model_copy(update={"turn": later})}
    begun = replace(debate, options=None, ballots={}, gates={}, tally=None, verdict=None)
    older = replace(begun, status=Status.RUNNING, contributions=both)

    assert rounds_open(replace(older, contributions=debate.contributions)) == 0
    assert undebatable(older) is None
    assert rounds_open(older) == 3
    assert rounds_held(older) == number
