"""Strategy `hierarchical`: long contributions, then rounds, then the debate so far are summed up.

A contribution at or over the threshold is condensed as soon as it is made; a round's summary is
made from its condensed contributions; from the fourth round on, all earlier rounds are one text.
"""

from collections.abc import Sequence

from core.models import SUMMARIZER, Act, ContextMethod, Contribution, Debate, Turn
from core.request import Part, PartKind
from core.strategies import rounds
from core.strategies.history import as_text, is_complete, round_of

METHOD = ContextMethod.HIERARCHICAL
#: Whether summaries are made beside the debate, so that no turn should ever wait for one.
IN_BACKGROUND = True
#: From this many summed-up rounds on they become one text.
DEBATE_AFTER = 3


def ready(debate: Debate) -> Sequence[Turn]:
    """Long contributions to condense, finished rounds and the debate to sum up."""
    turns = (*_contributions(debate), *_finished(debate), *_so_far(debate))
    return tuple(turn for turn in turns if not debate.is_done(turn))


def lacks(debate: Debate, turn: Turn) -> bool:
    """As with `rounds`: only the summary of the round before the last one is waited for."""
    return rounds.lacks(debate, turn)


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The debate so far, the rounds since, and the last round with its long texts condensed."""
    last = [condensed(debate, made) for made in round_of(debate, turn.round - 1)]
    older = _older(debate, turn.round - 1)
    if not last:
        return older
    over = is_complete(debate, turn.round - 1)
    label = f"Round {turn.round - 1}{'' if over else ' so far'}"
    text = as_text(debate, last)
    return (*older, Part(kind=PartKind.OTHER, label=label, text=text, ends_shared=over, spare=4))


def condensed(debate: Debate, made: Contribution) -> Contribution:
    """The contribution with its summary for its text, where there is one."""
    summary = debate.summaries.get(contribution_turn(made).key)
    return made.model_copy(update={"text": summary.text}) if summary else made


def contribution_turn(made: Contribution) -> Turn:
    """The turn on which a contribution is condensed."""
    return Turn(
        act=Act.SUMMARY,
        round=made.turn.round,
        agent=SUMMARIZER,
        target=made.turn.key,
    )


def debate_turn(number: int) -> Turn:
    """The turn on which all rounds up to that one are summed up."""
    return Turn(act=Act.SUMMARY, round=number, agent=SUMMARIZER, target="debate")


def _contributions(debate: Debate) -> Sequence[Turn]:
    most = debate.setup.summarization.threshold
    last = debate.setup.rounds
    return [
        contribution_turn(made)
        for made in debate.contributions.values()
        if len(made.text) >= most and not made.carried_from and made.turn.round < last
    ]


def _finished(debate: Debate) -> Sequence[Turn]:
    """Rounds that are over and whose contributions are condensed."""
    over = [number for number in range(1, debate.setup.rounds) if is_complete(debate, number)]
    pending = {t.round for t in _contributions(debate) if not debate.is_done(t)}
    return [rounds.summary_turn(number) for number in over if number not in pending]


def _so_far(debate: Debate) -> Sequence[Turn]:
    """The debate up to each round from the third on that is summed up."""
    return [
        debate_turn(number)
        for number in range(DEBATE_AFTER, debate.setup.rounds)
        if all(debate.is_done(rounds.summary_turn(n)) for n in range(1, number + 1))
    ]


def _older(debate: Debate, before: int) -> Sequence[Part]:
    """The newest text on the debate so far, then the rounds it does not cover."""
    parts: list[Part] = []
    first = 1
    for number in range(before - 1, DEBATE_AFTER - 1, -1):
        summary = debate.summaries.get(debate_turn(number).key)
        if summary:
            label = f"The debate up to round {number} in short"
            parts.append(Part(kind=PartKind.SUMMARY, label=label, text=summary.text))
            first = number + 1
            break
    for number in range(first, before):
        summary = debate.summaries.get(rounds.summary_turn(number).key)
        if summary:
            label = f"Round {number} in short"
            parts.append(Part(kind=PartKind.SUMMARY, label=label, text=summary.text))
    return parts
