"""Why rounds of a debate were held, how they ended, and how many there were (pure)."""

from collections.abc import Sequence

from core.figures import counted
from core.models import Debate, Ending, NextStep, Status
from core.rules import schedule
from core.rules.formats import review
from core.rules.formats.registry import format_of, turns_ready
from core.rules.gate import closing_gate, in_words
from core.rules.wanting import was_skipped


def rounds_words(debate: Debate) -> str:
    """How many rounds may be held, or were: `at most 3 rounds`, `2 of 3 rounds were held`."""
    held = schedule.rounds_held(debate)
    planned = min(debate.setup.rounds, format_of(debate).most_rounds)
    is_over = debate.verdict or debate.status is not Status.RUNNING
    if debate.setup.format == review.NAME:
        if not is_over:
            return "a second look where its author answers"
        return "with a second look" if held else "without a second look"
    if not is_over:
        early = debate.setup.termination.ending is Ending.CONVERGED or format_of(debate).ends_itself
        return f"{'at most ' if early and planned > 1 else ''}{counted(planned, 'round')}"
    if not held:
        return "no round was held"
    # Somebody may have stopped it, or its time ended, while agents were at work on the last one.
    left = turns_ready(debate, held) if schedule.is_cut_short(debate) else ()
    is_begun = any(turn.round == held for turn in left)
    if planned == 1:
        return "the one planned round was " + ("begun, not finished" if is_begun else "held")
    if held >= planned:
        said = f"all {held} rounds were held"
    else:
        said = f"{held} of {counted(planned, 'round')} {'was' if held == 1 else 'were'} held"
    if not is_begun:
        return said
    return f"{said}, {'but not finished' if held == 1 else 'the last one not to its end'}"


def why_held(debate: Debate) -> Sequence[str]:
    """Why rounds were held: what was weighed before each, a sentence each."""
    said, last = list[str](), closing_gate(debate)
    for gate in debate.gates.values():
        if gate is not last and gate.skips is None:
            said.append(in_words(debate, gate))
        if gate.ends_rounds and not gate.turn.round and debate.wanted_by:
            who = debate.wanted_by.name or debate.wanted_by.id
            said.append(f"{who} wanted the debate all the same.")
    return tuple(said)


def _what_agents_ended(debate: Debate) -> list[str]:
    """Which gates ended rounds or skipped rebuttals, and where a facilitator called the vote."""
    last = closing_gate(debate)
    sentences = [in_words(debate, last)] if last else []
    sentences += [in_words(debate, gate) for gate in debate.gates.values() if gate.skips]
    sentences += [
        f"After round {guidance.turn.round} the facilitator called the vote."
        for guidance in debate.guidance.values()
        if guidance.next_step is NextStep.VOTE and guidance.gate is None
    ]
    return sentences


def how_it_ended(debate: Debate) -> Sequence[str]:
    """What ended the rounds, and how many were really held, a sentence each.

    Empty while no round has ended.
    """
    said = _what_agents_ended(debate)
    if debate.stop:
        said.append(f"{debate.stop.by.name or 'A person'} stopped the debate.")
    if debate.vote_called_by:
        said.append(f"{debate.vote_called_by.name or 'A person'} called the vote.")
    if debate.out_of_patience:
        said.append("No model could be reached for too long.")
    elif debate.out_of_time:
        said.append("The debate's time was up.")
    if debate.out_of_money:
        said.append(debate.out_of_money)
    is_over = debate.verdict or debate.status is not Status.RUNNING
    if is_over and not schedule.has_quorum(debate):
        said.append("Too few agents could go on.")
    if is_over and debate.setup.format == review.NAME:
        said.append(review.how_it_went(debate))
    elif is_over and (debate.wanted_by or not was_skipped(debate)):
        rounds = rounds_words(debate)
        said.append(f"{rounds[0].upper()}{rounds[1:]}.")
    return tuple(said)
