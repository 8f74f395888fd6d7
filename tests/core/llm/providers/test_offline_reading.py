"""What the offline engine reads out of questions: options, requirements, what people said."""

import re

import pytest
from core.llm.providers.offline_engine.options import options_in
from core.llm.providers.offline_engine.question import read_question
from core.llm.providers.offline_engine.requirements import Level, requirements_in
from core.llm.providers.offline_engine.weighing import fate_of


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
            "Should we store customer data in MongoDB or PostgreSQL? It must be deletable.",
            ["Store customer data in MongoDB", "Store customer data in PostgreSQL"],
        ),
        (
            "Should we use Slack or email for announcements?",
            ["Use Slack for announcements", "Use email for announcements"],
        ),
        (
            "Should we use Kafka for events or PostgreSQL?",
            ["Use Kafka for events", "Use PostgreSQL for events"],
        ),
        ("Should we deploy to AWS or Azure?", ["Deploy to AWS", "Deploy to Azure"]),
        (
            "Should we write it in Go, Rust or Python?",
            ["Write it in Go", "Write it in Rust", "Write it in Python"],
        ),
        ("Should we host on AWS or on Hetzner?", ["Host on AWS", "Host on Hetzner"]),
        (
            "Should we rename Moot to Quorum or Dialectic?",
            ["Rename Moot to Quorum", "Rename Moot to Dialectic"],
        ),
        ("Should we pay monthly or yearly?", ["Pay monthly", "Pay yearly"]),
        (
            "Should we hire a designer or a developer?",
            ["Hire a designer", "Hire a developer"],
        ),
        (
            "Should we adopt Kubernetes, Nomad, or Docker Swarm?",
            ["Adopt Kubernetes", "Adopt Nomad", "Adopt Docker Swarm"],
        ),
        ("Vue vs. React vs. Svelte?", ["Choose Vue", "Choose React", "Choose Svelte"]),
        ("Kubernetes or stay on Heroku?", ["Choose Kubernetes", "Stay on Heroku"]),
        (
            "Should we switch from Jenkins to GitHub Actions or wait?",
            ["Switch from Jenkins to GitHub Actions", "Wait"],
        ),
        (
            "Should we split our monolith into microservices or keep it?",
            ["Split our monolith into microservices", "Keep our monolith"],
        ),
        (
            "Should we move from AWS to Hetzner or stay?",
            ["Move from AWS to Hetzner", "Stay with AWS"],
        ),
        ("Should we buy a CRM or build one?", ["Buy a CRM", "Build a CRM"]),
        (
            "Should we buy a laptop for Anna or Ben?",
            ["Buy a laptop for Anna", "Buy a laptop for Ben"],
        ),
        ("Where should we host, on AWS or on Azure?", ["Choose AWS", "Choose Azure"]),
        ("Who should lead the project, Anna or Ben?", ["Choose Anna", "Choose Ben"]),
        (
            "For our backend: Go or Rust?",
            ["Choose Go for our backend", "Choose Rust for our backend"],
        ),
        ("Should our API be public?", ["Our API should be public", "Our API should not be public"]),
        (
            "Should the office be in Berlin or Munich?",
            ["The office should be in Berlin", "The office should be in Munich"],
        ),
        ("Should we meet in person or online?", ["Meet in person", "Meet online"]),
        (
            "Should we release the update now or next month?",
            ["Release the update now", "Release the update next month"],
        ),
        (
            "Should we work from home or in the office?",
            ["Work from home", "Work in the office"],
        ),
        (
            "Should we raise prices by 5 % or 10 %?",
            ["Raise prices by 5 %", "Raise prices by 10 %"],
        ),
        ("Monthly or yearly billing?", ["Choose monthly billing", "Choose yearly billing"]),
        (
            "If traffic doubles, should we scale up the database or add a cache?",
            ["Scale up the database", "Add a cache"],
        ),
        ("Should we charge per seat or per usage?", ["Charge per seat", "Charge per usage"]),
        (
            "Should we open source our SDK or keep it private?",
            ["Open source our SDK", "Keep our SDK private"],
        ),
        (
            "Should we merge the two repositories into one or keep them separate?",
            ["Merge the two repositories into one", "Keep the two repositories separate"],
        ),
        (
            "Should we launch the beta in March with fewer features or in June with all of them?",
            [
                "Launch the beta in March with fewer features",
                "Launch the beta in June with all of them",
            ],
        ),
        (
            "Should we let customers pay by card, by invoice or both?",
            [
                "Let customers pay by card",
                "Let customers pay by invoice",
                "Let customers pay by both",
            ],
        ),
        (
            "Should we introduce code review for every change or not?",
            [
                "Introduce code review for every change",
                "Do not introduce code review for every change",
            ],
        ),
        (
            "Sollen wir unsere Daten in MongoDB oder PostgreSQL speichern?",
            ["Choose MongoDB", "Choose PostgreSQL"],
        ),
        (
            "Sollen wir Kubernetes einführen oder bei Docker Compose bleiben?",
            ["Choose Kubernetes", "Stay with Docker Compose"],
        ),
        (
            "Sollen wir von Jenkins zu GitLab wechseln oder bei Jenkins bleiben?",
            ["Move from Jenkins to GitLab", "Stay with Jenkins"],
        ),
        (
            "Sollen wir unsere Jobs mit Kafka oder PostgreSQL verarbeiten?",
            ["Choose Kafka", "Choose PostgreSQL"],
        ),
        (
            "Sollten wir unsere Job-Queue mit Redis oder mit PostgreSQL neu bauen?",
            ["Choose Redis", "Choose PostgreSQL"],
        ),
        (
            "Wollen wir Kunden per Mail, Chat oder Telefon betreuen?",
            ["Choose Mail", "Choose Chat", "Choose Telefon"],
        ),
        (
            "Sollen wir bei AWS bleiben oder zu Azure wechseln?",
            ["Stay with AWS", "Choose Azure"],
        ),
        (
            "Sollen wir das Büro mieten oder kaufen?",
            ["Choose das Büro mieten", "Choose das Büro kaufen"],
        ),
        ("リモートワークと出社のどちらがよいですか?", ["Choose リモートワーク", "Choose 出社"]),
        ("KafkaかPostgreSQLか?", ["Choose Kafka", "Choose PostgreSQL"]),
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


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Should we store customer data in MongoDB or PostgreSQL?", ["MongoDB", "PostgreSQL"]),
        ("Should we pay monthly or yearly?", ["paying monthly", "paying yearly"]),
        ("Should we charge per seat or per usage?", ["charging per seat", "charging per usage"]),
        ("Should we plan in sprints or ship weekly?", ["planning in sprints", "shipping weekly"]),
        (
            "Should we split our monolith into microservices or keep it?",
            ["splitting our monolith into microservices", "keeping our monolith"],
        ),
    ],
)
def test_options_have_names_that_fit_into_a_sentence(question: str, names: list[str]) -> None:
    assert [option.name for option in options_in(question)] == names


