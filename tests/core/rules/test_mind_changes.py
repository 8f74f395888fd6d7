"""Who changed their mind: what the voter named in its own ballot, and nothing else."""

from dataclasses import replace

import pytest

from core.debate.contributions import Contribution
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.vote import Ballot
from core.rules.mind_changes import cause_words, mind_changes
from tests.core.transcript.splits import split_log

VOTER = "architect"


def moved(moved_by: str | None, why: str = "") -> Debate:
    """Architect goes from PostgreSQL to Kafka and names this cause."""
    debate = fold(split_log())
    ballots = dict(debate.ballots)
    (final,) = [
        ballot for ballot in ballots.values() if ballot.voter == VOTER and ballot.turn.round
    ]
    changed: Ballot = final.model_copy(update={"moved_by": moved_by, "why_moved": why})
    ballots[final.turn.key] = changed
    turns = (
        Turn(act=Act.CRITIQUE, round=1, agent="security", target=VOTER),
        Turn(act=Act.REBUTTAL, round=2, agent="security"),
    )
    more = {turn.key: Contribution(turn=turn, text="No.", call=None) for turn in turns}
    contributions = {**debate.contributions, **more}
    return replace(debate, ballots=ballots, contributions=contributions)


@pytest.mark.parametrize(
    ("moved_by", "why", "words"),
    [
        (None, "", ""),
        (None, "It scales.", "; Architect says: “It scales.”"),
        ("security", "It scales.", ", moved by Security; Architect says: “It scales.”"),
        # Old logs name the newest text of an agent, which the voter may have moved before.
        ("r2/rebuttal/security", "", ", moved by Security"),
        (
            "r1/critique/security/architect",
            "It scales.",
            ", moved by Security's critique of Architect in round 1; Architect says: “It scales.”",
        ),
        (VOTER, "", ""),
        ("gone", "", ""),
    ],
)
def test_a_cause_is_what_the_voter_named_and_quotes_its_words(
    moved_by: str | None, why: str, words: str
) -> None:
    debate = moved(moved_by, why)
    (change,) = [mind_change for mind_change in mind_changes(debate) if mind_change.voter == VOTER]

    assert cause_words(debate, change) == words
