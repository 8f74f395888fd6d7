"""Formats by name, and their turns as the schedule asks for them."""

import pytest

from core.errors import LogBroken
from core.rules.formats import council, critique, panel, review
from core.rules.formats.registry import FORMATS, format_of, turns_ready
from tests.core.rules.formats.told import a_format_setup, keys, of_all, said, told


def test_every_format_is_found_by_its_name() -> None:
    found = {name: format_of(told(a_format_setup(name))) for name in FORMATS}
    modules = {"critique": critique, "council": council, "panel": panel, "review": review}

    assert found == {name: module.FORMAT for name, module in modules.items()}


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(LogBroken, match="duel"):
        format_of(told(a_format_setup("duel")))


def test_the_turns_that_are_ready_depend_on_the_rounds_asked_for() -> None:
    debate = told(a_format_setup("panel"), *said(*of_all("r1/statement/*")))

    assert keys(turns_ready(debate, 1)) == []
    assert keys(turns_ready(debate, 2)) == ["r1/facilitation/facilitator"]
    assert turns_ready(debate, 2) is turns_ready(debate, 2)
