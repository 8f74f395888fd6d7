"""All formats by name, and what they share: quorum, vote, synthesis, the end.

To add a format: one module with the functions of `Format`, one line in `FORMATS`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.events import DebateConcluded, DebateFailed
from core.formats import critique
from core.models import ENGINE, JUDGE, Act, Contribution, Debate, Status, Turn


class Format(Protocol):
    """A format is a module of pure functions over a debate."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        """What settings and people call it."""
        ...

    @property
    def PHASES(self) -> tuple[Act, ...]:  # noqa: N802 - a module's constant
        """The acts of one round, in reading order."""
        ...

    def ready(self, debate: Debate) -> Sequence[Turn]:
        """Turns whose inputs exist and which have no outcome yet; none = it is through."""
        ...

    def alive(self, debate: Debate) -> Sequence[str]:
        """Ids of agents that can still speak."""
        ...

    def positions(self, debate: Debate) -> Mapping[str, Contribution]:
        """The newest position of every agent that has one."""
        ...

    def carried_over(self, debate: Debate, turn: Turn) -> Contribution | None:
        """What this turn takes over without asking a model."""
        ...

    def longest_chain(self, debate: Debate) -> int:
        """Turns that must follow one another, vote and synthesis included."""
        ...


FORMATS: Mapping[str, Format] = {critique.NAME: critique}


def format_of(debate: Debate) -> Format:
    """The format this debate is held in.

    Raises:
        KeyError: No format has this name.
    """
    return FORMATS[debate.setup.format]


def ready(debate: Debate) -> Sequence[Turn]:
    """Every turn that can be taken now: the format's own, then the vote, then the synthesis."""
    if debate.status is not Status.RUNNING or debate.verdict:
        return ()
    if not is_cut_short(debate):
        turns = format_of(debate).ready(debate)
        if turns:
            return turns
    return _vote(debate) or _synthesis(debate)


def conclusion(debate: Debate) -> DebateConcluded | DebateFailed | None:
    """How the debate ends now; None while there is something left to do."""
    if debate.status is not Status.RUNNING or ready(debate):
        return None
    if debate.verdict:
        return DebateConcluded()
    return DebateFailed(reason=_why_no_verdict(debate))


def is_cut_short(debate: Debate) -> bool:
    """Stopped, out of time, or too few agents left: no more turns but those that end it."""
    return bool(debate.stop) or debate.out_of_time or not has_quorum(debate)


def has_quorum(debate: Debate) -> bool:
    """Whether enough agents can still speak."""
    needed = min(debate.setup.limits.quorum, len(debate.setup.agents))
    return len(format_of(debate).alive(debate)) >= needed


def ballot_turns(debate: Debate) -> Sequence[Turn]:
    """The final ballots: none when a person stopped the debate or there is nothing to choose."""
    voters = format_of(debate).alive(debate)
    choices = format_of(debate).positions(debate)
    if debate.stop or len(choices) <= 1:
        return ()
    return tuple(Turn(act=Act.BALLOT, round=debate.setup.rounds, agent=voter) for voter in voters)


def _vote(debate: Debate) -> Sequence[Turn]:
    ballots = ballot_turns(debate)
    if not ballots or debate.tally:
        return ()
    missing = tuple(turn for turn in ballots if not debate.is_done(turn))
    return missing or (Turn(act=Act.TALLY, round=debate.setup.rounds, agent=ENGINE),)


def _synthesis(debate: Debate) -> Sequence[Turn]:
    if not format_of(debate).positions(debate):
        return ()
    return (Turn(act=Act.SYNTHESIS, round=debate.setup.rounds, agent=JUDGE),)


def _why_no_verdict(debate: Debate) -> str:
    if debate.stop:
        return "It was stopped before any agent had taken a position."
    reasons = dict.fromkeys(failure.reason for failure in debate.failures.values())
    return "No agent could take a position. " + " ".join(reasons)
