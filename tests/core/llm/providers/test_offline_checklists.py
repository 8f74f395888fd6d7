"""The offline engine's data files: complete, consistent, and readable by its own rules."""

import itertools
from collections.abc import Mapping

import pytest
from core.llm.providers.offline_engine.checklist import ANY, Check, catalogue, things_in, topics_of

ROLES = (
    "architect",
    "performance",
    "security",
    "testing",
    "simplicity",
    "data-modelling",
    "generalist",
    "sceptic",
    "product",
    "finance",
)
CHECKS = [
    pytest.param(check, id=f"{name}: {check.ask}")
    for name, role in catalogue().roles.items()
    for checks in role.checks.values()
    for check in checks
]


def test_there_are_ten_roles_and_the_judge() -> None:
    assert set(catalogue().roles) == {*ROLES, "judge"}


@pytest.mark.parametrize("check", CHECKS)
def test_doing_what_a_check_asks_for_meets_it(check: Check) -> None:
    assert check.is_met_by(check.do)


@pytest.mark.parametrize("check", CHECKS)
def test_checks_are_a_question_and_two_sentences(check: Check) -> None:
    assert check.ask.endswith("?")
    assert check.do.endswith(".")
    assert check.otherwise.endswith(".")


def test_no_two_checks_ask_the_same() -> None:
    asks = [check.ask for role in catalogue().roles.values() for check in _all(role.checks)]

    assert len(asks) == len(set(asks))


def _all(checks: Mapping[str, tuple[Check, ...]]) -> list[Check]:
    return list(itertools.chain.from_iterable(checks.values()))


def test_everything_a_file_points_to_exists() -> None:
    known = catalogue()
    for role in known.roles.values():
        assert set(role.values) <= set(known.criteria)
        assert set(role.asks) <= set(known.open_points)
        assert set(role.first) <= set(known.requirement_kinds)
        assert set(role.checks) <= {ANY, *known.topics}
        for check in _all(role.checks):
            assert set(check.only) <= set(known.things)
    for thing in known.things.values():
        assert set(thing.traits) <= set(known.criteria)
    for topic in known.topics.values():
        assert set(topic.approaches) <= set(known.things)
    for point in known.open_points.values():
        assert set(point.topics) <= set(known.topics)
        assert set(point.settled_by) <= set(known.requirement_kinds)
    for kind in known.requirement_kinds.values():
        assert kind.criterion in known.criteria
    assert set(known.role_names.values()) <= set(known.roles)


def test_roles_value_different_things() -> None:
    values = [tuple(sorted(catalogue().roles[name].values.items())) for name in ROLES]

    assert len(set(values)) == len(ROLES)


@pytest.mark.parametrize(
    ("name", "title"),
    [("Data_Modelling", "data modelling"), ("KISS", "simplicity"), ("astronaut", "the whole")],
)
def test_a_role_is_found_by_its_other_names_and_unknown_ones_are_generalists(
    name: str, title: str
) -> None:
    assert catalogue().role(name).title == title


def test_short_words_do_not_match_inside_longer_ones() -> None:
    assert topics_of("Tabs or spaces?") == ()
    assert things_in("our own hardware") == ("on_premises",)
