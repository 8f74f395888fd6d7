"""Debates in which there is nothing to debate: no model is set up, or one agent is alone."""

from collections.abc import Sequence
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
from core.rules.degradations import degradations
from core.rules.ending import ending_sentences, round_reasons
from core.rules.gate import rounds_open, undebatable
from core.rules.schedule import rounds_held
from core.rules.wanting import why_not_wanted
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, ScriptedProvider, a_setup
from core.transcript.decision import decision_text

CHOIR = "Should our choir sing Bach or Brahms in spring?"
QUEUE = "Kafka or PostgreSQL for our job queue? No job may be lost."
TWO = ("performance", "sceptic")
FORMATS = ("critique", "council", "panel")
#: What answers nobody: what comes before a round, and the vote after it.
DRAFTING = {Act.PROPOSAL, Act.GATHER, Act.PLAN, Act.FORMULATE, Act.STATEMENT}


def without_a_model(question: str, form: str, when: When = When.SPLIT) -> Setup:
    setup = a_setup(question, agents=TWO, provider=OFFLINE, rounds=3)
    return setup.model_copy(update={"format": form, "when": when})


def alone(form: str) -> Setup:
    return a_setup(agents=("security",), rounds=3).model_copy(update={"format": form})


async def debate_of(setup: Setup) -> Debate:
    store, clock = InMemoryStore(), SystemClock()
    providers = {OFFLINE: OfflineProvider(), "scripted": ScriptedProvider()}
    turns = Turns(ModelCalls(providers, clock))
    engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
    await store.create("dabc2345", DebateStarted(setup=setup), origin="trigger-1", at=clock.now())
    return await engine.run("dabc2345")


def spoken(debate: Debate) -> Sequence[Act]:
    return [contribution.turn.act for contribution in debate.contributions.values()]


@pytest.mark.parametrize("when", [When.SPLIT, When.ALWAYS])
@pytest.mark.parametrize("form", FORMATS)
async def test_without_a_model_an_unknown_question_is_asked_about_once(
    form: str, when: When
) -> None:
    debate = await debate_of(without_a_model(CHOIR, form, when))

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.decision == f"{NOT_DECIDED}."
    assert debate.verdict.confidence is None
    assert any("Sceptic asks: " in question for question in debate.verdict.open_questions)
    assert set(spoken(debate)) <= DRAFTING
    assert len(set(spoken(debate))) * len(TWO) == len(spoken(debate))
    assert rounds_held(debate) == 0
    assert ending_sentences(debate) == (
        "No model was asked, and no checklist takes a side on the question.",
        "Only first answers were given.",
    )
    assert round_reasons(debate) == ()
    assert why_not_wanted(debate).startswith("No model was asked.")
    assert list(degradations(debate)) == [], "what voters declare is no failure"


@pytest.mark.parametrize("when", [When.SPLIT, When.ALWAYS])
async def test_what_checklists_know_is_debated_without_a_model(when: When) -> None:
    debate = await debate_of(without_a_model(QUEUE, "critique", when))

    assert rounds_held(debate) > 0
    assert not any(gate.undebatable for gate in debate.gates.values())
    # A gate is found where first answers are compared, and only there.
    assert bool(debate.gates) is (when is When.SPLIT)


@pytest.mark.parametrize("form", FORMATS)
async def test_one_agent_alone_answers_once_and_is_judged(form: str) -> None:
    debate = await debate_of(alone(form))

    assert debate.status is Status.CONCLUDED
    assert len(spoken(debate)) == len(set(spoken(debate)))
    assert set(spoken(debate)) <= DRAFTING
    assert rounds_held(debate) == 0
    assert ending_sentences(debate) == (
        "One agent alone is no debate: nobody criticises what it says.",
        "Only first answers were given.",
    )
    assert round_reasons(debate) == ()
    assert "wants" not in decision_text(debate)
    assert "at least two" in why_not_wanted(debate)


@pytest.mark.parametrize(
    ("setup", "act", "number"),
    [
        (alone("critique"), Act.CRITIQUE, 1),
        (alone("panel"), Act.STATEMENT, 2),
        (without_a_model(CHOIR, "critique", When.ALWAYS), Act.REFINEMENT, 2),
    ],
)
async def test_rounds_that_an_older_version_began_go_on(
    setup: Setup, act: Act, number: int
) -> None:
    """Updated in the middle of a debate, it is not told that no round was held."""
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
