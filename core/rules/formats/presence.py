"""Who is waited for: all, or all but those whose models are away, where enough others are there."""

from collections.abc import Sequence

from core.models import Debate


def awaited(debate: Debate, agents: Sequence[str]) -> Sequence[str]:
    """Those of these agents whom the others wait for.

    An agent whose model is away holds nobody up while the quorum is there without it. Its turns
    stay open: what comes of them while the debate runs still counts.
    """
    present = [agent for agent in agents if agent not in debate.away]
    needed = min(debate.setup.limits.quorum, len(debate.setup.agents))
    return present if len(present) >= needed else agents
