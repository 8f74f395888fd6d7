"""The choice of agents in whole debates with a scripted model."""

import json

import pytest

from core.debate.agents import PERSONA, ModelChoice, PromptText, Role
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.setup import Setup
from core.debate.state import Status
from core.debate.turn import SUMMARIZER, Act
from core.errors import ProviderError, RequestRejected
from core.opening import DebateRequest, open_debate
from core.request import ModelRequest
from core.rules import schedule
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


def naming(*roles: str, **more: str) -> str:
    agents = [{"reason": f"It needs {role}.", "role": role} for role in roles]
    return json.dumps({"agents": agents, **more})


async def test_a_model_chooses_the_agents_before_anybody_speaks() -> None:
    bench = Bench(answering(naming("operations", "finance", kind="judgement", undo="hard")))
    setup = a_cast_setup()
    debate = await bench.run(setup)
    first, *others = bench.provider.requests
    chosen = ["operations", "finance", "sceptic"]

    assert [agent.role for agent in setup.agents] == BY_TOPICS, "shown until a model has chosen"
    assert first.act is Act.CASTING
    assert all(request.act is not Act.CASTING for request in others)
    assert [agent.id for agent in debate.setup.agents] == chosen
    assert debate.setup.reasons["operations"] == "It needs operations."
    assert debate.setup.reasons["sceptic"] == "Looks for what is wrong with the favourite answer."
    assert {said.turn.agent for said in debate.contributions.values()} == set(chosen)
    assert debate.setup.hard_to_undo
    assert debate.expenses[0].agent == SUMMARIZER
    assert debate.usage.attempts == len(bench.provider.requests)
    assert debate.status is Status.CONCLUDED
    assert not debate.setup.warnings


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (RequestRejected("No such model."), "No such model."),
        ("I would rather not.", "no JSON object"),
        (naming("wizard"), "named no known role"),
    ],
)
async def test_agents_are_chosen_by_topics_if_the_call_fails(
    reply: str | ProviderError, why: str
) -> None:
    debate = await Bench(answering(reply)).run(a_cast_setup())

    assert [agent.id for agent in debate.setup.agents] == BY_TOPICS
    assert debate.setup.reasons["performance"] == "The question says “Kafka”: load and speed."
    assert why in debate.setup.warnings[0]
    assert debate.usage.attempts > len(debate.contributions), "what it cost is booked"
    assert debate.status is Status.CONCLUDED


async def test_the_casting_prompt_lists_titles_of_sources_and_waits_for_the_thread() -> None:
    def reference(kind: SourceKind, title: str) -> SourceReference:
        return SourceReference(kind=kind, title=title, fetch="x", by=Person(id="U1"))

    plan = reference(SourceKind.TEXT, "The plan")
    setup = a_cast_setup().model_copy(update={"references": (plan,)})
    bench = Bench()
    await bench.run(setup)
    (request,) = bench.provider.requests_of(Act.CASTING)
    assert "- The plan" in [part.text for part in request.parts]

    both = (plan, reference(SourceKind.THREAD, "The thread"))
    begun = DebateStarted(setup=setup.model_copy(update={"references": both}))
    (reading,) = schedule.ready(fold(log_of([begun])))
    assert reading.act is Act.READING


async def test_chosen_agents_get_the_models_prompts_and_fallbacks_of_the_debate() -> None:
    mine = PromptText(text="Say it in a word.", source="mine.md")
    setup = a_cast_setup(prompts={"proposal": mine}, fallbacks=(ONE, TWO))
    assert setup.casting
    both = setup.casting.model_copy(update={"models": (ONE, TWO)})
    debate = await Bench(answering(naming("legal", "data", "sceptic"))).run(
        setup.model_copy(update={"casting": both})
    )
    legal, data, sceptic = debate.setup.agents

    assert [agent.model for agent in (legal, data, sceptic)] == ["one", "two", "one"]
    assert legal.prompts["proposal"] == mine
    assert legal.fallbacks == (TWO,)
    assert data.fallbacks == (ONE,)


async def test_a_role_of_a_plugin_can_be_chosen_and_is_recorded() -> None:
    prompt = "You look at who is shut out.\n\nAlways name the rule."
    role = Role(id="wcag", name="Accessibility", prompt=prompt, topics=("contrast",), source="m 1")
    whole = a_cast_setup(roles=(role,)).model_dump_json()
    bench = Bench(answering(naming("wcag")))
    debate = await bench.run(Setup.model_validate_json(whole))

    agents = {agent.id: agent for agent in debate.setup.agents}
    assert agents["wcag"].prompts[PERSONA].text == prompt
    assert PERSONA not in agents["sceptic"].prompts
    (request,) = bench.provider.requests_of(Act.CASTING)
    # The first paragraph says who it is.
    assert "who is shut out" in request.parts[-1].text
    assert "Always name the rule" not in request.parts[-1].text