def test_an_act_stands_for_what_it_leads_to_and_not_for_what_it_ends() -> None:
    split, keep = options_in("Should we split our monolith into microservices or keep it?")

    assert (split.things, keep.things) == (("microservices",), ("monolith", "keep"))


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
        ("At most 5 minutes' downtime is allowed.", "availability", None, Level.FIGURE),
        ("There must be no downtime.", "availability", None, Level.MUST),
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


def test_a_must_holds_for_what_goes_on_without_a_subject() -> None:
    found = requirements_in("It must support SSO, cost at most 20,000 EUR and be live in 3 months.")

    assert [(one.kind, one.level) for one in found] == [
        ("other", Level.MUST),
        ("money", Level.MUST),
        ("time", Level.MUST),
    ]


def test_people_are_no_rate() -> None:
    (found,) = requirements_in("Three developers build it.")

    assert (found.kind, found.amount) == ("people", 3)


def test_what_the_question_says_about_an_option_counts() -> None:
    reading = read_question("Write it in Go or Python? Invoices are due, and four know Python.")

    assert [(r.option.name, r.sign, r.text) for r in reading.remarks] == [
        ("Python", 1, "four know Python")
    ]


LISTED = (
    ("Which of Go, Rust and Zig should we use for our CLI tool?", ["Go", "Rust", "Zig"]),
    ("Which of Kafka or PostgreSQL should we use as our job queue?", ["Kafka", "PostgreSQL"]),
    ("Which should we use: Go, Rust or Zig?", ["Go", "Rust", "Zig"]),
    ("Which one should we use for our CLI, Go, Rust or Zig?", ["Go", "Rust", "Zig"]),
    ("Go, Rust and Zig: which should we use?", ["Go", "Rust", "Zig"]),
    ("Go or Rust - which is better?", ["Go", "Rust"]),
    ("Choose between A, B and C", ["A", "B", "C"]),
    ("Choose between A, B, and C.", ["A", "B", "C"]),
    ("Pick one: Go, Rust, Zig", ["Go", "Rust", "Zig"]),
    ("Compare Go, Rust and Zig for our CLI", ["Go", "Rust", "Zig"]),
    ("Is Kafka or RabbitMQ better for our job queue?", ["Kafka", "RabbitMQ"]),
    ("What is better for us, tabs or spaces?", ["tabs", "spaces"]),
    ("Ist Kubernetes oder Nomad besser für uns?", ["Kubernetes", "Nomad"]),
    ("Was ist besser für uns: Kubernetes oder Nomad?", ["Kubernetes", "Nomad"]),
    ("Kubernetes oder Nomad: was ist besser für uns?", ["Kubernetes", "Nomad"]),
    ("Sollen wir Kubernetes oder Nomad besser für uns einsetzen?", ["Kubernetes", "Nomad"]),
    ("Sollen wir lieber Kafka oder RabbitMQ für Jobs verwenden?", ["Kafka", "RabbitMQ"]),
    ("Nehmen wir Go oder Rust?", ["Go", "Rust"]),
    ("Welche von Go, Rust und Zig sollen wir nehmen?", ["Go", "Rust", "Zig"]),
    (
        "Sollen wir unsere Datenbank von MySQL auf PostgreSQL umstellen?",
        ["PostgreSQL", "MySQL"],
    ),
    ("Should we use <b>bold</b> or <i>italics</i>?", ["bold", "italics"]),
)


