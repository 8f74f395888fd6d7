"""Which outcomes of other turns a turn needs: those that are there or can still come (pure)."""

from collections.abc import Collection, Iterable, Sequence

from core.models import Act, Debate, Turn

#: Whose failure takes nobody out of a debate.
_HARMLESS = frozenset({Act.SUMMARY, Act.BALLOT})


def outcome_keys(debate: Debate, turns: Iterable[Turn], alive: Collection[str]) -> Sequence[str]:
    """Keys of the outcomes of these turns.

    In place of a turn that can never come, the failure that took its agent out: that was waited
    for as well.
    """
    keys: list[str] = []
    for turn in turns:
        if debate.is_done(turn):
            keys.append(turn.key)
        elif turn.agent in alive:
            # An agent whose model is away is not waited for.
            keys += [turn.key] if turn.agent not in debate.away else []
        else:
            lost = [one.turn for one in debate.failures.values() if one.turn.agent == turn.agent]
            keys += [one.key for one in lost if one.act not in _HARMLESS][-1:]
    return list(dict.fromkeys(keys))
