"""People are told who is meant where agents call one another by letters."""

from bot.views.board import board
from bot.views.group_post import group_post, turn
from core.debate.contributions import Contribution, Summary, SummaryKind
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import ContributionMade, SummaryMade
from core.testing import a_setup, log_of

_SAID = "**Still PostgreSQL.** Position B forgets backups, and C's answer overlooks it."
_WHO = "B is Security, C is Simplicity."
_TURN = Turn(act=Act.DEBATE, round=1, agent="architect")


def a_summary(text: str) -> SummaryMade:
    summary = Summary(
        turn=Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER),
        kind=SummaryKind.ROUND,
        text=text,
        before_chars=900,
        after_chars=len(text),
        method="rounds",
    )
    return SummaryMade(summary=summary)


def test_letters_are_explained_below_posts_and_the_boards_summary() -> None:
    contribution = Contribution(turn=_TURN, text=_SAID)
    setup = a_setup().model_copy(update={"format": "council"})
    events = [
        DebateStarted(setup=setup),
        ContributionMade(contribution=contribution),
        a_summary(_SAID),
    ]
    debate = fold(log_of(events))

    assert _WHO in str(group_post(debate, [contribution]).blocks)
    assert _WHO in str(turn(debate, contribution)[-1].blocks)
    assert _WHO in str(board(debate).blocks)
