"""What the report says of the facts people gave: who still holds them at the end."""

from core.events import ContributionMade, DebateStarted, Event, VerdictReached, fold
from core.models import Act, Contribution, Turn, Verdict, VerdictSource
from core.testing import a_setup, recorded
from core.transcript.report import report


def said(agent: str, text: str) -> Event:
    turn = Turn(act=Act.PROPOSAL, round=1, agent=agent)
    return ContributionMade(contribution=Contribution(turn=turn, text=text))


def report_of(question: str, *events: Event) -> str:
    setup = a_setup(question, agents=("architect", "security"))
    return report(fold(recorded([DebateStarted(setup=setup), *events])))


def test_a_fact_is_followed_into_positions_and_verdict() -> None:
    decision = Verdict(
        decision="Kafka, for 2,000 jobs.", source=VerdictSource.JUDGE, confidence=70, solution=""
    )
    text = report_of(
        "Kafka or not? We have 2000 jobs and 3 people.",
        said("architect", "Kafka takes 2,000 jobs."),
        said("security", "SQS needs no 3 people."),
        VerdictReached(verdict=decision),
    )

    assert "## Facts people gave\n\n1 of 2 hold in the verdict.\n" in text
    assert "| 2000 jobs | question | 1 of 2, not Security |  | holds |" in text
    assert "| 3 people | question | 1 of 2, not Architect |  | lost |" in text


def test_before_the_verdict_only_positions_are_looked_at() -> None:
    text = report_of("Kafka or not? We have 2000 jobs.", said("architect", "2000 jobs are few."))

    assert "hold in the verdict" not in text
    assert "| 2000 jobs | question | 1 of 1 |  |  |" in text


def test_without_facts_nothing_is_said_of_them() -> None:
    assert "Facts people gave" not in report_of("Kafka or not?", said("architect", "Kafka."))
