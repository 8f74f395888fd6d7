"""Changed minds, with the causes that voters name in their ballots."""

from dataclasses import replace

import pytest

from core.debate.contributions import Contribution
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.rules.movement import cause_words, mind_changes
from core.rules.sources import reading_turn
from tests.core.transcript.splits import split_log

SAYS = "; Architect says: “It scales.”"


@pytest.mark.parametrize(
    ("moved_by", "words"),
    [
        (None, SAYS),
        ("security", f", moved by Security{SAYS}"),
        # Old logs have the agent's newest text, which may be later than the change.
        ("r2/rebuttal/security", f", moved by Security{SAYS}"),
        (
            "r1/critique/security/architect",
            f", moved by Security's critique of Architect in round 1{SAYS}",
        ),
        ("e1", f", moved by the source e1 (load.md){SAYS}"),
        ("architect", SAYS),
        ("gone", SAYS),
    ],
)
def test_the_cause_is_the_one_that_the_voter_names_with_its_words(
    moved_by: str | None, words: str
) -> None:
    """Architect goes from PostgreSQL to Kafka and names this cause."""
    debate = fold(split_log())
    own_ballots = [ballot for ballot in debate.ballots.values() if ballot.voter == "architect"]
    (final,) = [ballot for ballot in own_ballots if ballot.turn.round]
    with_cause = final.model_copy(update={"moved_by": moved_by, "why_moved": "It scales."})
    turns = [
        Turn(act=Act.CRITIQUE, round=1, agent="security", target="architect"),
        Turn(act=Act.REBUTTAL, round=2, agent="security"),
    ]
    texts = {turn.key: Contribution(turn=turn, text="No.") for turn in turns}
    ballots = {**debate.ballots, final.turn.key: with_cause}
    reference = SourceReference(kind=SourceKind.FILE, title="load.md", fetch="", by=Person(id="U1"))
    changes = {
        "ballots": ballots,
        "contributions": {**debate.contributions, **texts},
        "sources": (Source(turn=reading_turn(1), reference=reference, text="2000 jobs"),),
    }
    debate = replace(debate, **changes)

    (change,) = [change for change in mind_changes(debate) if change.voter == "architect"]
    assert cause_words(debate, change) == words
