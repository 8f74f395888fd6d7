"""What was said before, as strategies need it: perspectives, rounds, final positions (pure)."""

from collections.abc import Sequence

from core.formats.registry import format_of, turns_ready
from core.models import Act, Contribution, Debate


def perspective(debate: Debate, agent: str, before: int) -> Sequence[Contribution]:
    """One agent's own history in rounds before `before`: what it said, and critiques of it.

    What was only carried over is left out: its text is there already.
    """
    return debate.once(("perspective", agent, before), lambda: _perspective(debate, agent, before))


def round_of(debate: Debate, number: int) -> Sequence[Contribution]:
    """All that was said in a round, phase by phase and in roster order; nothing carried over."""
    return debate.once(("round", number), lambda: _round(debate, number))


def is_complete(debate: Debate, number: int) -> bool:
    """Whether nothing more can come in that round and those before it."""
    return bool(round_of(debate, number)) and not turns_ready(debate, number)


def chars(said: Sequence[Contribution]) -> int:
    """Characters in all."""
    return sum(len(made.text) for made in said)


def as_text(debate: Debate, said: Sequence[Contribution], *, mine: str = "") -> str:
    """Contributions as one text, unnamed: what each is, and whether it is the reader's own."""
    return "\n\n".join(f"{_heading(debate, made, mine)}\n{made.text}" for made in said)


def by_name(debate: Debate, said: Sequence[Contribution]) -> str:
    """Positions as one text under their holders' names: for the judge, who names dissent."""
    return "\n\n".join(
        f"[Position of {debate.setup.agent(made.turn.agent).name}]\n{made.text}" for made in said
    )


def _heading(debate: Debate, made: Contribution, mine: str) -> str:
    whose = "your own" if made.turn.agent == mine else _letter(debate, made.turn.agent)
    about = f" of {_letter(debate, made.turn.target)}" if made.turn.target else ""
    if made.turn.target == mine and mine:
        about = " of your proposal"
    return f"[Round {made.turn.round}, {made.turn.act}{about}, {whose}]"


def _letter(debate: Debate, agent: str) -> str:
    """A neutral name between agents: A, B, C and so on."""
    return chr(ord("A") + [other.id for other in debate.setup.agents].index(agent))


def _is_own(made: Contribution, agent: str) -> bool:
    """A critique of others is not part of one's perspective."""
    return made.turn.agent == agent and made.turn.act is not Act.CRITIQUE


def _perspective(debate: Debate, agent: str, before: int) -> Sequence[Contribution]:
    return [
        made
        for made in debate.contributions.values()
        if made.turn.round < before
        and not made.carried_from
        and (_is_own(made, agent) or made.turn.target == agent)
    ]


def _round(debate: Debate, number: int) -> Sequence[Contribution]:
    phases = format_of(debate).PHASES
    roster = [agent.id for agent in debate.setup.agents]
    said = [
        made
        for made in debate.contributions.values()
        if made.turn.round == number and not made.carried_from
    ]
    return sorted(
        said, key=lambda made: (phases.index(made.turn.act), roster.index(made.turn.agent))
    )
