"""Options: edits by people, probabilities, stances in texts, merging by rules."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debate.contributions import Contribution
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, fold
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import ContributionMade, OptionsMerged
from core.debate.vote import Option, OptionChange, OptionEdit, Options, QuestionKind
from core.rules.options import (
    MOST_OPTIONS,
    NAME_MAX_CHARS,
    OptionList,
    after_edits,
    as_shares,
    by_option,
    held_by,
    merge_by_rules,
    options_of,
    read_stance,
    short_name,
    short_names,
    without_stance,
)
from core.testing import a_setup, log_of

KAFKA, POSTGRES, BOTH = (
    Option(id="o1", name="Kafka"),
    Option(id="o2", name="PostgreSQL"),
    Option(id="o3", name="both"),
)
DANA = Person(id="U1", name="Dana")


def an_edit(change: OptionChange, option: str = "", name: str = "", into: str = "") -> OptionEdit:
    return OptionEdit(change=change, option=option, name=name, into=into, by=DANA, origin="e")


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
        an_edit(OptionChange.RENAME, "o9", "nothing"),
        an_edit(OptionChange.MERGE, "o1", into="o1"),
        an_edit(OptionChange.MERGE, "o1", into="o9"),
        an_edit(OptionChange.MERGE, "o9", into="o1"),
    ],
)
def test_an_edit_that_fits_nothing_changes_nothing(edit: OptionEdit) -> None:
    assert after_edits([KAFKA, POSTGRES], [edit]) == OptionList(items=(KAFKA, POSTGRES))


def test_probabilities_of_merged_options_are_added() -> None:
    edits = [an_edit(OptionChange.MERGE, "o3", into="o1")]
    options = after_edits([KAFKA, POSTGRES, BOTH], edits)
    assert options.probabilities({"o1": 0.2, "o2": 0.5, "o3": 0.3}) == {"o1": 0.5, "o2": 0.5}


@pytest.mark.parametrize(
    ("line", "stance"),
    [
        ("Stance: o1 70 %, o2 30 %", {"o1": 0.7, "o2": 0.3}),
        ("**Stance:** o1: 70%, o2: 30%", {"o1": 0.7, "o2": 0.3}),
        ("> stance: O1 = 0.7; O2 = 0.3", {"o1": 0.7, "o2": 0.3}),
        ("Stance: o2", {}),
        ("Stance: o1 (80 %)", {"o1": 0.8}),
        ("Stance: o1 60 %, o9 40 %", {"o1": 0.6}),
        ("Stance: o9 100 %", {}),
        ("Stance: undecided", {}),
        ("My stance is o1 70 %", {}),
    ],
)
def test_a_stance_is_read_from_the_end_of_a_text(line: str, stance: dict[str, float]) -> None:
    text = f"**Use Kafka.**\n\nIt scales.\n\n{line}"
    read = read_stance(text, OptionList(items=(KAFKA, POSTGRES)))
    assert (dict(read.known), read.new) == (pytest.approx(stance), {})


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


@pytest.mark.parametrize(
    "ends",
    [
        ("Kafka", "PostgreSQL"),
        ("Kafka in one zone", "Kafka in two zones", "PostgreSQL"),
        # Two of three differ only long after the third does.
        ("on Kafka", f"on PostgreSQL {'as it is ' * 20}now", f"on PostgreSQL {'as it is ' * 20}"),
        # The difference stands in a word that is too long for a name.
        (f"{'x' * 90}a", f"{'x' * 90}b"),
    ],
)
def test_names_of_answers_that_begin_alike_differ(ends: Sequence[str]) -> None:
    answers = [f"Keep {'every job of the payment service ' * 4}{end}" for end in ends]

    names = short_names(answers)

    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= NAME_MAX_CHARS
    assert short_names([answers[0], *answers]) == [names[0], *names], "one answer has one name"


def test_a_name_is_one_short_line() -> None:
    assert short_name("**Use `Kafka`.**\n") == "Use Kafka"
    long = short_name("word " * 50)
    assert len(long) <= 80
    assert long.endswith("…")


@given(st.text())
def test_any_text_has_a_stance_or_none(text: str) -> None:
    stance = read_stance(text, OptionList(items=(KAFKA, POSTGRES)))
    shares = [*stance.known.values(), *stance.new.values()]
    assert not shares or any(shares)
    assert len(without_stance(text)) <= len(text)


def test_an_option_that_nobody_named_yet_is_named_in_a_stance() -> None:
    options = OptionList(items=(KAFKA, POSTGRES))
    line = 'Stance: o1 20 %, "keep both until June" 50 %, "postgresql" 30 %'
    stance = read_stance(f"**Both.**\n\n{line}", options)

    assert dict(stance.known) == pytest.approx({"o1": 0.2, "o2": 0.3})
    assert dict(stance.new) == pytest.approx({"keep both until June": 0.5})


def a_stance(agent: str, number: int, **shares: float) -> ContributionMade:
    stance = {option: share for option, share in shares.items() if option[0] == "o"}
    new = {name.replace("_", " "): share for name, share in shares.items() if name[0] != "o"}
    turn = Turn(act=Act.REFINEMENT, round=number, agent=agent)
    contribution = Contribution(turn=turn, text="**So.**", stance=stance, new_options=new)
    return ContributionMade(contribution=contribution)


def a_debate(*events: Event) -> Debate:
    merged = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=(KAFKA, POSTGRES),
        stances={"architect": "o1", "security": "o2", "simplicity": "o2"},
    )
    started = DebateStarted(setup=a_setup())
    return fold(log_of([started, OptionsMerged(options=merged), *events]))


def test_two_agents_who_name_the_same_new_option_name_one() -> None:
    debate = a_debate(
        a_stance("architect", 1, keep_both=0.8, o1=0.2),
        a_stance("security", 1, keep_both=1.0),
    )
    assert [(item.id, item.name) for item in options_of(debate).items][2:] == [("n1", "keep both")]
    assert by_option(debate)["n1"] == ["architect", "security"]
    assert held_by(debate, "architect") == {"o1": 0.2, "n1": 0.8}


@pytest.mark.parametrize(
    ("numbers", "shares"),
    [
        ((60, 40), (0.6, 0.4)),
        ((60, 20), (0.6, 0.2)),
        ((0.6, 0.4), (0.6, 0.4)),
        ((1, 0), (1, 0)),
        ((70, 60), (0.7, 0.6)),
    ],
)
def test_percentages_and_shares_stay_as_they_were_given(
    numbers: tuple[float, float], shares: tuple[float, float]
) -> None:
    assert tuple(as_shares(dict(zip("ab", numbers, strict=True))).values()) == shares
