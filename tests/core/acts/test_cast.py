"""The choice of agents in whole debates with a scripted model."""

import json
from collections.abc import Sequence

import pytest

from core.debate.agents import ModelChoice, PromptText
from core.debate.contributions import Contribution
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.setup import Cast, Setup
from core.debate.state import Debate, Status
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import AgentsCast, ContributionMade
from core.errors import LogBroken, ProviderError, RequestRejected
from core.estimate import estimate
from core.opening import DebateRequest, largest, open_debate
from core.request import ModelRequest
from core.rules import casting, schedule
from core.rules.gate import in_words
from core.settings import Settings
from core.testing import ScriptedProvider, log_of, plausible_reply
from tests.core.bench import Bench

ONE = ModelChoice(provider="scripted", model="one")
TWO = ModelChoice(provider="scripted", model="two")
WISH = DebateRequest(
    question="Kafka or PostgreSQL for our queue?",
    asked_by=Person(id="U1"),
    place=Place(surface="terminal"),
)
BY_TOPICS = ["performance", "architect", "operations", "sceptic"]


def a_cast_setup(**changes: object) -> Setup:
    settings = Settings(agent_model=ONE, judge_model=ONE, rounds=1).model_copy(update=changes)
    return open_debate(WISH, settings, delimiter="ab")


def answering(casting_reply: str | ProviderError) -> ScriptedProvider:
    def script(request: ModelRequest) -> str | ProviderError:
        return casting_reply if request.act is Act.CASTING else plausible_reply(request)

    return ScriptedProvider(script)


def naming(roles: Sequence[str]) -> str:
    return json.dumps({"agents": [{"reason": f"It needs {role}.", "role": role} for role in roles]})


async def test_a_model_chooses_the_agents_before_anybody_speaks() -> None:
    bench = Bench()
    setup = a_cast_setup()
    debate = await bench.run(setup)
    first, *others = bench.provider.requests

    assert [agent.role for agent in setup.agents] == BY_TOPICS, "shown until a model has chosen"
    assert first.act is Act.CASTING
    assert all(request.act is not Act.CASTING for request in others)
    assert [agent.id for agent in debate.setup.agents] == ["operations", "finance", "sceptic"]
    assert debate.setup.reasons["operations"] == "Jobs must not be lost."
    assert debate.setup.reasons["sceptic"] == "Looks for what is wrong with the favourite answer."
    assert {contribution.turn.agent for contribution in debate.contributions.values()} == {
        "operations",
        "finance",
        "sceptic",
    }
    assert debate.spent[0].agent == SUMMARIZER
    assert debate.usage.attempts == len(bench.provider.requests)
    assert debate.status is Status.CONCLUDED
    assert not debate.setup.warnings


def saying(kind: str, undo: str) -> str:
    cast = json.loads(naming(["legal", "operations", "finance"]))
    return json.dumps({"kind": kind, "undo": undo, **cast})


async def cast_and_agreed(casting_reply: str, **changes: object) -> Debate:
    """A debate of two models whose first answers agree."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.CASTING:
            return casting_reply
        if request.act is Act.OPTIONS:
            merged = json.loads(plausible_reply(request))
            return json.dumps(merged | {"stands_for": [1] * len(merged["stands_for"])})
        return plausible_reply(request)

    bench = Bench(ScriptedProvider(script))
    return await bench.run(a_cast_setup(mixed_models=(ONE, TWO), **changes))


async def test_what_is_hard_to_undo_is_debated_though_all_agree() -> None:
    debate = await cast_and_agreed(saying("judgement", "hard"))
    (first, *_) = debate.gates.values()
    assert debate.setup.hard_to_undo
    assert debate.status is Status.CONCLUDED
    assert [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.act is Act.CRITIQUE
    ]
    assert "hard to undo, so it is debated all the same" in in_words(debate, first)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (RequestRejected("No such model."), "No such model."),
        ("I would rather not.", "no JSON object"),
        (naming(["wizard"]), "named no known role"),
    ],
)
async def test_topics_do_where_the_call_fails(reply: str | ProviderError, why: str) -> None:
    debate = await Bench(answering(reply)).run(a_cast_setup())

    assert [agent.id for agent in debate.setup.agents] == BY_TOPICS
    assert debate.setup.reasons["performance"] == "The question says “Kafka”: load and speed."
    assert why in debate.setup.warnings[0]
    assert debate.usage.attempts > len(debate.contributions), "what it cost is booked"
    assert debate.status is Status.CONCLUDED


async def test_the_choice_sees_titles_of_sources_and_the_thread_it_came_from() -> None:
    def reference(kind: SourceKind, title: str, text: str) -> SourceReference:
        return SourceReference(kind=kind, title=title, fetch=text, by=Person(id="U1"))

    plan = reference(SourceKind.TEXT, "The plan", "Jobs go to a table.")
    setup = a_cast_setup().model_copy(update={"references": (plan,)})
    bench = Bench()
    await bench.run(setup)
    (request,) = bench.provider.requests_of(Act.CASTING)
    assert "- The plan" in [part.text for part in request.parts]

    thread = reference(SourceKind.THREAD, "The thread", "x")
    begun = DebateStarted(setup=setup.model_copy(update={"references": (plan, thread)}))
    debate = fold(log_of([begun]))
    (reading,) = schedule.ready(debate)
    assert reading.act is Act.READING


async def test_models_prompts_and_fallbacks_are_those_of_the_debate() -> None:
    mine = PromptText(text="Say it in a word.", source="mine.md")
    setup = a_cast_setup(prompts={"proposal": mine}, fallbacks=(ONE, TWO))
    assert setup.casting
    both = setup.casting.model_copy(update={"models": (ONE, TWO)})
    debate = await Bench(answering(naming(["legal", "data", "sceptic"]))).run(
        setup.model_copy(update={"casting": both})
    )
    legal, data, sceptic = debate.setup.agents

    assert [agent.model for agent in (legal, data, sceptic)] == ["one", "two", "one"]
    assert legal.prompts["proposal"] == mine
    assert legal.fallbacks == (TWO,)
    assert data.fallbacks == (ONE,)


def test_nobody_is_cast_after_others_have_spoken() -> None:
    setup = a_cast_setup()
    turn = Turn(act=Act.PROPOSAL, round=1, agent=setup.agents[0].id)
    cast = Cast(turn=casting.TURN, agents=setup.agents, reasons=setup.reasons)
    log = log_of(
        [
            DebateStarted(setup=setup),
            ContributionMade(contribution=Contribution(turn=turn, text="Kafka.")),
            AgentsCast(cast=cast),
        ]
    )

    with pytest.raises(LogBroken, match="after others have spoken"):
        fold(log)
    with pytest.raises(LogBroken, match="casts nobody"):
        fold(log_of([log[0].event, AgentsCast(cast=cast.model_copy(update={"agents": ()}))]))


def test_an_estimate_counts_the_call_and_at_the_most_the_most_agents() -> None:
    setup = a_cast_setup(agent_model=ModelChoice(provider="openai", model="gpt-6-luna"))
    forecast, largest_forecast = estimate(setup), estimate(largest(setup))

    assert sum(call.turn.act is Act.CASTING for call in forecast.planned) == 1
    assert forecast.calls[1] < forecast.calls[2] == largest_forecast.calls[2]
    assert forecast.most == largest_forecast.most
