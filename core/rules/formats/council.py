"""Format `council`: seven phases, from isolated gathering to the vote.

gather (isolated) → plan (the others' gathering, not its own) → formulate (all gathering, others' to
be shortened first) → debate (every other position, answered by name) → adjust (all critiques) →
rebuttal (own critiques, the others' revised positions; skipped when positions have converged).
A turn starts when what it needs is there. Positions have converged when all who adjusted theirs
hold the same option best, each at 65 % or more. Voters and the judge read the rebuttals.
Source of the phases: Quorum's "Deliberation V2".
"""

from collections.abc import Sequence

from core.debate.state import Debate
from core.debate.turn import Act, Turn, turn_of
from core.request import Part, PartKind
from core.rules.agreement import Agreement, Probabilities, agreement
from core.rules.formats.shown import (
    excerpt,
    others_by_letter,
    others_unnamed,
    own_text,
    rebuttals,
)
from core.rules.options import stance_in
from core.rules.steps import CarriedText, Format, Step, everybody, others, own

NAME = "council"


def convergence(debate: Debate) -> Agreement | None:
    """How far the adjusted positions known so far agree; None: one says nothing of options."""
    stances = dict[str, Probabilities]()
    for agent in _adjusted(debate):
        contribution = debate.contributions.get(turn_of(Act.ADJUST, 1, agent).key)
        stances[agent] = stance_in(debate, contribution) if contribution else {}
    return agreement(stances, debate.setup.models) if all(stances.values()) else None


def needs_rebuttal(debate: Debate, _turn: Turn) -> bool | None:
    """Whether the adjusted positions differ, so that a rebuttal adds something; None: not known.

    That they do is known as soon as two of them put different options first, or one says nothing of
    options. How far ahead an option is that all put first is known at last.
    """
    converged, speakers = convergence(debate), _adjusted(debate)
    if converged is None or (len(speakers) > 1 and not converged.option):
        return True
    if len(speakers) < len(FORMAT.alive(debate)):
        return None
    return len(speakers) <= 1 or not converged.is_agreed


def _adjusted(debate: Debate) -> Sequence[str]:
    """Ids of the agents that have adjusted their positions, or cannot any more."""
    done = debate.is_done
    return [agent for agent in FORMAT.alive(debate) if done(turn_of(Act.ADJUST, 1, agent))]


def _everybodys_findings(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    """Everybody's findings, the same text for all; the agent's own is told apart behind them."""
    contributions = form.contributions(debate, Act.GATHER)
    parts = [
        Part(
            kind=PartKind.OTHER,
            label=f"Findings {number} of {len(contributions)}",
            text=said.text,
            ends_shared=number == len(contributions),
            trim_priority=1 if agent == turn.agent else 2,
        )
        for number, (agent, said) in enumerate(contributions.items(), start=1)
    ]
    if turn.agent in contributions:
        mine = parts[list(contributions).index(turn.agent)]
        text = excerpt(mine.text, mine.label)
        parts.append(Part(kind=PartKind.OWN, label="What you found", text=text, trim_priority=1))
    return parts


FORMAT = Format(
    name=NAME,
    most_rounds=1,
    steps=(
        Step(act=Act.GATHER, misses=1, isolated=True, position=True, is_summed_up=True),
        Step(
            act=Act.PLAN,
            after=(others(Act.GATHER),),
            shows=(others_unnamed(Act.GATHER, "Findings of the others"),),
        ),
        Step(
            act=Act.FORMULATE,
            # The plan was made of what the others gathered; its own findings may come later.
            after=(own(Act.GATHER), own(Act.PLAN)),
            misses=1,
            position=True,
            is_summed_up=True,
            shows=(_everybodys_findings, own_text(own(Act.PLAN), "Your plan")),
        ),
        Step(
            act=Act.DEBATE,
            after=(others(Act.FORMULATE),),
            shows=(others_by_letter(Act.FORMULATE),),
        ),
        Step(
            act=Act.ADJUST,
            after=(everybody(Act.FORMULATE), others(Act.DEBATE)),
            position=True,
            stance=True,
            is_summed_up=True,
            # A position that nobody answered stays as it is.
            carries=CarriedText(own(Act.FORMULATE), unless=others(Act.DEBATE)),
            shows=(
                others_unnamed(Act.DEBATE, "Answers of the council", kind=PartKind.CRITIQUE),
                # After the answers nobody else's prompt goes on in the same way.
                others_by_letter(Act.FORMULATE, in_short=True),
                own_text(own(Act.FORMULATE), "Your position, Position {letter}"),
            ),
        ),
        Step(
            act=Act.REBUTTAL,
            is_summed_up=True,
            # Its own answers, and what the others have made of their positions.
            after=(own(Act.DEBATE), others(Act.ADJUST)),
            only_if=needs_rebuttal,
            agreement=convergence,
            shows=(
                others_by_letter(Act.ADJUST),
                own_text(own(Act.DEBATE), "Your answers to the others"),
            ),
        ),
    ),
    shows={Act.BALLOT: (rebuttals,)},
)
