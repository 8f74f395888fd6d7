"""All formats by name.

To add a format: write a module with its list of steps, its prompts, and add it to `FORMATS`.
A plugin's format is an agenda, which is in the debate's setup.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.debate.agenda import Agenda
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.errors import LogBroken
from core.request import Part, PartKind
from core.rules.formats import council, critique, panel, review
from core.rules.formats.shown import others_by_letter, others_unnamed, rebuttals
from core.rules.steps import Format, Show, Step, others, own

FORMATS: Mapping[str, Format] = {
    module.NAME: module.FORMAT for module in (critique, council, panel, review)
}


def formats_with(agendas: Iterable[Agenda]) -> Mapping[str, Format]:
    return {**FORMATS, **{agenda.name: format_of_agenda(agenda) for agenda in agendas}}


def format_of(debate: Debate) -> Format:
    """The debate's format.

    Raises:
        LogBroken: The format is unknown; it may be one of a newer version.
    """
    form, agenda = FORMATS.get(debate.setup.format), debate.setup.agenda
    if form is None and agenda is not None:
        return debate.cached("agenda", lambda: format_of_agenda(agenda))
    if form is None:
        raise LogBroken(f"Debate {debate.id} has the unknown format {debate.setup.format!r}.")
    return form


def turns_ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    return debate.cached(("turns", rounds), lambda: format_of(debate).ready(debate, rounds))


_CRITICISM = frozenset({Act.DEBATE, Act.REBUTTAL})


def format_of_agenda(agenda: Agenda) -> Format:
    return Format(
        name=agenda.name,
        words=agenda.words,
        most_rounds=1,
        steps=tuple(_agenda_steps(agenda)),
        shows={Act.BALLOT: (rebuttals,)},
    )


def _agenda_steps(agenda: Agenda) -> Iterator[Step]:
    before: Act | None = None
    for phase in agenda.phases:
        is_first = before is None
        yield Step(
            act=phase.act,
            after=(*([own(before)] if before else ()), *map(others, phase.hears)),
            # An agent without a draft cannot take part.
            misses=1 if is_first else 0,
            isolated=is_first,
            position=phase.act in agenda.positions,
            stance=phase.act is agenda.positions[-1],
            shows=(*(_earlier_texts(agenda, act) for act in phase.hears), _own_last(before)),
        )
        before = phase.act


def _earlier_texts(agenda: Agenda, act: Act) -> Show:
    if act in agenda.positions:
        return others_by_letter(act)
    kind = PartKind.CRITIQUE if act in _CRITICISM else PartKind.OTHER
    return others_unnamed(act, f"What the others said ({act})", kind=kind)


def _own_last(before: Act | None) -> Show:
    """Show the agent's position, and its last text if that is another one."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        position = form.positions(debate).get(turn.agent)
        last = form.contributions(debate, before).get(turn.agent) if before else None
        label = f"Your position, Position {debate.setup.letter(turn.agent)}"
        texts = (
            (position.text if position else "", label),
            (last.text if last and last != position else "", f"What you said before ({before})"),
        )
        return [
            Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)
            for text, label in texts
            if text
        ]

    return show
