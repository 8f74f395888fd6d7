"""Roles and formats that plugins bring: a debate's log holds all it needs of them."""

from core.acts.take import Turns
from core.debate.agents import PERSONA, Role
from core.debate.debate_events import DebateStarted
from core.debate.people import Person, Place
from core.debate.setup import Setup
from core.debate.turn import Act
from core.debate.turn_events import AgentsCast
from core.engine import Engine
from core.llm.call import ModelCalls
from core.opening import DebateRequest, open_debate
from core.ports import ModelProvider
from core.settings import ModelChoice, Settings
from core.store.memory import InMemoryStore
from core.testing import (
    AN_AGENDA,
    ManualClock,
    RecordingSink,
    ScriptedProvider,
    plausible_reply,
)

ROLE = Role(
    id="wcag",
    name="Accessibility",
    prompt="You look at who is shut out.\n\nAlways name the rule.",
    topics=("captions", "contrast"),
    source="moot-wcag 1.0",
)
AGENDA = AN_AGENDA.model_copy(update={"prompts": {Act.DEBATE: "{{ persona }} It failed. Why?"}})
CHOICE = ModelChoice(provider="scripted", model="scripted-1")
SETTINGS = Settings(agent_model=CHOICE, judge_model=CHOICE, roles=(ROLE,), agendas=(AGENDA,))


def opened(question: str = "Kafka or PostgreSQL?", **changes: object) -> Setup:
    fields = {"question": question, "asked_by": Person(id="U1"), "place": Place(surface="terminal")}
    request = DebateRequest(**{**fields, **changes})  # pyright: ignore[reportArgumentType] - one test, one wish
    return open_debate(request, SETTINGS, delimiter="d41d8c")


async def sink_after(setup: Setup, provider: ModelProvider) -> RecordingSink:
    """Hold the debate, with no settings or plugin at hand: only its log."""
    store, sink, clock = InMemoryStore(), RecordingSink(), ManualClock()
    turns = Turns(ModelCalls({"scripted": provider}, clock))
    engine = Engine(store=store, turns=turns, sink=sink, clock=clock)
    whole = Setup.model_validate_json(setup.model_dump_json())
    await store.create("dabc2345", DebateStarted(setup=whole), origin="o", at=clock.now())
    await engine.run("dabc2345")
    return sink


async def test_a_model_can_cast_a_role() -> None:
    setup = opened("Kafka or PostgreSQL?")
    choice = '{"agents": [{"role": "wcag", "reason": "Rules ask for it."}]}'
    provider = ScriptedProvider(
        lambda request: choice if request.act is Act.CASTING else plausible_reply(request)
    )

    sink = await sink_after(setup, provider)

    [cast] = [event.event.cast for event in sink.events if isinstance(event.event, AgentsCast)]
    agents = {agent.id: agent for agent in cast.agents}
    assert agents["wcag"].prompts[PERSONA].text == ROLE.prompt
    assert PERSONA not in agents["sceptic"].prompts
    [request] = provider.requests_of(Act.CASTING)
    # The first paragraph says who it is.
    assert "who is shut out" in request.parts[-1].text
    assert "Always name the rule" not in request.parts[-1].text
