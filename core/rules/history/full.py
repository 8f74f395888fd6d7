"""Strategy `full`: nothing is summarised; an agent sees its whole own history."""

from collections.abc import Sequence

from core.models import ContextMethod, Debate, Turn
from core.request import Part, PartKind
from core.rules.history.material import Material
from core.rules.history.told import as_text, perspective

METHOD = ContextMethod.FULL
#: Whether summaries are made beside the debate, so that no turn should ever wait for one.
IN_BACKGROUND = False


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """There is nothing to summarise."""
    del debate, rounds
    return ()


def lacks(debate: Debate, turn: Turn) -> bool:
    """No turn waits for a summary."""
    del debate, turn
    return False


def material(debate: Debate, turn: Turn) -> Material | None:
    """There is nothing to summarise."""
    del debate, turn


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The agent's own earlier rounds, in full."""
    said = perspective(debate, turn.agent, turn.round)
    if not said:
        return ()
    text = as_text(debate, said, mine=turn.agent)
    return (Part(kind=PartKind.OTHER, label="Your earlier rounds", text=text, trim_priority=4),)
