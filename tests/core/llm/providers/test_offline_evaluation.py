"""The offline engine as an evaluator: each role by its own criteria, and nothing it cannot know."""

import pytest

from core.models import Act
from core.request import PartKind
from tests.core.llm.providers.test_offline import QUEUE, fill, part, say

EVALUATORS = ("generalist", "sceptic", "product", "security", "finance")
NOT_COVERED = "Should we fire Bob?"


def scored(role: str, question: str = QUEUE, text: str = "") -> dict[str, tuple[int, str]]:
    """Score and reason per criterion."""
    decision = text or say(Act.PROPOSAL, question=question)
    shown = part(PartKind.POSITION, decision, "The decision")
    found = fill(Act.EVALUATION, shown, question=question, role=role)["scores"]
    return {one["criterion"]: (one["score"], one["reason"]) for one in found}


@pytest.mark.parametrize("criterion", ["security", "maintainability", "testability", "overall"])
def test_evaluators_give_reasons_of_their_own(criterion: str) -> None:
    reasons = {scored(role)[criterion][1] for role in EVALUATORS}

    assert len(reasons) == len(EVALUATORS)


def test_evaluators_do_not_all_score_alike() -> None:
    scores = {tuple(score for score, _ in scored(role).values()) for role in EVALUATORS}

    assert len(scores) >= len(EVALUATORS) - 1


@pytest.mark.parametrize("role", EVALUATORS)
def test_compliance_is_not_measured_by_the_list_of_security(role: str) -> None:
    question = "Kafka or PostgreSQL for customers' data? It must be GDPR compliant."
    found = scored(role, question)

    assert found["security"][1] != found["regulatory_compliance"][1]
    assert "1 of 1 rules that the question names" in found["regulatory_compliance"][1]


def test_a_requirement_that_nothing_speaks_about_is_open_and_lowers_the_score() -> None:
    question = "Kafka or PostgreSQL for our job queue? It must keep every job."
    text = "**Choose PostgreSQL for our job queue.** It must keep every job."

    score, reason = scored("product", question, text)["requirements_fulfilment"]

    assert score < 10
    assert reason.startswith("0 of 1 requirements are taken up and met")
    assert "Open: must keep every job" in reason


def test_what_no_checklist_covers_is_not_scored_up_or_down() -> None:
    found = scored("sceptic", NOT_COVERED)

    assert {score for score, _ in found.values()} == {5}
    assert "does not cover this question" in found["security"][1]


@pytest.mark.parametrize("role", EVALUATORS)
@pytest.mark.parametrize(
    "question",
    [
        "Which of Go, Rust and Zig should we use for our CLI tool?",
        "Go, Rust and Zig: which should we use?",
        "Should we work remotely on Fridays?",
        "How do we reduce churn?",
        "Should our API be public?",
        "?",
    ],
)
def test_any_question_gets_a_score_and_a_reason_for_each_criterion(
    question: str, role: str
) -> None:
    found = scored(role, question)

    assert all(1 <= score <= 10 and reason for score, reason in found.values())
