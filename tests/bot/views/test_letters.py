"""People are told who is meant where agents call one another by letters."""

from bot.views.board import board
from bot.views.group_post import group_post
from bot.views.turn import turn
from core.events import ContributionMade, DebateStarted, SummaryMade, fold
from core.models import SUMMARIZER, Act, Contribution, Summary, SummaryKind, Turn
from core.testing import a_setup, recorded

_SAID = "**Still PostgreSQL.** Position B forgets backups, and C's answer overlooks it."
_WHO = "B is Security, C is Simplicity."
_TURN = Turn(act=Act.DEBATE, round=1, agent="architect")


def a_summary(text: str) -> SummaryMade:
    made = Summary(
        turn=Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER),
        kind=SummaryKind.ROUND,
        text=text,
        before_chars=900,
        after_chars=len(text),
        method="rounds",
    )
    return SummaryMade(summary=made)


def test_letters_are_explained_below_posts_and_the_boards_summary() -> None:
    said = Contribution(turn=_TURN, text=_SAID)
    setup = a_setup().model_copy(update={"format": "council"})
    events = [DebateStarted(setup=setup), ContributionMade(contribution=said), a_summary(_SAID)]
    debate = fold(recorded(events))

    assert _WHO in str(group_post(debate, [said]).blocks)
    assert _WHO in str(turn(debate, said)[-1].blocks)
    assert _WHO in str(board(debate).blocks)


def test_nothing_is_explained_where_no_letter_is_used() -> None:
    said = Contribution(turn=_TURN, text="**A queue in C++.**")
    debate = fold(recorded([DebateStarted(setup=a_setup()), a_summary("Two hold Kafka.")]))

    shown = (group_post(debate, [said]), *turn(debate, said), board(debate))
    assert not any("Letters agents go by" in str(view.blocks) for view in shown)


def test_the_two_posts_of_an_agent_in_a_council_are_headed_by_what_they_are() -> None:
    acts = (Act.GATHER, Act.PLAN, Act.FORMULATE, Act.DEBATE, Act.ADJUST)
    said = [
        Contribution(turn=Turn(act=act, round=1, agent="architect"), text="**Still PostgreSQL.**")
        for act in acts
    ]
    setup = a_setup().model_copy(update={"format": "council"})
    events = [DebateStarted(setup=setup), *(ContributionMade(contribution=one) for one in said)]
    debate = fold(recorded(events))

    heads = [group_post(debate, some).text.splitlines()[0] for some in (said[:3], said[3:])]
    assert heads == ["Round 1: position", "Round 1: adjusted position"]
    # The others' critiques were answered, and the position that was to follow is missing.
    assert group_post(debate, said[3:4]).text.startswith("Round 1: answer to the others\n")
