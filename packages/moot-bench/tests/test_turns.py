"""A bench's turns on the real engine: its options, its votes without a judge, what was answered."""

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal

import pytest
from core.acts.take import Turns
from core.debate.agents import ModelChoice
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.errors import ProviderError, RequestRejected
from core.llm.call import ModelCalls
from core.request import ModelRequest, PartKind
from core.settings import Settings
from core.testing import (
    InMemoryStore,
    ManualClock,
    RecordingSink,
    ScriptedProvider,
    a_verdict_reply,
    options_in,
    plausible_reply,
)
from core.usage import Cap

from moot_bench.arms import Arm, ArmForm, setup_of
from moot_bench.run import answer_of, is_answer
from moot_bench.scores import ArmAnswer
from moot_bench.tasks import read_tasks
from moot_bench.turns import BenchTurns

(TASK,) = read_tasks(
    json.dumps({"id": "x", "question": "Which?", "options": ["Kafka", "PostgreSQL"], "answer": "A"})
)
RIGHT = TASK.answer
WRONG = next(option.id for option in TASK.options if option.id != RIGHT)
MODEL = ModelChoice(provider="scripted", model="m")


def arm_debate(
    form: ArmForm,
    script: Callable[[ModelRequest], str | ProviderError],
    cap: Cap | None = None,
    *,
    tokens: int = 0,
) -> tuple[Debate, ArmAnswer, ScriptedProvider]:
    """One arm's debate, its answer, and who was asked."""
    arm, provider = Arm(form=form, models=(MODEL,), tokens=tokens), ScriptedProvider(script)
    settings = Settings(judge_model=MODEL, rounds=1)
    setup = setup_of(arm, TASK, settings, delimiter="d41d8c", asker=Person(id="dana"))
    store, clock = InMemoryStore(), ManualClock()

    async def run() -> tuple[Debate, ArmAnswer]:
        await store.create("d1", DebateStarted(setup=setup), origin="o", at=clock.now())
        calls = ModelCalls({"scripted": provider}, clock)
        inner = Turns(calls, lambda _debate: [cap] if cap else [])
        turns = BenchTurns(inner, {"d1": TASK}, budgets={"d1": tokens})
        engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
        debate = await engine.run("d1")
        log = await store.events("d1")
        return fold(log), answer_of(log, debate, arm, TASK)

    return *asyncio.run(run()), provider


def saying(share: int) -> Callable[[ModelRequest], str]:
    """A model that gives the right option so many percent, in texts and ballots."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.BALLOT:
            labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
            shares = [share if option == RIGHT else 100 - share for option in options_in(request)]
            ballot = {"ranking": labels, "probabilities": shares, "moved_by": "none"}
            return json.dumps(ballot | {"reasons": [f"{label}: clear" for label in labels]})
        if request.act is Act.SYNTHESIS:
            return json.dumps(a_verdict_reply(option=WRONG))
        if request.answer:
            return plausible_reply(request)
        return f"**This one.**\n\nStance: {RIGHT} {share} %, {WRONG} {100 - share} %"

    return script


def test_one_answer_is_one_call() -> None:
    debate, answer, provider = arm_debate(ArmForm.SOLO, saying(80))
    assert [request.act for request in provider.requests] == [Act.PROPOSAL]
    assert is_answer(debate)
    assert (answer.chosen, answer.probabilities[RIGHT], answer.is_read) == ((RIGHT,), 0.8, True)


@pytest.mark.parametrize(("passes", "tokens"), [(1, 1), (3, 3), (3, 3.4), (4, 3.6)])
def test_one_model_thinks_with_so_many_tokens(passes: int, tokens: float) -> None:
    """An answer is written anew until it has used the tokens, each with the one before in sight."""
    once = arm_debate(ArmForm.SOLO, saying(60))[0].usage
    budget = round(tokens * once.output_tokens)

    def surer(request: ModelRequest) -> str:
        prompt = " ".join(part.text for part in request.parts)
        return saying(90 if "answered this question already" in prompt else 60)(request)

    debate, answer, provider = arm_debate(ArmForm.THINK, surer, tokens=budget)
    assert len(provider.requests) == debate.usage.attempts == passes
    assert abs(debate.usage.output_tokens - budget) <= once.output_tokens / 2 + 1
    assert answer.probabilities[RIGHT] == (0.6 if passes == 1 else 0.9)
    first, *later = (" ".join(part.text for part in request.parts) for request in provider.requests)
    assert "answered this question already" not in first
    assert all(prompt.count("answered this question already") == 1 for prompt in later)


def test_thinking_that_fails_leaves_the_answer_before_it() -> None:
    def once(request: ModelRequest) -> str | ProviderError:
        prompt = " ".join(part.text for part in request.parts)
        return RequestRejected("No.") if "already" in prompt else saying(60)(request)

    debate, answer, provider = arm_debate(ArmForm.THINK, once, tokens=9999)
    assert (answer.probabilities[RIGHT], len(provider.requests)) == (0.6, 2)
    assert is_answer(debate)


def test_a_vote_is_drafts_and_ballots_without_round_or_judge() -> None:
    debate, answer, provider = arm_debate(ArmForm.VOTE, saying(70))
    acts = [request.act for request in provider.requests]
    assert acts == [Act.PROPOSAL] * 3 + [Act.BALLOT] * 3
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    assert debate.options
    assert debate.options.items == TASK.options
    assert (answer.chosen, answer.probabilities[RIGHT], answer.sides) == ((RIGHT,), 0.7, ())


def test_a_level_vote_chooses_both_and_asks_no_judge() -> None:
    _, answer, provider = arm_debate(ArmForm.VOTE, saying(50))
    assert set(answer.chosen) == {RIGHT, WRONG}
    assert not provider.requests_of(Act.CROSS_CHECK)


def test_a_debate_is_judged() -> None:
    debate, answer, provider = arm_debate(ArmForm.CRITIQUE, saying(70))
    assert len(provider.requests_of(Act.REFINEMENT)) == 3
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.JUDGE
    assert answer.chosen == (RIGHT,)  # the vote's: the judge names no ground to leave it
    assert answer.probabilities[RIGHT] == 0.7
    assert answer.sides == ((RIGHT, RIGHT),) * 3


def test_an_answer_without_probabilities_counts_as_not_read() -> None:
    _, answer, _ = arm_debate(ArmForm.SOLO, lambda _request: "Perhaps.")
    assert (answer.is_read, answer.chosen) == (False, ())
    assert set(answer.probabilities.values()) == {0.5}


def test_a_cap_that_is_reached_leaves_no_answer() -> None:
    cap = Cap("bench", "this bench", Decimal(1), Decimal(1))
    debate, _, provider = arm_debate(ArmForm.VOTE, saying(70), cap)
    assert not is_answer(debate)
    assert provider.requests == []