@pytest.mark.parametrize(("question", "names"), LISTED)
def test_listed_names_are_options_without_the_words_around_them(
    question: str, names: list[str]
) -> None:
    options = options_in(question)

    assert [option.name for option in options] == names
    for option in options:
        said = f"{option.name} {option.say}"
        assert not re.search(r"\b(?:should|which|besser|lieber|sollen|umstellen)\b|[<>]", said)


@pytest.mark.parametrize("names", [("Ada", "Elm"), ("Ada", "Elm", "Idris"), ("X1", "Y2", "Z3")])
@pytest.mark.parametrize(
    "form",
    [
        "Which of {all_and} should we take?",
        "Which of {all_and} is best for our compiler?",
        "Which should we take: {all_or}?",
        "What is better, {all_or}?",
        "Is {all_or} better?",
        "Choose between {all_and}",
        "{all_or}: which is best?",
        "{all_or}?",
        "Should we use {all_or}?",
        "Was ist besser: {all_oder}?",
        "Sollen wir {all_oder} nehmen?",
    ],
)
def test_any_names_are_found_in_any_of_these_forms(form: str, names: tuple[str, ...]) -> None:
    joined = {
        f"all_{word}": f"{', '.join(names[:-1])} {word} {names[-1]}"
        for word in ("and", "or", "oder")
    }

    assert [option.name for option in options_in(form.format(**joined))] == list(names)


def test_what_a_word_only_begins_with_is_no_topic() -> None:
    assert read_question("Is abortion wrong?").topics == ()


def test_a_question_of_the_present_state_may_be_answered_with_it() -> None:
    says = {option.say for option in options_in("What do we do about our current office plants?")}

    assert "Stay with what we have" in says


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("We are 6 people.", "We are 6 people"),
        ("There are 6 people in the team.", "There are 6 people in the team"),
        ("But it must be up 99.9% of the time.", "must be up 99.9% of the time"),
    ],
)
def test_a_requirement_is_quoted_as_words_that_can_stand_alone(text: str, said: str) -> None:
    (found,) = requirements_in(text)

    assert found.text == said


@pytest.mark.parametrize(
    ("question", "outcomes"),
    [
        ("Keep our billing job or rewrite it? Invoices must never be sent twice.", {"unknown"}),
        ("Two native apps or React Native? It must not slow releases.", {"unknown"}),
        ("Migrate the shop or keep it? At most 5 minutes of downtime.", {"unknown"}),
        ("Keep our billing job or rewrite it? We are 6 people.", {"unknown"}),
        ("Kafka or PostgreSQL? It must handle 2,000 jobs per second.", {"fits"}),
    ],
)
def test_nothing_is_claimed_of_a_requirement_that_nothing_speaks_about(
    question: str, outcomes: set[str]
) -> None:
    reading = read_question(question)

    (demand,) = reading.requirements
    assert {fate_of(option, demand).outcome for option in reading.options} == outcomes
