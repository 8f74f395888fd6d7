"""Prompts people bring: which of them can be used."""

from pathlib import Path

import pytest

from core.acts import overrides
from core.debate.turn import Act


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
        # A turn could not render it: people's prompts reach no file, not even a built-in one.
        ("synthesis", "{% include 'critique.md.j2' %}", "it cannot be rendered: "),
    ],
)
def test_what_cannot_be_used_is_said_beforehand(name: str, text: str, reason: str) -> None:
    assert overrides.fault(name, text).startswith(reason)


@pytest.mark.parametrize(
    "text", ["Criticise it.", "{{ persona }} {% if repeated %}Again.{% endif %}"]
)
def test_a_good_prompt_has_no_fault(text: str) -> None:
    assert overrides.fault("critique", text) == ""


@pytest.mark.parametrize("name", overrides.NAMES)
def test_the_built_in_prompt_of_every_name_has_no_fault(name: str) -> None:
    file = Path(overrides.__file__).parent / f"{name}.md.j2"
    text = file.read_text(encoding="utf-8") if file.exists() else "You are a pilot."

    assert overrides.fault(name, text) == ""
    assert file.exists() or name == "persona"


def test_every_prompt_may_say_who_and_how_long() -> None:
    assert all(
        {"persona", "words"} <= overrides.values_of(Act(name)) for name in overrides.NAMES[1:]
    )
