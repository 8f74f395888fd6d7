"""Roles and formats that plugins bring: a debate's log holds all it needs of them."""

from pathlib import Path

import pytest

from core.acts.take import Turns
from core.config.load import Known, load, prompt_reader
from core.engine import Engine
from core.errors import BadInput, ConfigurationBroken
from core.events import AgentsCast, DebateStarted, VerdictReached, fold
from core.llm.call import ModelCalls
from core.models import PERSONA, Act, Person, Place, Role, Setup
from core.opening import DebateRequest, largest, open_debate
from core.ports import ModelProvider
from core.settings import ModelChoice, Settings
from core.store.memory import InMemoryStore
from core.testing import (
    AN_AGENDA,
    ManualClock,
    RecordingSink,
    ScriptedProvider,
    plausible_reply,
    recorded,
)
from core.use_cases.choices import Choices, roster, with_choices

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


def opened(question: str = "Kafka or PostgreSQL?", **wanted: object) -> Setup:
    asked = {"question": question, "asked_by": Person(id="U1"), "place": Place(surface="terminal")}
    request = DebateRequest(**{**asked, **wanted})  # pyright: ignore[reportArgumentType] - one test, one wish
    return open_debate(request, SETTINGS, delimiter="d41d8c")


async def held(setup: Setup, provider: ModelProvider) -> RecordingSink:
    """Hold the debate, with no settings or plugin at hand: only its log."""
    store, sink, clock = InMemoryStore(), RecordingSink(), ManualClock()
    turns = Turns(ModelCalls({"scripted": provider}, clock))
    engine = Engine(store=store, turns=turns, sink=sink, clock=clock)
    whole = Setup.model_validate_json(setup.model_dump_json())
    await store.create("dabc2345", DebateStarted(setup=whole), origin="o", at=clock.now())
    await engine.run("dabc2345")
    return sink


async def test_a_role_debates_with_the_prompt_its_log_holds() -> None:
    setup = opened(agents=["WCAG", "security"])
    provider = ScriptedProvider()

    sink = await held(setup, provider)

    [agent] = [one for one in setup.agents if one.id == "wcag"]
    assert agent.prompts[PERSONA].source == "moot-wcag 1.0"
    said = [request for request in provider.requests if request.role == "wcag"]
    assert said
    assert all("who is shut out" in one.parts[-1].text for one in said if one.act is Act.PROPOSAL)
    assert any(isinstance(event.event, VerdictReached) for event in sink.events)


async def test_a_format_is_held_with_the_tasks_its_log_holds() -> None:
    setup = opened(agents=["architect", "security"], format="premortem", rounds=1)
    provider = ScriptedProvider()

    await held(setup, provider)

    tasks = [one.parts[-1].text for one in provider.asked(Act.DEBATE)]
    assert ["It failed. Why?" in task for task in tasks] == [True, True]
    assert provider.asked(Act.REFINEMENT)
    assert not provider.asked(Act.CRITIQUE)


def test_a_question_about_its_topics_casts_a_role() -> None:
    assert "wcag" in {agent.id for agent in opened("Captions or a transcript?").agents}
    assert "wcag" not in {agent.id for agent in opened("Kafka or PostgreSQL?").agents}


async def test_a_model_can_cast_a_role() -> None:
    setup = opened("Kafka or PostgreSQL?")
    choice = '{"agents": [{"role": "wcag", "reason": "Rules ask for it."}]}'
    provider = ScriptedProvider(
        lambda request: choice if request.act is Act.CASTING else plausible_reply(request)
    )

    sink = await held(setup, provider)

    [cast] = [event.event.cast for event in sink.events if isinstance(event.event, AgentsCast)]
    agents = {agent.id: agent for agent in cast.agents}
    assert agents["wcag"].prompts[PERSONA].text == ROLE.prompt
    assert PERSONA not in agents["sceptic"].prompts
    [asked] = provider.asked(Act.CASTING)
    # The first paragraph says who it is.
    assert "who is shut out" in asked.parts[-1].text
    assert "Always name the rule" not in asked.parts[-1].text


def test_the_first_casts_roles_lend_their_prompt_to_nobody() -> None:
    whole = largest(opened("Captions or contrast?"))

    personas = {agent.id for agent in whole.agents if PERSONA in agent.prompts}
    assert personas == {"wcag"}


def test_what_there_is_not_is_refused_with_what_plugins_bring() -> None:
    with pytest.raises(BadInput, match=r"Formats: .*premortem"):
        opened(format="duel")
    with pytest.raises(BadInput, match='Did you mean "wcag"'):
        opened(agents=["wcga"])


def test_a_settings_file_may_name_what_plugins_bring() -> None:
    text = "agents: [{id: a, role: wcag}, {id: b, role: security}]\ndebate: {format: premortem}\n"
    loaded = load(text, "a.yaml", Known(settings=SETTINGS), prompt_reader(Path()))

    assert loaded.settings.format == "premortem"
    assert loaded.settings.agents[0].prompts[PERSONA].text == ROLE.prompt
    assert not [notice for notice in loaded.notices if "generalist" in notice]
    with pytest.raises(ConfigurationBroken, match='no format "premortem"'):
        load(text, "a.yaml", Known(), prompt_reader(Path()))


def test_channels_and_forms_may_choose_what_plugins_bring() -> None:
    chosen = Choices(format="premortem")

    assert roster(SETTINGS)["wcag"] == "Accessibility"
    assert with_choices(SETTINGS, chosen, []).format == "premortem"
    # Chosen when the plugin was there.
    assert with_choices(Settings(), chosen, []).format == "critique"


def test_an_agenda_is_read_back_as_it_was_written() -> None:
    setup = opened(format="premortem", agents=["architect", "security"])
    debate = fold(recorded([DebateStarted(setup=setup)]))

    assert debate.setup.agenda == AN_AGENDA
    assert Setup.model_validate_json(setup.model_dump_json()) == setup
