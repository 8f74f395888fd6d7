"""The cast of a debate if people chose no agents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules.casting import FEWEST, MOST, SCEPTIC, CastRole, cast_by_topics, valid_cast
from core.settings import ROLES


@pytest.mark.parametrize(
    ("question", "roles"),
    [
        ("Two people run it: which queue?", ["generalist", "operations", "sceptic"]),
        ("Kafka or SQS? Two people run it.", ["performance", "architect", "operations", "sceptic"]),
        ("Which of our hiring candidates?", ["people", "generalist", "operations", "sceptic"]),
        ("PostgreSQL or Kafka for our jobs?", ["data", "architect", "operations", "sceptic"]),
        ("Move our API to Go?", ["architect", "operations", "sceptic"]),
        ("Cost, support, page, team, office?", ["generalist", "operations", "sceptic"]),
        ("Sollen wir das Büro in Berlin kündigen?", ["generalist", "operations", "sceptic"]),
    ],
)
def test_the_questions_topics_choose_the_roles(question: str, roles: list[str]) -> None:
    assert [cast.role for cast in cast_by_topics(question)] == roles


@given(st.text())
def test_any_question_has_three_to_five_known_roles_and_a_sceptic(question: str) -> None:
    roles = [cast.role for cast in cast_by_topics(question)]
    assert FEWEST <= len(roles) <= MOST
    assert len(set(roles)) == len(roles)
    assert SCEPTIC in roles
    assert set(roles) <= set(ROLES)


def test_a_models_choice_becomes_a_valid_cast() -> None:
    choice = ("people", "people", "wizard", "legal", *ROLES)
    cast = valid_cast([CastRole(role, "because " * 50) for role in choice], ROLES)
    roles = ["people", "legal", "architect", "performance", "sceptic"]
    assert [role.role for role in cast] == roles
    assert all(0 < len(role.reason) <= 120 for role in cast)
    assert cast[0].reason.endswith("…")
    (without_spaces, *_) = valid_cast([CastRole("data", "データの移行を見る。" * 50)], ROLES)
    assert without_spaces.reason.startswith("データの移行")
