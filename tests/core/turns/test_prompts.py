"""Prompts as agents read them, compared with what was approved: one for each role and each act."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from core.models import Act, Agent, PromptText
from core.settings import ROLES
from core.turns.prompts import render

GOLDEN = Path(__file__).parents[2] / "golden" / "prompts"
VALUES: dict[Act, dict[str, object]] = {
    Act.QUESTIONS: {"most": 5, "followup": True},
    Act.PROPOSAL: {"words": 350},
    Act.CRITIQUE: {"words": 250, "repeated": True},
    Act.REFINEMENT: {"words": 450},
    Act.GATHER: {"words": 350},
    Act.PLAN: {"words": 200},
    Act.FORMULATE: {"words": 450},
    Act.DEBATE: {"words": 450},
    Act.ADJUST: {"words": 450},
    Act.REBUTTAL: {"words": 250},
    Act.STATEMENT: {"words": 300, "first": False},
    Act.BALLOT: {"count": 3, "labels": "p1, p2, p3", "before": "p2", "critiques": "c1, c2"},
}
STAFF: dict[str, dict[Act, dict[str, object]]] = {
    "judge": {
        Act.SYNTHESIS: {
            "words": 500,
            "winner": "the winner of the vote, the position of Security",
            "partial": True,
            "notes": "n1, n2",
        }
    },
    "facilitator": {Act.FACILITATION: {}},
    "summarizer": {Act.SUMMARY: {"length": "150 tokens", "brief": True}},
}
#: Who a prompt is approved for where the act is what matters, and the act where the role does. A
#: prompt is the role's persona and then the act's text, so that nothing else can go wrong.
ROLE, ACT = "architect", Act.PROPOSAL
CASES = [
    *((ROLE, act, values) for act, values in VALUES.items() if act is not ACT),
    *((role, ACT, VALUES[ACT]) for role in ROLES),
    *((role, act, values) for role, acts in STAFF.items() for act, values in acts.items()),
]


def an_agent(role: str) -> Agent:
    return Agent(id=role, name=role, role=role, provider="p", model="m")


@pytest.mark.parametrize(("role", "act", "values"), CASES, ids=str)
def test_a_prompt_is_as_it_was_approved(role: str, act: Act, values: dict[str, object]) -> None:
    text = render.task(act, an_agent(role), **values) + "\n"

    assert text == (GOLDEN / f"{act}-{role}.md").read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text), "a single brace is no template variable"


@pytest.mark.parametrize("act", VALUES, ids=str)
def test_every_role_performs_an_act_in_its_own_person(act: Act) -> None:
    prompts = {role: render.task(act, an_agent(role), **VALUES[act]) for role in ROLES}
    tasks = {text.removeprefix(render.persona(role)) for role, text in prompts.items()}

    assert all(text.startswith(render.persona(role)) for role, text in prompts.items())
    assert len(tasks) == 1, "what is asked of an agent does not depend on its role"


def test_the_system_text_is_as_it_was_approved() -> None:
    assert render.system() + "\n" == (GOLDEN / "system.md").read_text(encoding="utf-8")


def test_no_golden_prompt_is_left_over() -> None:
    expected = {f"{act}-{role}.md" for role, act, _ in CASES} | {"system.md"}

    assert {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize("act", VALUES, ids=str)
def test_a_missing_value_is_an_error_not_a_gap(act: Act) -> None:
    with pytest.raises(UndefinedError):
        render.task(act, an_agent("architect"))


def test_an_agents_own_prompt_wins_and_is_named() -> None:
    own = {"proposal": PromptText(text="{{ persona }} Sing.", source="prompts/sing.md")}
    agent = an_agent("architect").model_copy(update={"prompts": own})

    assert render.task(Act.PROPOSAL, agent) == render.persona("architect") + " Sing."
    assert render.source(Act.PROPOSAL, agent) == "prompts/sing.md"
    assert render.source(Act.CRITIQUE, agent) == render.BUILT_IN


def test_an_agents_own_persona_is_in_every_task() -> None:
    own = {"persona": PromptText(text="You are the ghost of projects past.", source="ghost.md")}
    agent = an_agent("architect").model_copy(update={"prompts": own})

    assert render.task(Act.PROPOSAL, agent, words=9).startswith("You are the ghost")
    assert render.source(Act.PROPOSAL, agent) == "ghost.md"


def test_every_built_in_role_has_a_persona_of_its_own() -> None:
    assert len({render.persona(role) for role in (*ROLES, *STAFF)}) == len(ROLES) + len(STAFF)


def test_an_unknown_role_speaks_as_the_generalist() -> None:
    assert render.persona("../../etc/passwd") == render.persona("generalist")
