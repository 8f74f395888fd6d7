"""Strategy `hierarchical`: long contributions, then rounds, then the debate so far are summed up.

A contribution at or over the threshold is condensed as soon as it is made; a round's summary is
made from its condensed contributions; every three rounds, what went before becomes one text, made
from the last such text and the summaries of the rounds since. So each round is summed up once.
"""

from collections.abc import Sequence

from core.debate.agents import ContextMethod
from core.debate.state import Debate
from core.debate.turn import Turn
from core.request import Part, PartKind
from core.rules.history import rounds as by_round
from core.rules.history.material import (
    DEBATE_EVERY,
    condensed,
    contribution_turn,
    debate_turn,
    round_turn,
)
from core.rules.history.told import is_complete, is_foreseen, round_of, rules_of

METHOD = ContextMethod.HIERARCHICAL


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    # Contributions of all rounds but the last that reach their authors' threshold.
    long = [
        contribution_turn(contribution)
        for contribution in debate.contributions.values()
        if len(contribution.text) >= rules_of(debate, contribution.turn.agent).threshold
        and not contribution.carried_from
        and is_foreseen(debate, contribution.turn.round + 1, debate.setup.rounds)
    ]
    # A round is summed up once it is over and its contributions are condensed.
    pending = {turn.round for turn in long if not debate.is_done(turn)}
    over = [turn for turn in by_round.of_each_round(debate, rounds) if turn.round not in pending]
    # The debate is summed up once all the material is there.
    so_far = [
        debate_turn(number)
        for number in range(DEBATE_EVERY, rounds, DEBATE_EVERY)
        if all(map(debate.is_done, made_from(debate_turn(number))))
    ]
    turns = (*long, *over, *so_far)
    return tuple(turn for turn in turns if not debate.is_done(turn))


def wants(debate: Debate, turn: Turn) -> Sequence[Turn]:
    condensing = map(contribution_turn, round_of(debate, turn.round - 1))
    so_far = map(debate_turn, range(DEBATE_EVERY, turn.round - 1, DEBATE_EVERY))
    return (*by_round.wants(debate, turn), *condensing, *so_far)


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    last = [condensed(debate, contribution) for contribution in round_of(debate, turn.round - 1)]
    # The newest text on the debate so far, then the rounds it does not cover.
    upto, text = 0, ""
    for number in range(DEBATE_EVERY, turn.round - 1, DEBATE_EVERY):
        summary = debate.summaries.get(debate_turn(number).key)
        if summary:
            upto, text = number, summary.text
    label = f"The debate up to round {upto} in short"
    older = [Part(kind=PartKind.SUMMARY, label=label, text=text)] if upto else []
    for number in range(upto + 1, turn.round - 1):
        contributions = [condensed(debate, said) for said in round_of(debate, number)]
        part = by_round.in_short_or_full(debate, number, contributions)
        older += [part] if part else []
    so_far = "" if is_complete(debate, turn.round - 1) else " so far"
    return [*older, *by_round.last_round(debate, turn, last, f"{so_far}, long texts in short")]


def made_from(turn: Turn) -> Sequence[Turn]:
    """The summaries that one of the debate so far is made from: the one before, rounds since."""
    since = turn.round - DEBATE_EVERY
    earlier = [debate_turn(since)] if since else []
    rounds = range(since + 1, turn.round + 1)
    return [*earlier, *(round_turn(number) for number in rounds)]
