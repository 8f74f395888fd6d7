"""All formats by name, and what a format is.

To add a format: one module with the functions of `Format`, its prompts, one line in `FORMATS`.
What a plugin brings is an agenda, which the debate's setup holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from core.errors import LogBroken
from core.models import Act, Agenda, Contribution, Debate, Turn
from core.request import Part
from core.rules.formats import council, critique, panel, review
from core.rules.formats.agenda import AgendaFormat


class Format(Protocol):
    """A format is a module of pure functions over a debate, or an agenda's."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        """What settings and people call it."""
        ...

    @property
    def PHASES(self) -> tuple[Act, ...]:  # noqa: N802 - a module's constant
        """The acts of one round, in reading order."""
        ...

    @property
    def MOST_ROUNDS(self) -> int:  # noqa: N802 - a module's constant
        """It never takes more rounds than this."""
        ...

    @property
    def STANCE_ACT(self) -> Act:  # noqa: N802 - a module's constant
        """The act at whose end an agent says how likely it holds each option the best."""
        ...

    @property
    def ENDS_ITSELF(self) -> bool:  # noqa: N802 - a module's constant
        """Whether the format itself says when its rounds end (a facilitator does)."""
        ...

    @property
    def COMPARES_DRAFTS(self) -> bool:  # noqa: N802 - a module's constant
        """Whether first answers are voted on and compared, to see if a round is worth holding."""
        ...

    def ready(self, debate: Debate, rounds: int) -> Sequence[Turn]:
        """Turns of the first `rounds` rounds whose inputs exist and which have no outcome yet.

        Of 0 rounds: the isolated drafts.
        """
        ...

    def planned(self, debate: Debate, number: int) -> Sequence[Turn]:
        """Every turn of a round, as far as can be foreseen."""
        ...

    def alive(self, debate: Debate, /) -> Sequence[str]:
        """Ids of agents that can still speak."""
        ...

    def positions(self, debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
        """The newest position of every agent that has one; only rounds up to `upto` count."""
        ...

    def drafts(self, debate: Debate) -> Mapping[str, Contribution]:
        """The positions taken in isolation; empty while one can still come."""
        ...

    def sees(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        """What this turn is about, beyond what every prompt holds."""
        ...

    def needs(self, debate: Debate, turn: Turn) -> Sequence[str]:
        """Keys of the outcomes this turn waits for; it is ready as soon as all are in the log."""
        ...

    def carried_over(self, debate: Debate, turn: Turn) -> Contribution | None:
        """What this turn takes over without asking a model."""
        ...

    def longest_chain(self, rounds: int) -> int:
        """Turns of so many rounds that must follow one another."""
        ...


FORMATS: Mapping[str, Format] = {
    critique.NAME: critique,
    council.NAME: council,
    panel.NAME: panel,
    review.NAME: review,
}


def formats_with(agendas: Iterable[Agenda]) -> Mapping[str, Format]:
    """The built-in formats and those of these agendas, by name."""
    return {**FORMATS, **{one.name: AgendaFormat(one) for one in agendas}}


def format_of(debate: Debate) -> Format:
    """The format this debate is held in.

    Raises:
        LogBroken: No format has this name: a newer version may know it.
    """
    form, agenda = FORMATS.get(debate.setup.format), debate.setup.agenda
    if form is None and agenda is not None:
        return debate.once("agenda", lambda: AgendaFormat(agenda))
    if form is None:
        raise LogBroken(f"Debate {debate.id} is held as {debate.setup.format!r}: no such format.")
    return form


def turns_ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """The format's own turns of the first `rounds` rounds that can be taken now."""
    return debate.once(("turns", rounds), lambda: format_of(debate).ready(debate, rounds))
