"""In which order an agent reads what the others said, so that prompts share beginnings (pure).

Everybody reads all but its own, so no two lists are equal. The roster is halved again and again:
what the half an agent is not in has said comes first, the same for all of its own half; then the
same within that half. A vendor caches what the halves share. In roster order only those late in it
would share anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.request import Part


def others_first_shared(me: str, roster: Sequence[str]) -> Sequence[tuple[str, bool]]:
    """The others in this agent's reading order, and whether what was read up to there is shared."""
    found: list[tuple[str, bool]] = []
    group = list(roster)
    while me in group and len(group) > 1:
        middle = len(group) // 2
        halves = group[:middle], group[middle:]
        mine, far = halves if me in halves[0] else halves[::-1]
        found += [(agent, agent == far[-1] and len(mine) > 1) for agent in far]
        group = mine
    return found


def in_shared_order(me: str, roster: Sequence[str], parts: Mapping[str, Part]) -> Sequence[Part]:
    """What the others said, by agent, in that order, cut where a beginning ends that others share.

    Args:
        me: Who reads.
        roster: Ids of all agents, the same for every reader.
        parts: What there is; whoever is missing is left out.
    """
    found: list[Part] = []
    for agent, is_shared in others_first_shared(me, roster):
        found += [parts[agent]] if agent in parts else []
        if is_shared and found:
            found[-1] = replace(found[-1], ends_shared=True)
    return found


def numbered_in_shared_order(
    me: str, roster: Sequence[str], parts: Mapping[str, Part]
) -> Sequence[Part]:
    """The same with labels that say ", 1 of 3" and so on, in reading order."""
    found = in_shared_order(me, roster, parts)
    return [
        replace(part, label=f"{part.label}, {number} of {len(found)}")
        for number, part in enumerate(found, start=1)
    ]
