"""What the offline engine reads out of questions: options, requirements, what people said."""

import pytest

from core.providers.offline_engine.options import options_in
from core.providers.offline_engine.question import read_question
from core.providers.offline_engine.requirements import Level, requirements_in


@pytest.mark.parametrize(
    ("question", "decisions"),
    [
        (
            "Should we use Kafka or PostgreSQL as our job queue?",
            ["Use Kafka as our job queue", "Use PostgreSQL as our job queue"],
        ),
        (
            "Move our monolith to microservices or keep it?",
            ["Move our monolith to microservices", "Keep our monolith"],
        ),
        (
            "Which identity provider: Auth0, Keycloak or our own?",
            [
                "Choose Auth0 as identity provider",
                "Choose Keycloak as identity provider",
                "Build our own identity provider",
            ],
        ),
        (
            "Should we hire a second designer this year?",
            ["Hire a second designer this year", "Do not hire a second designer this year"],
        ),
        ("Should we build or buy a CRM?", ["Build a CRM", "Buy a CRM"]),
        ("Replace Datadog with Prometheus?", ["Replace Datadog with Prometheus", "Keep Datadog"]),
        ("REST vs GraphQL?", ["Choose REST", "Choose GraphQL"]),
        ("How do we choose between Vue and React?", ["Choose Vue", "Choose React"]),
        (
            "Should our mobile app be native or Flutter?",
            ["Our mobile app should be native", "Our mobile app should be Flutter"],
        ),
        (
            "Should we rewrite our app in Rust or Go, or keep it?",
            ["Rewrite our app in Rust", "Rewrite our app in Go", "Keep our app"],
        ),
        (
            "Is a hot dog a sandwich?",
            ["Yes, a hot dog is a sandwich", "No, a hot dog is not a sandwich"],
        ),
        ("Can we launch in May?", ["Yes, we can launch in May", "No, we cannot launch in May"]),
        (
            "Sollen wir von Jenkins zu GitHub Actions wechseln?",
            ["Move from Jenkins to GitHub Actions", "Stay with Jenkins"],
        ),
        ("Sollen wir PostgreSQL oder MySQL nehmen?", ["Choose PostgreSQL", "Choose MySQL"]),
        (
            "社内ツールをReactからVueに移行すべきか?",
            ["Move from React to Vue (社内ツール)", "Stay with React (社内ツール)"],
        ),
        (
            "PostgreSQLとMySQLのどちらを使うべきか?",
            ["Choose PostgreSQL", "Choose MySQL"],
        ),
        (
            "Which option do we choose?\n- hire a freelancer\n- wait until next year",
            ["Hire a freelancer", "Wait until next year"],
        ),
    ],
)
def test_options_are_found_in_the_order_of_the_question(
    question: str, decisions: list[str]
) -> None:
    assert [option.say for option in options_in(question)] == decisions


def test_a_question_without_options_gets_approaches_from_its_topic() -> None:
    found = {key for option in options_in("Which queue for our jobs?") for key in option.things}

    assert found == {"postgresql", "rabbitmq", "managed"}


def test_react_native_is_not_react() -> None:
    native, web = options_in("React Native or React?")

    assert (native.things, web.things) == (("react_native",), ("react",))


@pytest.mark.parametrize(
    ("text", "kind", "amount", "level"),
    [
        ("It must handle 2,000 jobs per second.", "rate", 2000, Level.MUST),
        ("It must handle 120k jobs per minute.", "rate", 2000, Level.MUST),
        ("Two people run it.", "people", 2, Level.FIGURE),
        ("Budget is 90k EUR.", "money", 90_000, Level.FIGURE),
        ("We can spend €1.500 on it.", "money", 1500, Level.FIGURE),
        ("Answers should arrive within 200 ms.", "latency", 200, Level.SHOULD),
        ("It must be up 99.9% of the time.", "availability", 99.9, Level.MUST),
        ("It has to be ready by March.", "time", None, Level.MUST),
        ("Es muss DSGVO-konform sein.", "law", None, Level.MUST),
        ("We must reduce our bill by 30%.", "money", None, Level.MUST),
        ("It must be easy to understand.", "simple", None, Level.MUST),
    ],
)
def test_requirements_have_kind_figure_and_level(
    text: str, kind: str, amount: float | None, level: Level
) -> None:
    (found,) = requirements_in(text)

    assert (found.kind, found.amount, found.level) == (kind, amount, level)


def test_a_sentence_with_two_demands_gives_two_requirements() -> None:
    found = requirements_in("It must handle 2,000 jobs per second and two people run it.")

    assert [requirement.kind for requirement in found] == ["rate", "people"]


def test_should_we_is_a_question_and_no_requirement() -> None:
    assert requirements_in("Should we move to our own hardware?") == ()


def test_a_remark_counts_for_the_option_it_names_and_says_who_made_it() -> None:
    reading = read_question(
        "Kafka or PostgreSQL?",
        notes="n1 (Dana): We already run Kafka.\nn2 (Eli): Nobody here knows PostgreSQL.",
    )

    assert [(r.option.name, r.sign, r.source) for r in reading.remarks] == [
        ("Kafka", 1, "Dana"),
        ("PostgreSQL", -1, "Eli"),
    ]


def test_an_unanswered_clarification_states_nothing() -> None:
    reading = read_question(
        "Kafka or PostgreSQL?",
        clarifications="How many people run it?\nAnswer: NA\nAssumption: two people run it",
    )

    assert reading.requirements == ()


def test_an_answered_clarification_becomes_a_requirement() -> None:
    reading = read_question(
        "Kafka or PostgreSQL?", clarifications="How many people run it?\nAnswer: three people"
    )

    assert [(r.kind, r.amount) for r in reading.requirements] == [("people", 3)]
