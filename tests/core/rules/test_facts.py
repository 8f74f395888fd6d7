"""The fact ledger: what people demand, and which texts still hold it."""

import pytest

from core.events import DebateStarted, NoteAdded, fold
from core.models import Note, Person
from core.rules import facts
from core.rules.facts import Fact, FactKind
from core.testing import a_setup, recorded


def ledger_of(question: str, *notes: str) -> list[tuple[str, str, str]]:
    people = [
        NoteAdded(note=Note(id=str(number), author=Person(id="U1"), text=text))
        for number, text in enumerate(notes)
    ]
    debate = fold(recorded([DebateStarted(setup=a_setup(question)), *people]))
    return [(fact.kind.value, fact.text, fact.source) for fact in facts.ledger(debate)]


def test_requirements_and_figures_are_kept_with_their_source() -> None:
    assert ledger_of("Kafka or not? It must take 2,000 jobs/s.", "At most 500 EUR.") == [
        ("requirement", "It must take 2,000 jobs/s.", "question"),
        ("figure", "2,000 jobs", "question"),
        ("requirement", "At most 500 EUR.", "note 1"),
        ("figure", "500 EUR", "note 1"),
    ]


def test_a_question_that_only_asks_demands_nothing() -> None:
    assert ledger_of("Should we use Kafka? Sollen wir wechseln?") == []


def test_a_question_can_demand() -> None:
    assert ledger_of("Which queue must never lose a job?") == [
        ("requirement", "Which queue must never lose a job?", "question")
    ]


def test_the_same_fact_is_kept_once() -> None:
    assert len(ledger_of("It must last 3 years.", "It must last 3 years.")) == 2


@pytest.mark.parametrize(
    ("fact", "text", "held"),
    [
        ("2,000 jobs", "It takes 2000 jobs.", True),
        ("2.000 Jobs", "2,000 are fine", True),
        ("2,000 jobs", "It takes 200 jobs.", False),
        ("2.5 seconds", "within 2.5 s", True),
        ("2.5 seconds", "within 25 s", False),
    ],
)
def test_a_figure_is_held_whatever_its_separators(fact: str, text: str, held: bool) -> None:  # noqa: FBT001
    assert facts.holds(text, Fact(FactKind.FIGURE, fact, "question")) is held


def test_a_requirement_is_held_by_most_of_its_words() -> None:
    demand = Fact(FactKind.REQUIREMENT, "Every job must survive a restart.", "question")

    assert facts.holds("Each job can survive any restart.", demand)
    assert not facts.holds("Jobs are fast.", demand)


def test_facts_that_a_text_does_not_hold_are_lost() -> None:
    known = [Fact(FactKind.FIGURE, figure, "question") for figure in ("10 users", "20 users")]

    assert facts.lost(known, "10") == [known[1]]
    assert facts.lost([], "") == []


@pytest.mark.parametrize(
    ("sentence", "is_major"),
    [
        ("A backup is required.", True),
        ("It needs to run on two machines.", True),
        ("Uptime is critical.", True),
        ("Ein Backup ist erforderlich.", True),
        ("Es sollte leise sein.", False),
        ("It should be quiet.", False),
        ("Ideally it is quiet.", False),
        ("It should be quiet and must be cheap.", True),
    ],
)
def test_requirements_beyond_must_are_major_or_minor(
    sentence: str,
    is_major: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    debate = fold(recorded([DebateStarted(setup=a_setup(sentence))]))
    demands = [fact for fact in facts.ledger(debate) if fact.kind is FactKind.REQUIREMENT]

    assert [(fact.text, fact.is_major) for fact in demands] == [(sentence, is_major)]


def test_a_question_whether_something_is_required_demands_nothing() -> None:
    assert ledger_of("Is a licence required? Is speed critical?") == []


def test_a_figure_is_not_named_beside_the_requirement_that_holds_it() -> None:
    texts = ("It must take 500 jobs per second.", "500 jobs", "3 years")
    known = [Fact(FactKind.FIGURE, text, "question") for text in texts]

    assert [fact.text for fact in facts.each_once(known)] == [texts[0], texts[2]]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("About 200 a month and 16 with it.", ["200 a month", "16"]),
        ("It costs $300 per user, for 5 of 7 teams.", ["300 per user", "5", "7 teams"]),
        ("We have 50 GB, 99.9 % up.", ["50 GB", "99.9 %"]),
        ("Wir haben 3 Tage und 4 mit Pause.", ["3 Tage", "4"]),
    ],
)
def test_a_figure_ends_where_its_unit_does(text: str, figures: list[str]) -> None:
    assert [fact for kind, fact, _ in ledger_of(text) if kind == "figure"] == figures


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "We have 900 jobs a second at noon and expect 3,000 in a year.",
            ["We have 900 jobs a second at noon", "expect 3,000 in a year"],
        ),
        ("We run PostgreSQL 16 already; nobody has run Kafka.", ["We run PostgreSQL 16 already"]),
        ("It grows from between 5 and 10 servers.", ["It grows from between 5 and 10 servers"] * 2),
        ("16", ["16"]),
        (
            f"{'long ' * 30}about 77 things {'words ' * 30}",
            [f"… {'long ' * 9}about 77 things {'words ' * 9}…"],
        ),
    ],
)
def test_a_figure_is_told_with_the_words_it_belongs_to(text: str, told: list[str]) -> None:
    debate = fold(recorded([DebateStarted(setup=a_setup(f"Kafka or not? {text}"))]))

    assert [fact.told for fact in facts.ledger(debate)] == told


def test_figures_of_the_same_words_are_told_once() -> None:
    debate = fold(
        recorded([DebateStarted(setup=a_setup("Kafka or not? It grows from 5 to 10 in a year."))])
    )

    assert [fact.told for fact in facts.each_once(facts.ledger(debate))] == [
        "It grows from 5 to 10 in a year"
    ]


def test_a_long_clause_is_cut_around_each_of_its_figures() -> None:
    text = " ".join(f"server {at}" for at in range(300)) + "."
    debate = fold(recorded([DebateStarted(setup=a_setup(text))]))
    told = [fact.told for fact in facts.ledger(debate)]

    assert told[200].startswith("… ")
    assert told[200].endswith(" …")
    assert " 200 " in told[200]
    assert max(len(words) for words in told) < 140


def test_the_facts_of_a_debate_are_looked_for_once() -> None:
    debate = fold(recorded([DebateStarted(setup=a_setup("It must take 500 jobs."))]))

    assert facts.ledger(debate) is facts.ledger(debate)
