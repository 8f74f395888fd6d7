"""The state of a debate, its end and what is missing, in the same words on every surface."""

from collections.abc import Sequence
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
    cut_reasons,
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
        ((STOP, VERDICT, DebateConcluded()), DebateState.STOPPED, "stopped, with a verdict"),
        ((STOP, DebateFailed(reason="No.")), DebateState.STOPPED, "stopped, without a verdict"),
        ((DebateFailed(reason="No."),), DebateState.FAILED, "ended without a decision"),
        ((STOP, WITHDRAWN, VERDICT, DebateConcluded()), DebateState.CONCLUDED, "concluded"),
    ],
)
def test_thread_lists_mcp_and_report_show_the_same_state(
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
    ("events", "reasons", "sentences"),
    [
        ((), (), ""),
        ((STOP, WITHDRAWN), (), ""),
        (
            (STOP, WITHDRAWN, StopRequested(stop=Stop(by=DANA), after=1)),
            (EndingReason.STOPPED,),
            "Dana stopped the debate.",
        ),
        ((VoteCalled(by=DANA),), (EndingReason.VOTE_CALLED,), "Dana called the vote."),
        (
            (VoteCalled(by=DANA), STOP),
            (EndingReason.VOTE_CALLED, EndingReason.STOPPED),
            "Dana called the vote. Dana stopped the debate.",
        ),
        (
            (TimeRanOut(of_outage=True),),
            (EndingReason.NO_MODEL_ANSWERS,),
            "No model could be reached for too long.",
        ),
        # The first of two reasons counts; only a call for the vote lets the debate go on.
        ((TimeRanOut(), STOP), (EndingReason.OUT_OF_TIME,), "The debate's time was up."),
    ],
)
def test_an_early_end_has_its_reasons_and_a_sentence_for_each(
    events: tuple[Event, ...], reasons: tuple[EndingReason, ...], sentences: str
) -> None:
    debate = debate_of(*events)

    assert (tuple(cut_reasons(debate)), cut_words(debate)) == (reasons, sentences)
    assert ending_sentences(debate) == ((sentences,) if sentences else ())


@pytest.mark.parametrize(
    ("rounds", "last", "words"),
    [
        (3, 1, "1 of 3 rounds was held, but not finished"),
        (3, 2, "2 of 3 rounds were held, the last one not to its end"),
        (2, 2, "all 2 rounds were held, the last one not to its end"),
    ],
)
def test_a_round_that_was_stopped_is_not_called_finished(
    rounds: int, last: int, words: str
) -> None:
    contributions = [
        ContributionMade(contribution=Contribution(turn=turn, text="PostgreSQL.", call=a_call()))
        for number in range(1, last + 1)
        for turn in (
            *(turn_of(Act.CRITIQUE, number, a, b) for a, b in permutations(AGENTS, 2)),
            *(turn_of(Act.REFINEMENT, number, agent) for agent in AGENTS),
        )
    ]
    setup = split_setup(rounds)
    events = [*drafts()[:3], *contributions[:-1], STOP, CUT, DebateConcluded()]
    log = [DebateStarted(setup=setup), *events]
    assert rounds_words(fold(log_of(log))) == words


CRITIQUES = [
    Turn(act=Act.CRITIQUE, round=number, agent="security", target=target)
    for number in (1, 2)
    for target in ("architect", "simplicity")
]
TWO_CRITIQUES = (
    "Security (scripted/scripted-1) failed to give: critique of Architect (round 1), critique of "
    "Simplicity (round 1)"
)


@pytest.mark.parametrize(
    ("turns", "sentence"),
    [
        (CRITIQUES[:2], f"{TWO_CRITIQUES}."),
        (
            [Turn(act=Act.ADJUST, round=1, agent="security")],
            "Security (scripted/scripted-1) failed to give: adjusted position (round 1).",
        ),
        (CRITIQUES, f"{TWO_CRITIQUES}, critique of Architect (round 2), 1 more."),
        (
            [Turn(act=Act.CROSS_CHECK, round=1, agent=JUDGE)],
            "The vote is close, and the judge was not asked again in another order:",
        ),
    ],
)
def test_failed_turns_of_an_agent_are_one_sentence_with_the_reason_once(
    turns: Sequence[Turn], sentence: str
) -> None:
    failures = [TurnFailed(failure=Failure(turn=turn, reason="It is down.")) for turn in turns]
    assert list(limitations(debate_of(*failures))) == [f"{sentence} It is down."]
