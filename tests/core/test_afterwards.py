"""What people do with a verdict, as events: on disk, folded, after the end of the debate too."""

from datetime import date

from core.events import (
    DebateConcluded,
    DebateStarted,
    DecisionRecorded,
    Event,
    FeedbackGiven,
    PeopleBallotCast,
    ReminderDue,
    fold,
)
from core.models import Decision, DecisionKind, Feedback, PeopleBallot, Person, Status
from core.testing import a_setup, recorded

DANA, SAM = Person(id="U1", name="Dana"), Person(id="U2", name="Sam")
REVISIT = Decision(
    kind=DecisionKind.REVISIT, by=DANA, why="Too early.", revisit_on=date(2026, 3, 1), origin="V1"
)
ACCEPT = Decision(kind=DecisionKind.ACCEPT, by=SAM, origin="V2")
ALL: list[Event] = [
    PeopleBallotCast(ballot=PeopleBallot(by=DANA, ranking=("security", "architect"))),
    PeopleBallotCast(
        ballot=PeopleBallot(by=SAM, ranking=("security", "architect"), origin="V3"),
    ),
    DecisionRecorded(decision=REVISIT),
    ReminderDue(decision="V1"),
    DecisionRecorded(decision=ACCEPT),
    FeedbackGiven(feedback=Feedback(by=SAM, helpful=True, origin="A1")),
    FeedbackGiven(feedback=Feedback(by=SAM, helpful=False, comment="Too long.", origin="A2")),
]


def test_what_people_do_after_the_end_is_part_of_the_debate_and_does_not_reopen_it() -> None:
    debate = fold(recorded([DebateStarted(setup=a_setup()), DebateConcluded(), *ALL]))
    assert debate.status is Status.CONCLUDED
    assert debate.people_ballots["U1"].ranking == ("security", "architect")
    assert debate.decisions == (REVISIT, ACCEPT)
    assert debate.decision == ACCEPT
    assert debate.reminded == {"V1"}
    assert debate.feedback["U2"].comment == "Too long."


def test_a_persons_newest_ballot_counts_and_one_of_an_older_log_is_still_read() -> None:
    older = PeopleBallotCast(ballot=PeopleBallot(by=DANA, ranking=("security", "architect")))
    newer = PeopleBallotCast(
        ballot=PeopleBallot(by=DANA, ranking=("architect", "security"), origin="V9")
    )
    assert (older.key, newer.key) == ("people-ballot/U1", "people-ballot/U1/V9")
    debate = fold(recorded([DebateStarted(setup=a_setup()), older, newer]))
    assert debate.people_ballots == {"U1": newer.ballot}
