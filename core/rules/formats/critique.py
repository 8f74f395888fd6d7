"""Format `critique`: N rounds of proposal → critique of every other proposal → refinement.

Agents do not wait for a whole phase: a critique needs only the proposals of its critic and its
target, a refinement only the critiques of its own proposal. So a round takes as long as its longest
chain of turns. From round 2 on the proposal is the last refinement, carried over.
"""

from core.debate.turn import Act
from core.request import PartKind
from core.rules.formats.shown import critiques, newest_position, others_unnamed, text_of
from core.rules.steps import CarriedText, Format, Step, critics, own, target

NAME = "critique"


FORMAT = Format(
    name=NAME,
    words="Critique: propose, criticise, refine",
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
                text_of(
                    target(Act.PROPOSAL),
                    "Proposal under review",
                    kind=PartKind.POSITION,
                    ends_shared=True,
                ),
                text_of(
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
                text_of(own(Act.PROPOSAL), "Your proposal"),
                critiques(critics(Act.CRITIQUE)),
            ),
        ),
    ),
)
