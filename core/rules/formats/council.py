"""Format `council`: seven phases, from isolated gathering to the vote.

Each phase with its inputs: gather (none, isolated) → plan (the other agents' findings) → formulate
(all findings) → debate (every other position) → adjust (all answers to the positions) → rebuttal
(own answers, the others' adjusted positions; left out if the adjusted positions agree) → vote.
A turn starts as soon as its inputs exist. Voters and the judge read the rebuttals.
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
    rebuttals,
    text_of,
)
from core.rules.options import stance_in
from core.rules.steps import CarriedText, Format, Step, everybody, others, own

NAME = "council"


def convergence(debate: Debate) -> Agreement | None:
    """The agreement of the adjusted positions so far; None if one has no probabilities."""
    stances = dict[str, Probabilities]()
    for agent in _agents_after_adjust(debate):
        contribution = debate.contributions.get(turn_of(Act.ADJUST, 1, agent).key)
        stances[agent] = stance_in(debate, contribution) if contribution else {}
    return agreement(stances, debate.setup.models) if all(stances.values()) else None


def needs_rebuttal(debate: Debate, _turn: Turn) -> bool | None:
    """Whether the adjusted positions differ, so that rebuttals are useful; None: not known yet.

    Known early if two first choices differ, or if a position has no probabilities. The lead of a
    common first choice is known only after all positions.
    """
    agreed, speakers = convergence(debate), _agents_after_adjust(debate)
    if agreed is None or (len(speakers) > 1 and not agreed.option):
        return True
    if len(speakers) < len(FORMAT.alive(debate)):
        return None
    return len(speakers) <= 1 or not agreed.is_agreed


def _agents_after_adjust(debate: Debate) -> Sequence[str]:
    """Ids of the agents whose turn to adjust their position is over."""
    is_done = debate.is_done
    return [agent for agent in FORMAT.alive(debate) if is_done(turn_of(Act.ADJUST, 1, agent))]


def _all_findings(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    """All findings as the same text for every agent, then an excerpt of the agent's own."""
    contributions = form.contributions(debate, Act.GATHER)
    parts = [
        Part(
            kind=PartKind.OTHER,
            label=f"Findings {number} of {len(contributions)}",
            text=contribution.text,
            ends_shared=number == len(contributions),
            trim_priority=1 if agent == turn.agent else 2,
        )
        for number, (agent, contribution) in enumerate(contributions.items(), start=1)
    ]
    if turn.agent in contributions:
        part = parts[list(contributions).index(turn.agent)]
        text = excerpt(part.text, part.label)
        parts.append(Part(kind=PartKind.OWN, label="What you found", text=text, trim_priority=1))
    return parts


FORMAT = Format(
    name=NAME,
    words="Council: gather, plan, argue, adjust, rebut",
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
            # The plan does not depend on the agent's own findings, which may be later.
            after=(own(Act.GATHER), own(Act.PLAN)),
            misses=1,
            position=True,
            is_summed_up=True,
            shows=(_all_findings, text_of(own(Act.PLAN), "Your plan")),
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
            # A position without any answer is carried over.
            carries=CarriedText(own(Act.FORMULATE), unless=others(Act.DEBATE)),
            shows=(
                others_unnamed(Act.DEBATE, "Answers of the council", kind=PartKind.CRITIQUE),
                # The answers differ for each agent, so nothing after them can be cached.
                others_by_letter(Act.FORMULATE, in_short=True),
                text_of(own(Act.FORMULATE), "Your position, Position {letter}"),
            ),
        ),
        Step(
            act=Act.REBUTTAL,
            is_summed_up=True,
            after=(own(Act.DEBATE), others(Act.ADJUST)),
            only_if=needs_rebuttal,
            agreement=convergence,
            shows=(
                others_by_letter(Act.ADJUST),
                text_of(own(Act.DEBATE), "Your answers to the others"),
            ),
        ),
    ),
    shows={Act.BALLOT: (rebuttals,)},
)
