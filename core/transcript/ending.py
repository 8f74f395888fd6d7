"""How the rounds of a debate ended: why, after how many, and what that saved (pure)."""

from collections.abc import Iterator, Sequence

from core.figures import counted
from core.models import Debate, NextStep, Status
from core.rules import schedule
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.gate import in_words


def rounds_words(debate: Debate) -> str:
    """The rounds really held: `2 of 3 rounds`, `3 rounds`, `no round, of 3`."""
    held = schedule.rounds_held(debate)
    if debate.setup.format == review.NAME and debate.status is not Status.RUNNING:
        return "with a second look" if held else "without a second look"
    planned = min(debate.setup.rounds, format_of(debate).MOST_ROUNDS)
    if held >= planned or debate.status is Status.RUNNING:
        return counted(planned, "round")
    return f"{held} of {counted(planned, 'round')}" if held else f"no round, of {planned}"


def how_it_ended(debate: Debate) -> Sequence[str]:
    """What was weighed on the way and what ended the rounds, a sentence each.

    Empty while no round has ended, and in debates of older versions that held all their rounds.
    """
    return tuple(_sentences(debate))


def _sentences(debate: Debate) -> Iterator[str]:  # noqa: C901, PLR0912 - one per cause
    for gate in debate.gates.values():
        yield in_words(debate, gate)
        if gate.ends_rounds and not gate.turn.round and debate.wanted_by:
            who = debate.wanted_by.name or debate.wanted_by.id
            yield f"{who} wanted the debate all the same."
    for guidance in debate.guidance.values():
        if guidance.next_step is NextStep.VOTE and guidance.gate is None:
            yield f"After round {guidance.turn.round} the facilitator called the vote."
    if debate.stop:
        yield f"{debate.stop.by.name or 'A person'} stopped the debate."
    if debate.vote_called_by:
        yield f"{debate.vote_called_by.name or 'A person'} called the vote."
    if debate.out_of_patience:
        yield "No model could be reached for too long."
    elif debate.out_of_time:
        yield "The debate's time was up."
    if debate.out_of_money:
        yield debate.out_of_money
    if debate.status is not Status.RUNNING and not schedule.has_quorum(debate):
        yield "Too few agents could go on."
    if debate.setup.format == review.NAME:
        if debate.status is not Status.RUNNING:
            yield review.how_it_went(debate)
        return
    held = schedule.rounds_held(debate)
    planned = min(debate.setup.rounds, format_of(debate).MOST_ROUNDS)
    if debate.status is not Status.RUNNING and held < planned:
        yield f"Rounds held: {held} of {planned}."
