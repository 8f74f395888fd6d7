"""Built-in prompts are as approved; people's own prompts are checked."""

import re
from pathlib import Path

import pytest

from core.acts import prompt as render
from core.acts.act import ACTS
from core.debate.agents import Agent, PromptText
from core.debate.turn import Act
from core.settings import ROLES

GOLDEN = Path(__file__).parents[2] / "golden" / "prompts"
VALUES: dict[Act, dict[str, object]] = {
    Act.QUESTIONS: {"most": 5, "most_facts": 3, "followup": False},
    Act.PROPOSAL: {"words": 350, "fresh": False, "letter": "", "raises": True},
    Act.CRITIQUE: {"words": 250, "repeated": True, "letter": "B", "author": "A"},
    Act.REFINEMENT: {"words": 450, "options": "o1, o2", "letter": "B"},
    Act.GATHER: {"words": 350},
    Act.PLAN: {"words": 200},
    Act.FORMULATE: {"words": 450},
    Act.DEBATE: {"words": 450, "letter": "B"},
    Act.ADJUST: {"words": 450, "letter": "B", "options": "o1, o2"},
    Act.REBUTTAL: {"words": 250, "letter": "B"},
    Act.STATEMENT: {
        "words": 300,
        "first": False,
        "closing": False,
        "letter": "B",
        "options": "o1, o2",
    },
    Act.BALLOT: {
        "count": 3,
        "labels": "p1, p2, p3",
        "options": "o1, o2",
        "before": "PostgreSQL",
        "movers": "c1, c2",
        "letters": "",
        "sources": "e1, e2",
        "review": False,
        "answered": True,
    },
    Act.REVIEW: {
        "subject": "e1, e2",
        "most": 8,
        "in_part": True,
        "options": '"o1" (Ready), "o2" (Ready with changes), "o3" (Not yet)',
    },
    Act.SECOND_LOOK: {
        "subject": "e1, e2",
        "handed_in": "e2",
        "labels": "f1, f4",
        "most": 8,
        "options": '"o1" (Ready), "o2" (Ready with changes), "o3" (Not yet)',
    },
}
STAFF: dict[str, dict[Act, dict[str, object]]] = {
    "judge": {
        Act.SYNTHESIS: {
            "words": 500,
            "winner": "the winner of the vote, the position of Security",
            "voted": "o2",
            "unanimous": False,
            "audited": False,
            "partial": "a person stopped it.",
            "notes": "note1, note2",
            "several": False,
            "options": "o1, o2",
            "earlier": "d1, d2",
            "ended": "Round 1 moved nobody, and all hold PostgreSQL best.",
            "compared": "",
            "musts": "",
            "parts": "",
            "missing": False,
            "raised": 9,
            "most_lone": 5,
            "review": False,
            "answered": True,
            "lost": "Ann's ballot; Bob's refined proposal in round 2",
            "told": True,
            "holders": "Ann, Bob, Cleo",
        },
        Act.CROSS_CHECK: {"options": "o1, o2", "answered": True, "lost": ""},
        Act.FOLLOW_UP: {"words": 200},
    },
    "auditor": {Act.AUDIT: {"most": 5}},
    "facilitator": {Act.FACILITATION: {"round": 1, "left": 4, "may_ask": 2, "may_vote": False}},
    "summarizer": {
        Act.SUMMARY: {"length": "300 tokens", "brief": True, "own": False},
        Act.SHADOW_CHOICE: {"options": "o1, o2"},
        Act.OPTIONS: {"labels": "p1, p2, p3", "most": 6},
        Act.FINDINGS: {"labels": "f1, f2, f3"},
        Act.CLARIFICATION: {"labels": "q1, q2, q3"},
        Act.CASTING: {
            "roles": {role: " ".join(render.persona(role).split()) for role in ROLES},
            "sceptic": "sceptic",
            "fewest": 3,
            "most": 5,
        },
    },
}
OF_A_REVIEW = {
    "review": True,
    "options": "o1, o2, o3",
    "before": "",
    "earlier": "",
    "ended": "",
    "voted": "",
    "raised": 0,
}
#: The role for approved prompts of all acts, and the act for approved prompts of all roles. Other
#: combinations need no test, because a prompt is the persona followed by the act's text.
ROLE, ACT = "architect", Act.PROPOSAL
CASES: list[tuple[str, Act, dict[str, object]]] = [
    *((ROLE, act, values) for act, values in VALUES.items() if act is not ACT),
    *((role, ACT, VALUES[ACT]) for role in ROLES),
    ("generalist", Act.SHADOW, {"words": 350, "sections": True}),
    ("sceptic", Act.RECALL, {}),
    # The vote on a review, and its verdict.
    ("security", Act.BALLOT, {**VALUES[Act.BALLOT], **OF_A_REVIEW}),
    ("generalist", Act.SYNTHESIS, {**STAFF["judge"][Act.SYNTHESIS], **OF_A_REVIEW}),
    *((role, act, values) for role, acts in STAFF.items() for act, values in acts.items()),
]


