"""Strategy `hierarchical`: summarises long contributions, then rounds, then the debate so far.

A contribution at or over the threshold is summarised as soon as it exists. A round's summary is
made from these summaries. Every three rounds the debate so far is summarised from its last summary
and the summaries of later rounds, so that each round is summarised once.
"""

from collections.abc import Sequence

from core.debate.agents import ContextMethod
from core.debate.state import Debate
from core.debate.turn import Turn
from core.request import Part, PartKind
from core.rules.history import rounds as by_round
from core.rules.history.material import (
    DEBATE_EVERY,
    contribution_turn,
    debate_turn,
    is_complete,
    is_planned,
    round_of,
    round_turn,
    summarization_for,
    with_summary,
)

METHOD = ContextMethod.HIERARCHICAL


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    # Contributions that reach their authors' threshold, except in the last round.
    long = [
        contribution_turn(contribution)
        for contribution in debate.contributions.values()
        if len(contribution.text) >= summarization_for(debate, contribution.turn.agent).threshold
        and not contribution.carried_from
        and is_planned(debate, contribution.turn.round + 1, debate.setup.rounds)
    ]
    # A round is summarised after its long contributions.
    pending = {turn.round for turn in debate.open_turns(long)}
    over = [turn for turn in by_round.of_each_round(debate, rounds) if turn.round not in pending]
    # The debate so far is summarised after its previous summary and the rounds since.
    so_far = [
        debate_turn(number)
        for number in range(DEBATE_EVERY, rounds, DEBATE_EVERY)
        if number == DEBATE_EVERY or debate.is_done(debate_turn(number - DEBATE_EVERY))
        if all(debate.is_done(round_turn(number - back)) for back in range(DEBATE_EVERY))
    ]
    return (*long, *over, *so_far)


def shown_summaries(debate: Debate, turn: Turn) -> Sequence[Turn]:
    condensing = map(contribution_turn, round_of(debate, turn.round - 1))
    so_far = map(debate_turn, range(DEBATE_EVERY, turn.round - 1, DEBATE_EVERY))
    return (*by_round.shown_summaries(debate, turn), *condensing, *so_far)


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    if turn.round == 1:
        return ()
    # The newest summary of the debate so far, then the rounds after it.
    upto, older = 0, list[Part]()
    for number in range(DEBATE_EVERY, turn.round - 1, DEBATE_EVERY):
        if summary := debate.summaries.get(debate_turn(number).key):
            upto, label = number, f"The debate up to round {number} in short"
            older = [Part(kind=PartKind.SUMMARY, label=label, text=summary.text)]
    *rounds, last = [
        [with_summary(debate, contribution) for contribution in round_of(debate, number)]
        for number in range(upto + 1, turn.round)
    ]
    for number, contributions in enumerate(rounds, start=upto + 1):
        older += by_round.summary_or_full_round(debate, number, contributions)
    so_far = "" if is_complete(debate, turn.round - 1) else " so far"
    return [*older, *by_round.last_round(debate, turn, last, f"{so_far}, long texts in short")]
