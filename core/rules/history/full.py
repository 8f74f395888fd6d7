"""Strategy `full`: nothing is summarised; an agent sees its whole own history."""

from collections.abc import Sequence

from core.models import ContextMethod, Debate, Turn
from core.request import Part, PartKind
from core.rules.history.told import as_text, perspective

METHOD = ContextMethod.FULL


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """There is nothing to summarise."""
    del debate, rounds
    return ()


def wants(debate: Debate, turn: Turn) -> Sequence[Turn]:
    """No prompt shows a summary."""
    del debate, turn
    return ()


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The agent's own earlier rounds, in full."""
    contributions = perspective(debate, turn.agent, turn.round)
    if not contributions:
        return ()
    text = as_text(debate, contributions, mine=turn.agent)
    return (Part(kind=PartKind.OTHER, label="Your earlier rounds", text=text, trim_priority=4),)
