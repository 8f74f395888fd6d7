"""How a debate stands, what ended it and what is missing: the same words on every surface."""

from itertools import permutations

import pytest

from bot.mcp import results
from bot.views.board import board
from bot.views.lists import status_words
from core.debate.contributions import Contribution, Failure
from core.debate.debate_events import (
    DebateConcluded,
    DebateFailed,
    DebateStarted,
    OutageBegan,
    TimeRanOut,
)
from core.debate.log import Event, fold
from core.debate.people import Person, Stop
from core.debate.people_events import DebatePaused, StopRequested, StopWithdrawn, VoteCalled
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn, turn_of
from core.debate.turn_events import ContributionMade, TurnFailed, VerdictReached
from core.debate.verdict import Verdict
from core.rules.ending import (
    DebateState,
    EndingReason,
    cut_reason,
    cut_words,
    ending_sentences,
    limitations,
    rounds_words,
    state_of,
    state_words,
)
from core.testing import log_of
from core.transcript.report import report
from tests.core.transcript.splits import AGENTS, a_call, drafts, split_setup

DANA = Person(id="U1", name="Dana")
STOP = StopRequested(stop=Stop(by=DANA))
WITHDRAWN = StopWithdrawn(by=DANA, number=1)
VERDICT = VerdictReached(verdict=Verdict(decision="So.", solution="So.", confidence=None))
CUT = VerdictReached(verdict=Verdict(decision="So.", solution="So.", confidence=None, partial=True))


def debate_of(*events: Event) -> Debate:
    return fold(log_of([DebateStarted(setup=split_setup()), *drafts(), *events]))


@pytest.mark.parametrize(
    ("events", "state", "words"),
    [
        ((), DebateState.RUNNING, "running"),
        ((DebatePaused(by=DANA, origin="1"),), DebateState.PAUSED, "paused"),
        (
            (OutageBegan(reason="It is down.", origin="1"),),
            DebateState.WAITING_FOR_MODELS,
            "waiting: no model answers",
        ),
        ((TimeRanOut(), CUT, DebateConcluded()), DebateState.CONCLUDED, "concluded, cut short"),
        ((STOP, CUT, DebateConcluded()), DebateState.STOPPED, "stopped, with a partial verdict"),
        ((STOP, DebateFailed(reason="No.")), DebateState.STOPPED, "stopped, without a verdict"),
        ((DebateFailed(reason="No."),), DebateState.FAILED, "ended without a decision"),
        ((STOP, WITHDRAWN, VERDICT, DebateConcluded()), DebateState.CONCLUDED, "concluded"),
    ],
)
def test_a_debate_stands_the_same_in_thread_lists_mcp_and_report(
    events: tuple[Event, ...], state: DebateState, words: str
) -> None:
    debate = debate_of(*events)

    assert (state_of(debate), state_words(debate)) == (state, words)
    assert words in status_words(debate)
    assert results.status(debate, "").state is state
    assert f"`{debate.id}`, {words} |" in report(debate)
    headline = board(debate).text.partition(":")[0]
    assert headline == (
        "The agents' verdict" if words == "concluded" else f"Debate {words}".partition(":")[0]
    )


@pytest.mark.parametrize(
    ("events", "reason", "sentence"),
    [
        ((), None, ""),
        ((STOP, WITHDRAWN), None, ""),
        (
            (STOP, WITHDRAWN, StopRequested(stop=Stop(by=DANA), after=1)),
            EndingReason.STOPPED,
            "Dana stopped the debate.",
        ),
        ((VoteCalled(by=DANA),), EndingReason.VOTE_CALLED, "Dana called the vote."),
        (
            (TimeRanOut(of_outage=True),),
            EndingReason.NO_MODEL_ANSWERS,
            "No model could be reached for too long.",
        ),
        # What came first ended it.
        ((TimeRanOut(), STOP), EndingReason.OUT_OF_TIME, "The debate's time was up."),
    ],
)
def test_what_ended_it_is_one_reason_and_one_sentence(
    events: tuple[Event, ...], reason: EndingReason | None, sentence: str
) -> None:
    debate = debate_of(*events)

    assert (cut_reason(debate), cut_words(debate)) == (reason, sentence)
    assert ending_sentences(debate) == ((sentence,) if sentence else ())


@pytest.mark.parametrize(
    ("rounds", "last", "words"),
    [
        (3, 1, "1 of 3 rounds was held, but not finished"),
        (3, 2, "2 of 3 rounds were held, the last one not to its end"),
        (2, 2, "all 2 rounds were held, the last one not to its end"),
    ],
)
def test_a_stop_in_a_round_leaves_no_doubt_of_the_rounds_before(
    rounds: int, last: int, words: str
) -> None:
    said = [
        ContributionMade(contribution=Contribution(turn=turn, text="PostgreSQL.", call=a_call()))
        for number in range(1, last + 1)
        for turn in (
            *(turn_of(Act.CRITIQUE, number, a, b) for a, b in permutations(AGENTS, 2)),
            *(turn_of(Act.REFINEMENT, number, agent) for agent in AGENTS),
        )
    ]
    setup = split_setup(rounds)
    log = [DebateStarted(setup=setup), *drafts()[:3], *said[:-1], STOP, CUT, DebateConcluded()]
    assert rounds_words(fold(log_of(log))) == words


def test_failed_turns_are_told_by_agent_with_model_and_reason_once() -> None:
    turns = [
        Turn(act=Act.CRITIQUE, round=number, agent="security", target=about)
        for number in (1, 2)
        for about in ("architect", "simplicity")
    ]
    failed = [TurnFailed(failure=Failure(turn=turn, reason="It is down.")) for turn in turns]
    lost = "critique of Architect (round 1), critique of Simplicity (round 1)"
    told = f"Security (scripted/scripted-1) failed to give: {lost}"

    assert list(limitations(debate_of(*failed[:2]))) == [f"{told}. It is down."]
    (text,) = limitations(debate_of(*failed))
    assert text == f"{told}, critique of Architect (round 2), 1 more. It is down."


def test_a_check_in_another_order_that_failed_is_told() -> None:
    turn = Turn(act=Act.CROSS_CHECK, round=1, agent=JUDGE)
    failed = TurnFailed(failure=Failure(turn=turn, reason="It is down."))
    assert list(limitations(debate_of(failed))) == [
        "The vote is close, and the judge was not asked again in another order: It is down."
    ]
