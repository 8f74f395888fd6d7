"""Strategy `length`: summarises an agent's own history once it is long (perspective summaries).

If an agent's history has reached the threshold at the start of a round, it is summarised as a
whole, in parallel to the agent's turns of that round. A prompt shows the newest finished summary
and later contributions in full; without a summary, the full history. Source: dialectic's context
summarization.
"""

from collections.abc import Sequence

from core.debate.agents import ContextMethod
from core.debate.contributions import Summary
from core.debate.state import Debate
from core.debate.turn import Act, Turn, turn_of
from core.request import Part, PartKind
from core.rules.formats.registry import format_of, turns_ready
from core.rules.formats.shown import in_brief
from core.rules.history import material
from core.rules.history.material import is_planned, perspective, perspective_turn, with_text

METHOD = ContextMethod.LENGTH


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    agents = [
        agent.id
        for agent in debate.setup.agents
        if material.method_of(debate, agent.id) is METHOD and _is_long(debate, agent.id, rounds)
    ]
    turns = [perspective_turn(n, agent) for n in range(2, rounds + 1) for agent in agents]
    return tuple(turn for turn in turns if _is_due(debate, turn, rounds))


def shown_summaries(_debate: Debate, turn: Turn) -> Sequence[Turn]:
    return (perspective_turn(turn.round, turn.agent),) if turn.round > 1 else ()


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The newest summary of the agent's perspective and later contributions, else all of it.

    For a critique: the summary, and the agent's newest position in short.
    """
    summary = newest(debate, turn.agent, turn.round)
    label = "Your debate so far, in short"
    parts = [Part(kind=PartKind.SUMMARY, label=label, text=summary.text)] if summary else []
    if turn.act is Act.CRITIQUE:
        # A critique is about another agent's text, so the own position is enough.
        position = format_of(debate).positions(debate, turn.round - 1).get(turn.agent)
        label, text = "Your own position, in short", in_brief(position) if position else ""
    elif summary is None:
        return material.own_history(debate, turn)
    else:
        later = [
            # The last refinement has already answered earlier critiques.
            with_text(contribution, in_brief(contribution))
            if turn.act is Act.REFINEMENT and contribution.turn.target
            else contribution
            for contribution in perspective(debate, turn.agent, turn.round)
            if contribution.turn.round >= summary.turn.round
        ]
        label, text = "What came after", material.as_text(debate, later, reader=turn.agent)
    if text:
        parts.append(Part(kind=PartKind.OTHER, label=label, text=text, trim_priority=4))
    return parts


def newest(debate: Debate, agent: str, number: int) -> Summary | None:
    """The agent's newest summary up to a round."""
    turns = (perspective_turn(earlier, agent) for earlier in range(number, 1, -1))
    summaries = (debate.summaries.get(turn.key) for turn in turns)
    return next((summary for summary in summaries if summary), None)


def _is_due(debate: Debate, turn: Turn, rounds: int) -> bool:
    """Whether the agent's long history before the turn's round is complete and not summarised."""
    if not debate.has_begun(turn.round - 1) or debate.is_done(turn):
        return False
    is_last = not is_planned(debate, turn.round + 1, rounds)
    if is_last and newest(debate, turn.agent, turn.round - 1):
        return False  # only one turn would read it, and can use the summary before
    refinement = turn_of(Act.REFINEMENT, turn.round - 1, turn.agent)
    is_over = debate.is_done(refinement) or (
        material.is_complete(debate, turn.round - 1)
        and all(coming.round >= turn.round for coming in turns_ready(debate, rounds))
    )
    is_held = is_planned(debate, turn.round, rounds)
    return is_over and is_held and _is_long(debate, turn.agent, turn.round)


def _is_long(debate: Debate, agent: str, number: int) -> bool:
    length = material.chars(perspective(debate, agent, number))
    return length >= material.summarization_for(debate, agent).threshold
