"""The notes above an answer: who is missing, with which model, and why."""

from core.debate.contributions import Failure, FailureCause
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, fold
from core.debate.turn import JUDGE, Act, Turn
from core.debate.turn_events import TurnFailed
from core.rules.degradations import degradations
from core.testing import log_of
from tests.core.transcript.splits import drafts, split_setup


def notes(*events: Event) -> list[str]:
    return [*degradations(fold(log_of([DebateStarted(setup=split_setup()), *events])))]


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


def test_failed_turns_are_told_by_agent_with_model_and_reason_once() -> None:
    about = ("architect", "simplicity")
    critiques = [failed(Act.CRITIQUE, "security", about=agent) for agent in about]
    more = [failed(Act.CRITIQUE, "security", number=2, about=agent) for agent in about]

    texts = notes(*drafts(), *critiques)
    many = notes(*drafts(), *critiques, *more)

    lost = "critique of Architect (round 1), critique of Simplicity (round 1)"
    assert texts == [f"Security (scripted/scripted-1) failed to give: {lost}. It is down."]
    assert f"{lost}, critique of Architect (round 2), 1 more. It is down." in many[0]


def test_a_check_in_another_order_that_failed_is_told() -> None:
    (text,) = notes(*drafts(), failed(Act.CROSS_CHECK, JUDGE))

    assert text == (
        "The vote is close, and the judge was not asked again in another order: It is down."
    )
