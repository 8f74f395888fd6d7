"""Options: edits by people, probabilities, stances in texts, merging by rules."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debate.log import Event
from core.debate.people import Person
from core.debate.turn_events import ContributionMade
from core.debate.vote import Option, OptionChange, OptionEdit
from core.rules.options import (
    MOST_OPTIONS,
    NAME_MAX_CHARS,
    OptionList,
    after_edits,
    current_stance,
    merge_by_rules,
    options_of,
    read_stance,
    short_names,
    supporters,
    without_stance,
)
from tests.core.rules.formats.debates import a_format_setup, debate_with, options, wording

KAFKA, POSTGRES, BOTH = (
    Option(id="o1", name="Kafka"),
    Option(id="o2", name="PostgreSQL"),
    Option(id="o3", name="both"),
)
TWO = OptionList(items=(KAFKA, POSTGRES))


def an_edit(change: OptionChange, option: str = "", name: str = "", into: str = "") -> OptionEdit:
    by = Person(id="U1", name="Dana")
    return OptionEdit(change=change, option=option, name=name, into=into, by=by, origin="e")


def test_an_option_merged_twice_resolves_to_the_last_one() -> None:
    first = an_edit(OptionChange.MERGE, "o1", into="o2")
    second = an_edit(OptionChange.MERGE, "o2", into="o3")
    once, twice = (after_edits([KAFKA, POSTGRES, BOTH], e) for e in ([first], [first, second]))

    assert [twice.resolve(option) for option in ("o1", "o2", "o3")] == ["o3", "o3", "o3"]
    assert once.probabilities({"o1": 0.2, "o2": 0.5, "o3": 0.3}) == {"o2": 0.7, "o3": 0.3}


@pytest.mark.parametrize(
    "edit",
    [
        an_edit(OptionChange.RENAME, "o9", "nothing"),
        an_edit(OptionChange.MERGE, "o1", into="o1"),
        an_edit(OptionChange.MERGE, "o1", into="o9"),
        an_edit(OptionChange.MERGE, "o9", into="o1"),
    ],
)
def test_an_edit_of_an_unknown_option_is_ignored(edit: OptionEdit) -> None:
    assert after_edits([KAFKA, POSTGRES], [edit]) == TWO


@pytest.mark.parametrize(
    ("line", "known", "new"),
    [
        ("Stance: o1 70 %, o2 30 %", {"o1": 0.7, "o2": 0.3}, {}),
        ("**Stance:** o1: 70%, o2: 30%", {"o1": 0.7, "o2": 0.3}, {}),
        ("> stance: O1 = 0.7; O2 = 0.3", {"o1": 0.7, "o2": 0.3}, {}),
        ("Stance: o1 (80 %)", {"o1": 0.8}, {}),
        ("Stance: o1 60 %, o9 40 %", {"o1": 0.6}, {}),
        ("Stance: o9 100 %", {}, {}),
        ("Stance: undecided", {}, {}),
        ("My stance is o1 70 %", {}, {}),
        # A name in quotation marks is a new option, or the name of an existing one.
        (
            'Stance: o1 20 %, "keep both until June" 50 %, "postgresql" 30 %',
            {"o1": 0.2, "o2": 0.3},
            {"keep both until June": 0.5},
        ),
    ],
)
def test_a_stance_is_read_from_the_end_of_a_text(
    line: str, known: dict[str, float], new: dict[str, float]
) -> None:
    read = read_stance(f"**Use Kafka.**\n\nIt scales.\n\n{line}", TWO)
    assert dict(read.known) == pytest.approx(known)
    assert dict(read.new) == pytest.approx(new)


@given(st.text())
def test_a_stance_of_any_text_has_a_positive_share_or_is_empty(text: str) -> None:
    stance = read_stance(text, TWO)
    shares = [*stance.known.values(), *stance.new.values()]
    assert not shares or any(shares)
    assert len(without_stance(text)) <= len(text)


def test_opposite_answers_in_similar_words_are_two_options() -> None:
    ann, bob = "Move the office to a 4-day week.", "Do not move the office to a 4-day week."
    items, stances = merge_by_rules({"ann": ann, "bob": bob, "cid": f"**{ann}**"})
    assert len(items) == 2
    assert stances == {"ann": "o1", "bob": "o2", "cid": "o1"}


def test_there_are_at_most_six_options() -> None:
    answers = {f"a{number}": f"Take product{number}x" for number in range(9)}
    items, stances = merge_by_rules(answers)
    assert len(items) == len(stances) == MOST_OPTIONS


@pytest.mark.parametrize(
    "ends", [("Kafka", "PostgreSQL"), ("Kafka in one zone", "Kafka in two zones", "PostgreSQL")]
)
def test_answers_with_the_same_beginning_get_different_names(ends: Sequence[str]) -> None:
    answers = [f"Keep {'every job of the payment service ' * 4}{end}" for end in ends]
    names = short_names(answers)

    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= NAME_MAX_CHARS
    assert short_names([answers[0], *answers]) == [names[0], *names], "one answer has one name"


def test_two_agents_who_name_the_same_new_option_name_one() -> None:
    def stating(agent: str, new: dict[str, float], **shares: float) -> Event:
        event = wording(f"r1/refinement/{agent}", "**So.**", shares)
        assert isinstance(event, ContributionMade)
        contribution = event.contribution.model_copy(update={"new_options": new})
        return ContributionMade(contribution=contribution)

    debate = debate_with(
        a_format_setup("critique"),
        options("Kafka", "PostgreSQL"),
        stating("architect", {"keep both": 0.8}, o1=0.2),
        stating("security", {"keep both": 1.0}),
    )
    assert [(item.id, item.name) for item in options_of(debate).items][2:] == [("n1", "keep both")]
    assert supporters(debate)["n1"] == ["architect", "security"]
    assert current_stance(debate, "architect") == {"o1": 0.2, "n1": 0.8}