def an_agent(role: str) -> Agent:
    return Agent(id=role, name=role, role=role, provider="p", model="m")


@pytest.mark.parametrize(("role", "act", "values"), CASES, ids=str)
def test_a_prompt_equals_its_approved_text(role: str, act: Act, values: dict[str, object]) -> None:
    text = render.task(act, an_agent(role), **values) + "\n"

    assert text == (GOLDEN / f"{act}-{role}.md").read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text), "a single brace is no template variable"


def test_the_system_texts_are_as_approved_and_no_golden_prompt_is_left_over() -> None:
    systems = {"system": Act.PROPOSAL, "system-alone": Act.SHADOW, "system-brief": Act.BALLOT}
    for name, act in systems.items():
        assert render.system(act) + "\n" == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")
    expected = {f"{act}-{role}.md" for role, act, _ in CASES} | {f"{name}.md" for name in systems}
    assert {path.name for path in GOLDEN.iterdir()} == expected


def test_an_agents_own_prompt_wins_and_is_named() -> None:
    own = {"proposal": PromptText(text="{{ persona }} Sing.", source="prompts/sing.md")}
    agent = an_agent("architect").model_copy(update={"prompts": own})

    sing = render.persona("architect", Act.PROPOSAL) + " Sing."
    assert render.task(Act.PROPOSAL, agent) == f"{sing}\n\n{render.short_form(Act.PROPOSAL)}"
    assert render.source(Act.PROPOSAL, agent) == "prompts/sing.md"
    assert render.source(Act.CRITIQUE, agent) == render.BUILT_IN


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_points_of_its_own_for_each_kind_of_act(role: str) -> None:
    bare = render.persona(role)
    for act, (_, heading) in render.LENSES.items():
        assert render.persona(role, act).startswith(f"{bare}\n\n{heading}\n\n- ")


def test_every_act_is_declared_with_what_it_needs() -> None:
    assert set(ACTS) == set(Act)
    # Except evaluations, which are made after a debate, and reading, for which `Turns` has a port.
    performed = {act for act, spec in ACTS.items() if spec.perform}
    assert performed == set(Act) - {Act.EVALUATION, Act.COMPARISON, Act.RECALL, Act.READING}
    assert all(spec.words for spec in ACTS.values() if spec.is_speech), "how long it may be"


@pytest.mark.parametrize("words", ["label", "noun", "phase"])
def test_words_for_people_are_not_shared_by_two_acts(words: str) -> None:
    assert len({getattr(act, words) for act in Act}) == len(Act)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("persona", " \n", "it is empty"),
        ("critique", "", "it is empty"),
        ("critique", "{{ persona", "line 1: "),
        ("critique", "{% if x %}", "line 1: "),
        (
            "critique",
            "{{ wordz }}",
            "it uses wordz; there are: author, letter, persona, repeated, words",
        ),
        ("critique", "{{ ''.__class__.__mro__ }}", "it cannot be rendered: "),
        ("critique", "{{ 1 / 0 }}", "it cannot be rendered: division by zero"),
        ("synthesis", "{% include '/etc/passwd' %}", "it cannot be rendered: "),
        # People's prompts can include no file, not even a built-in one.
        ("synthesis", "{% include 'critique.md.j2' %}", "it cannot be rendered: "),
    ],
)
def test_an_override_that_cannot_be_used_is_refused_with_a_reason(
    name: str, text: str, reason: str
) -> None:
    assert render.override_fault(name, text).startswith(reason)


@pytest.mark.parametrize("name", render.overridable())
def test_every_prompt_can_be_overridden(
    name: str,
) -> None:
    file = Path(render.__file__).parent / f"{name}.md.j2"
    is_act = name != "persona"

    assert (
        render.override_fault(name, file.read_text(encoding="utf-8") if is_act else "A pilot.")
        == ""
    )
    assert render.override_fault(name, "{{ persona }} Say it in {{ words }} words.") == ""
