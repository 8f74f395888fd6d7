"""Options: edits by people, probabilities, stances in texts, merging by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models import Option, OptionChange, OptionEdit, Person
from core.rules.options import (
    MOST_OPTIONS,
    OptionList,
    after_edits,
    leading,
    merge_by_rules,
    next_id,
    read_stance,
    short_name,
    without_stance,
)

KAFKA, POSTGRES, BOTH = (
    Option(id="o1", name="Kafka"),
    Option(id="o2", name="PostgreSQL"),
    Option(id="o3", name="both"),
)
DANA = Person(id="U1", name="Dana")


def an_edit(change: OptionChange, option: str, name: str = "", into: str = "") -> OptionEdit:
    return OptionEdit(change=change, option=option, name=name, into=into, by=DANA, origin="e")


def test_an_option_can_be_added_renamed_and_merged() -> None:
    edits = [
        an_edit(OptionChange.ADD, "o3", "a file"),
        an_edit(OptionChange.RENAME, "o2", "Postgres"),
        an_edit(OptionChange.MERGE, "o3", into="o1"),
    ]
    options = after_edits([KAFKA, POSTGRES], edits)

    assert [(item.id, item.name) for item in options.items] == [("o1", "Kafka"), ("o2", "Postgres")]
    assert options.resolve("o3") == "o1"
    assert options.name("o3") == "Kafka"


def test_an_option_merged_twice_stands_for_where_it_ended() -> None:
    edits = [
        an_edit(OptionChange.MERGE, "o1", into="o2"),
        an_edit(OptionChange.MERGE, "o2", into="o3"),
    ]
    options = after_edits([KAFKA, POSTGRES, BOTH], edits)

    assert [options.resolve(option) for option in ("o1", "o2", "o3")] == ["o3", "o3", "o3"]


@pytest.mark.parametrize(
    "edit",
    [
        an_edit(OptionChange.ADD, "o1", "again"),
        an_edit(OptionChange.RENAME, "o9", "nothing"),
        an_edit(OptionChange.MERGE, "o1", into="o1"),
        an_edit(OptionChange.MERGE, "o1", into="o9"),
        an_edit(OptionChange.MERGE, "o9", into="o1"),
    ],
)
def test_an_edit_that_fits_nothing_changes_nothing(edit: OptionEdit) -> None:
    assert after_edits([KAFKA, POSTGRES], [edit]) == OptionList(items=(KAFKA, POSTGRES))


def test_an_id_is_never_given_twice() -> None:
    edits = [
        an_edit(OptionChange.ADD, "o3", "a file"),
        an_edit(OptionChange.MERGE, "o3", into="o1"),
    ]
    assert next_id([KAFKA, POSTGRES], edits) == "o4"
    assert next_id([], []) == "o1"


def test_probabilities_of_merged_options_are_added() -> None:
    edits = [an_edit(OptionChange.MERGE, "o3", into="o1")]
    options = after_edits([KAFKA, POSTGRES, BOTH], edits)
    assert options.probabilities({"o1": 0.2, "o2": 0.5, "o3": 0.3}) == {"o1": 0.5, "o2": 0.5}


def test_probabilities_are_one_together_and_know_only_options_of_the_debate() -> None:
    options = OptionList(items=(KAFKA, POSTGRES))
    assert options.probabilities({"o1": 60, "o2": 20, "o9": 500}) == {"o1": 0.75, "o2": 0.25}
    assert options.probabilities({}) == {}
    assert options.probabilities({"o9": 1.0}) == {}


def test_two_level_options_lead_nowhere() -> None:
    assert leading({"o1": 0.4, "o2": 0.4, "o3": 0.2}) == ""
    assert leading({"o1": 0.5, "o2": 0.4}) == "o1"
    assert leading({}) == ""


@pytest.mark.parametrize(
    ("line", "stance"),
    [
        ("Stance: o1 70 %, o2 30 %", {"o1": 0.7, "o2": 0.3}),
        ("**Stance:** o1: 70%, o2: 30%", {"o1": 0.7, "o2": 0.3}),
        ("> stance: O1 = 0.7; O2 = 0.3", {"o1": 0.7, "o2": 0.3}),
        ("Stance: o2", {"o1": 0.0, "o2": 1.0}),
        ("Stance: o1 (80 %)", {"o1": 1.0, "o2": 0.0}),
        ("Stance: o9 100 %", {}),
        ("Stance: undecided", {}),
        ("My stance is o1 70 %", {}),
    ],
)
def test_a_stance_is_read_from_the_end_of_a_text(line: str, stance: dict[str, float]) -> None:
    text = f"**Use Kafka.**\n\nIt scales.\n\n{line}"
    assert read_stance(text, OptionList(items=(KAFKA, POSTGRES))) == pytest.approx(stance)


def test_a_stance_quoted_further_up_is_none() -> None:
    text = "Stance: o1 100 %\n" + "word\n" * 6
    assert read_stance(text, OptionList(items=(KAFKA, POSTGRES))) == {}
    assert without_stance(text) == text


def test_people_read_the_text_without_the_stance() -> None:
    assert without_stance("**Use Kafka.**\n\nIt scales.\n\nStance: o1 70 %, o2 30 %\n") == (
        "**Use Kafka.**\n\nIt scales."
    )


def test_the_same_answer_in_nearly_the_same_words_is_one_option() -> None:
    items, stances = merge_by_rules(
        {"ann": "Use PostgreSQL.", "bob": "We should stay with PostgreSQL", "cid": "Use Kafka."}
    )
    assert [item.name for item in items] == ["Use PostgreSQL", "Use Kafka"]
    assert stances == {"ann": "o1", "bob": "o1", "cid": "o2"}


def test_opposites_in_like_words_are_two_options() -> None:
    items, stances = merge_by_rules(
        {
            "ann": "Move the office to a 4-day week.",
            "bob": "Do not move the office to a 4-day week.",
        }
    )
    assert len(items) == 2
    assert stances == {"ann": "o1", "bob": "o2"}


def test_no_more_options_than_can_be_weighed() -> None:
    answers = {f"a{number}": f"Take product{number}x" for number in range(9)}
    items, stances = merge_by_rules(answers)
    assert len(items) == MOST_OPTIONS
    assert len(stances) == MOST_OPTIONS


def test_a_name_is_one_short_line() -> None:
    assert short_name("**Use `Kafka`.**\n") == "Use Kafka"
    long = short_name("word " * 50)
    assert len(long) <= 80
    assert long.endswith("…")


@given(st.text())
def test_any_text_has_a_stance_or_none(text: str) -> None:
    stance = read_stance(text, OptionList(items=(KAFKA, POSTGRES)))
    assert not stance or sum(stance.values()) == pytest.approx(1.0)
    assert len(without_stance(text)) <= len(text)
