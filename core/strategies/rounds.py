"""Strategy `rounds`: finished rounds are summed up in the background, one round behind.

The summary of round n is made while round n+1 runs and is needed when round n+2 starts; round n+1
sees round n in full. After ten rounds the first five become one meta-summary. Source: Board of
One's background summarizer.
"""

from collections.abc import Sequence

from core.models import SUMMARIZER, Act, ContextMethod, Debate, Turn
from core.request import Part, PartKind
from core.strategies.history import as_text, is_complete, round_of

METHOD = ContextMethod.ROUNDS
#: Whether summaries are made beside the debate, so that no turn should ever wait for one.
IN_BACKGROUND = True
#: From this round on the first rounds are summed up once more, together.
META_AFTER = 10
META_ROUNDS = 5


def ready(debate: Debate) -> Sequence[Turn]:
    """Rounds that are over and not summed up yet; the last round never is."""
    over = [number for number in range(1, debate.setup.rounds) if is_complete(debate, number)]
    turns = [summary_turn(number) for number in over]
    if len(over) > META_AFTER and all(debate.is_done(summary_turn(n)) for n in over[:META_ROUNDS]):
        turns.append(meta_turn())
    return tuple(turn for turn in turns if not debate.is_done(turn))


def lacks(debate: Debate, turn: Turn) -> bool:
    """Whether the turn waits for the summary of the round before the last one."""
    needed = turn.round - 2
    return (
        turn.act is not Act.SUMMARY
        and needed >= 1
        and is_complete(debate, needed)
        and not debate.is_done(summary_turn(needed))
    )


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """Summaries of older rounds, append-only, and the last round in full; the same for all."""
    if turn.act is Act.FACILITATION:
        return _older(debate, turn.round)
    last = round_of(debate, turn.round - 1)
    older = _older(debate, turn.round - 1)
    if not last:
        return older
    over = is_complete(debate, turn.round - 1)
    label = f"Round {turn.round - 1} {'in full' if over else 'so far'}"
    text = as_text(debate, last)
    # Only what is over is the same text for everybody, and so worth caching.
    return (*older, Part(kind=PartKind.OTHER, label=label, text=text, ends_shared=over, spare=4))


def summary_turn(number: int) -> Turn:
    """The turn on which a finished round is summed up."""
    return Turn(act=Act.SUMMARY, round=number, agent=SUMMARIZER)


def meta_turn() -> Turn:
    """The turn on which the first rounds are summed up together."""
    return Turn(act=Act.SUMMARY, round=META_ROUNDS, agent=SUMMARIZER, target="meta")


def _older(debate: Debate, before: int) -> Sequence[Part]:
    """Summaries of the rounds before that one, the meta-summary in place of the first five."""
    meta = debate.summaries.get(meta_turn().key)
    first = META_ROUNDS + 1 if meta else 1
    parts = [_part(f"Rounds 1 to {META_ROUNDS} in short", meta.text)] if meta else []
    for number in range(first, before):
        summary = debate.summaries.get(summary_turn(number).key)
        if summary:
            parts.append(_part(f"Round {number} in short", summary.text))
    if parts:
        parts[-1] = Part(
            kind=PartKind.SUMMARY, label=parts[-1].label, text=parts[-1].text, ends_shared=True
        )
    return parts


def _part(label: str, text: str) -> Part:
    return Part(kind=PartKind.SUMMARY, label=label, text=text)
