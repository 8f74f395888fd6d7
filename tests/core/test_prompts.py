"""Prompts as agents read them: every role and act rendered, compared with what was approved."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from core.models import Act
from core.prompts import render
from core.settings import ROLES

GOLDEN = Path(__file__).parents[1] / "golden" / "prompts"
VALUES: dict[Act, dict[str, object]] = {
    Act.PROPOSAL: {"words": 350},
    Act.CRITIQUE: {"words": 250, "repeated": True},
    Act.REFINEMENT: {"words": 450},
    Act.BALLOT: {"words": 0, "count": 3, "labels": "p1, p2, p3"},
    Act.SYNTHESIS: {
        "words": 500,
        "winner": "the winner of the vote, the position of Security",
        "partial": True,
        "notes": "n1, n2",
    },
}
CASES = [
    *((role, act) for role in ROLES for act in VALUES if act is not Act.SYNTHESIS),
    ("judge", Act.SYNTHESIS),
]


@pytest.mark.parametrize(("role", "act"), CASES, ids=str)
def test_a_prompt_is_as_it_was_approved(role: str, act: Act) -> None:
    text = render.task(act, role, **VALUES[act]) + "\n"

    assert text == (GOLDEN / f"{act}-{role}.md").read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text), "a single brace is no template variable"
    assert text.startswith(render.persona(role))


def test_the_system_text_is_as_it_was_approved() -> None:
    assert render.system() + "\n" == (GOLDEN / "system.md").read_text(encoding="utf-8")


def test_no_golden_prompt_is_left_over() -> None:
    expected = {f"{act}-{role}.md" for role, act in CASES} | {"system.md"}

    assert {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize("act", VALUES, ids=str)
def test_a_missing_value_is_an_error_not_a_gap(act: Act) -> None:
    with pytest.raises(UndefinedError):
        render.task(act, "architect")


def test_every_built_in_role_has_a_persona_of_its_own() -> None:
    assert len({render.persona(role) for role in (*ROLES, "judge")}) == len(ROLES) + 1


def test_an_unknown_role_speaks_as_the_generalist() -> None:
    assert render.persona("../../etc/passwd") == render.persona("generalist")
