"""All formats by name.

To add a format: one module with its list of steps, its prompts, one line in `FORMATS`.
What a plugin brings is an agenda, which the debate's setup holds.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.debate.agenda import Agenda
from core.debate.state import Debate
from core.debate.turn import Turn
from core.errors import LogBroken
from core.rules.formats import council, critique, panel, review
from core.rules.formats.agenda import format_of_agenda
from core.rules.steps import Format

FORMATS: Mapping[str, Format] = {
    module.NAME: module.FORMAT for module in (critique, council, panel, review)
}


def formats_with(agendas: Iterable[Agenda]) -> Mapping[str, Format]:
    return {**FORMATS, **{agenda.name: format_of_agenda(agenda) for agenda in agendas}}


def format_of(debate: Debate) -> Format:
    """The format this debate is held in.

    Raises:
        LogBroken: No format has this name: a newer version may know it.
    """
    form, agenda = FORMATS.get(debate.setup.format), debate.setup.agenda
    if form is None and agenda is not None:
        return debate.once("agenda", lambda: format_of_agenda(agenda))
    if form is None:
        raise LogBroken(f"Debate {debate.id} is held as {debate.setup.format!r}: no such format.")
    return form


def turns_ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    return debate.once(("turns", rounds), lambda: format_of(debate).ready(debate, rounds))
