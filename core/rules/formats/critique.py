"""Format `critique`: N rounds of proposal → critique of every other proposal → refinement.

Agents do not wait for a whole phase: a critique needs only the proposals of its critic and its
target, a refinement only the critiques of its own proposal. So a round takes as long as its longest
chain of turns. From round 2 on the proposal is the last refinement, carried over.
"""

from collections.abc import Sequence

from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Part, PartKind
from core.rules.formats.shown import critiques, newest_position, others_unnamed, own_text
from core.rules.steps import CarriedText, Format, Step, critics, own, target

NAME = "critique"


def _under_review(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    text = debate.text_of(Act.PROPOSAL, turn.round, turn.target or "")
    return [
        Part(
            kind=PartKind.POSITION,
            label="Proposal under review",
            text=text,
            ends_shared=True,
            trim_priority=1,
        )
    ]


FORMAT = Format(
    name=NAME,
    most_rounds=15,
    ends_itself=False,
    steps=(
        Step(
            act=Act.PROPOSAL,
            after=(own(Act.REFINEMENT, rounds_back=1),),
            misses=1,
            isolated=True,
            position=True,
            is_summed_up=True,
            carries=CarriedText(own(Act.REFINEMENT, rounds_back=1)),
            shows=(newest_position("Your last version that was kept"),),
        ),
        Step(
            act=Act.CRITIQUE,
            after=(own(Act.PROPOSAL), target(Act.PROPOSAL)),
            each_other=True,
            # After the refinement a critique would have no effect.
            until=Act.REFINEMENT,
            shows=(
                _under_review,
                own_text(
                    own(Act.CRITIQUE, rounds_back=1),
                    "Your critique of its earlier version, in short",
                    kind=PartKind.OTHER,
                    in_short=True,
                    trim_priority=3,
                ),
            ),
        ),
        Step(
            act=Act.REFINEMENT,
            after=(own(Act.PROPOSAL), critics(Act.CRITIQUE)),
            position=True,
            stance=True,
            carries=CarriedText(own(Act.PROPOSAL), unless=critics(Act.CRITIQUE)),
            shows=(
                others_unnamed(
                    Act.PROPOSAL, "Another position in short", in_short=True, trim_priority=3
                ),
                own_text(own(Act.PROPOSAL), "Your proposal"),
                critiques(critics(Act.CRITIQUE), "Critique"),
            ),
        ),
    ),
)
