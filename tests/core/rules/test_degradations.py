"""The notes above an answer: who is missing, with which model, and why."""

from core.events import (
    BallotAbstained,
    DebateStarted,
    Event,
    SourceRead,
    StopRequested,
    TimeRanOut,
    TurnFailed,
    fold,
)
from core.models import (
    JUDGE,
    Abstention,
    Act,
    Failure,
    FailureCause,
    Source,
    SourceKind,
    SourceReference,
    Stop,
    Turn,
)
from core.rules.degradations import degradations
from core.rules.sources import SAME_AS, reading_turn
from core.testing import recorded
from tests.core.transcript.splits import DANA, ballot, drafts, split_setup


def notes(*events: Event) -> list[str]:
    return [*degradations(fold(recorded([DebateStarted(setup=split_setup()), *events])))]


def failed(
    act: Act,
    agent: str,
    *,
    number: int = 1,
    about: str = "",
    cause: FailureCause = FailureCause.PASSING,
) -> TurnFailed:
    turn = Turn(act=act, round=number, agent=agent, target=about or None)
    return TurnFailed(failure=Failure(turn=turn, reason="It is down.", cause=cause))


def abstained(number: int, *, declared: bool) -> BallotAbstained:
    turn = Turn(act=Act.BALLOT, round=number, agent="security")
    return BallotAbstained(abstention=Abstention(turn=turn, reason="Why.", declared=declared))


def test_failed_turns_are_told_by_agent_with_model_and_reason_once() -> None:
    about = ("architect", "simplicity")
    critiques = [failed(Act.CRITIQUE, "security", about=one) for one in about]
    more = [failed(Act.CRITIQUE, "security", number=2, about=one) for one in about]

    said = notes(*drafts(), *critiques)
    many = notes(*drafts(), *critiques, *more)

    lost = "critique of Architect (round 1), critique of Simplicity (round 1)"
    assert said == [f"Security (scripted/scripted-1) failed to give: {lost}. It is down."]
    assert f"{lost}, critique of Architect (round 2), 1 more. It is down." in many[0]


def test_a_given_source_that_could_not_be_read_is_noted() -> None:
    said = {
        "zero.md": ("it is empty", ""),
        "load.md": ("", "80 GB"),
        "copy.md": (f"{SAME_AS} e2", ""),
    }
    read = [
        SourceRead(
            source=Source(
                turn=reading_turn(number),
                reference=SourceReference(kind=SourceKind.FILE, title=name, fetch=name, by=DANA),
                fault=fault,
                text=text,
            )
        )
        for number, (name, (fault, text)) in enumerate(said.items(), start=1)
    ]

    assert notes(*read, *drafts()) == [
        "A source that was given could not be read: zero.md: it is empty."
    ]


def test_a_check_in_another_order_that_failed_is_told() -> None:
    (said,) = notes(*drafts(), failed(Act.CROSS_CHECK, JUDGE))

    assert said == (
        "The vote is close, and the judge was not asked again in another order: It is down."
    )


def test_what_voters_declare_is_no_failure_and_a_ballot_that_is_lost_is_one() -> None:
    assert notes(*drafts(), abstained(0, declared=True)) == []
    assert notes(*drafts(), abstained(2, declared=False)) == [
        "Security's ballot could not be counted: Why."
    ]


def test_a_blind_ballot_that_a_later_one_follows_is_not_missed() -> None:
    assert notes(*drafts(), abstained(0, declared=False), ballot(2, "security", 0.5)) == []


def test_what_ended_it_first_is_told() -> None:
    stopped = StopRequested(stop=Stop(by=DANA))
    assert notes(*drafts(), stopped, TimeRanOut()) == ["Dana stopped the debate."]
    assert notes(*drafts(), TimeRanOut(), stopped) == ["The debate's time was up."]
