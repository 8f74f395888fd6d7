"""How a position changed from one time an agent took it to the next, word by word (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter

from rapidfuzz.distance import LCSseq

from core.models import Act, Contribution, Debate

#: What an agent stands for; the rest is about others, or leads to a position.
_POSITIONS = frozenset({Act.PROPOSAL, Act.REFINEMENT, Act.FORMULATE, Act.ADJUST, Act.STATEMENT})
#: Words of each text that are compared: several times what any act asks for. The time grows with
#: their product, some milliseconds for so many.
MOST_WORDS = 3000
#: So few words that stayed between two changes read as changed with them.
_TOO_FEW = 2


class Kind(StrEnum):
    """What became of some words."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True)
class WordRun:
    """Words in a row of which the same became."""

    kind: Kind
    words: str


def position_before(debate: Debate, made: Contribution) -> Contribution | None:
    """The position that the agent's position took the place of.

    None where it was its first, where it is no position, and where it was carried over unchanged.
    """
    if made.turn.act not in _POSITIONS or made.carried_from is not None:
        return None
    before = None
    for one in debate.contributions.values():
        if one.turn == made.turn:
            break
        if one.turn.agent == made.turn.agent and one.turn.act in _POSITIONS:
            before = one
    return before


def word_changes(before: str, after: str) -> Iterator[WordRun]:
    """What became of each word, in reading order: of a place, what was removed before what came.

    Only the first `MOST_WORDS` words of each text are compared.
    """
    old, new = before.split()[:MOST_WORDS], after.split()[:MOST_WORDS]
    steps = list(LCSseq.opcodes(old, new))
    # At the ends few words may stay: there is a change on one side only.
    inner = range(1, len(steps) - 1)
    kept = [
        step.tag == "equal" and not (at in inner and step.src_end - step.src_start <= _TOO_FEW)
        for at, step in enumerate(steps)
    ]
    for stayed, group in groupby(zip(kept, steps, strict=True), key=itemgetter(0)):
        run = [step for _, step in group]
        removed = " ".join(old[run[0].src_start : run[-1].src_end])
        added = " ".join(new[run[0].dest_start : run[-1].dest_end])
        if stayed:
            yield WordRun(Kind.KEPT, removed)
            continue
        if removed:
            yield WordRun(Kind.REMOVED, removed)
        if added:
            yield WordRun(Kind.ADDED, added)
