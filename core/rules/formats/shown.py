"""Parts of prompts from earlier contributions, ordered so that vendors can cache them (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.debate.contributions import Contribution
from core.debate.state import Debate, roster
from core.debate.turn import Act, Turn
from core.request import Part, PartKind, numbered_parts
from core.rules.steps import After, Format, Show

CUT_MARK = " […]"
#: Characters of another position that is shown only for comparison.
IN_SHORT = 900
#: Characters of an excerpt by which an agent recognises its own text.
_BEGINNING = 160


def text_of(
    source: After,
    label: str,
    *,
    kind: PartKind = PartKind.OWN,
    in_short: bool = False,
    ends_shared: bool = False,
    trim_priority: int = 1,
) -> Show:
    """Show the text of one earlier turn; `{letter}` in the label becomes the reader's letter."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        title = label.format(letter=debate.setup.letter(turn.agent))
        parts = list[Part]()
        for earlier_turn in form.turns_of(turn, source, ()):
            if contribution := debate.contributions.get(earlier_turn.key):
                parts.append(
                    Part(
                        kind=kind,
                        label=title,
                        text=in_brief(contribution) if in_short else contribution.text,
                        ends_shared=ends_shared,
                        trim_priority=trim_priority,
                    )
                )
        return parts

    return show


def newest_position(label: str) -> Show:
    """Show the agent's newest position of all earlier rounds."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        position = form.positions(debate, turn.round - 1).get(turn.agent)
        text = position.text if position else ""
        return [Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)] if text else []

    return show


def critiques(source: After) -> Show:
    """Show the critiques of the agent's text, numbered, without their authors."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        critique_turns = form.turns_of(turn, source, roster(debate))
        keys = [critique_turn.key for critique_turn in critique_turns]
        contributions = debate.contributions
        texts = [contributions[key].text for key in keys if key in contributions]
        return numbered_parts(PartKind.CRITIQUE, "Critique", texts)

    return show


def others_unnamed(
    act: Act,
    label: str,
    *,
    kind: PartKind = PartKind.OTHER,
    in_short: bool = False,
    trim_priority: int = 2,
) -> Show:
    """Show the other agents' texts of one act in this round, numbered, without their authors."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        parts = {
            agent: Part(
                kind=kind,
                label=label,
                text=in_brief(contribution) if in_short else contribution.text,
                trim_priority=trim_priority,
            )
            for agent, contribution in form.contributions(debate, act, turn.round).items()
        }
        in_order = in_cache_order(debate, turn.agent, parts)
        return [
            replace(part, label=f"{part.label}, {number} of {len(in_order)}")
            for number, part in enumerate(in_order, start=1)
        ]

    return show


def others_by_letter(act: Act, *, in_short: bool = False) -> Show:
    """Show the others' texts of one act under their letters, so that an answer can name them.

    An agent without such a text is shown with its newest position.
    """

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        contributions = {**form.positions(debate), **form.contributions(debate, act)}
        parts = {
            agent: Part(
                kind=PartKind.POSITION,
                label=f"Position {debate.setup.letter(agent)}",
                text=in_brief(contribution) if in_short else contribution.text,
                trim_priority=2,
            )
            for agent, contribution in contributions.items()
        }
        in_order = in_cache_order(debate, turn.agent, parts)
        if not in_short:
            return in_order
        return [
            replace(part, label=f"{part.label} in short", ends_shared=False) for part in in_order
        ]

    return show


def rebuttals(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    """Show all rebuttals to the voters, under the letters of their authors."""
    if not turn.round:
        return ()
    contributions = form.contributions(debate, Act.REBUTTAL)
    return [
        Part(
            kind=PartKind.OTHER,
            label=f"Last word of the holder of Position {debate.setup.letter(agent)}",
            text=contribution.text,
            ends_shared=number == len(contributions),
            trim_priority=3,
        )
        for number, (agent, contribution) in enumerate(contributions.items(), start=1)
    ]


def in_cache_order(debate: Debate, reader: str, parts: Mapping[str, Part]) -> Sequence[Part]:
    """All parts except the reader's own, with cache breakpoints after shared beginnings.

    Each agent reads all parts but its own, so no two lists are equal. To share long beginnings the
    roster is halved again and again: the parts of the half without the reader come first, as the
    same text for all agents of the reader's half; then the same within that half. In roster order
    only the last agents would share anything.
    """
    result: list[Part] = []
    group = roster(debate)
    while reader in group and len(group) > 1:
        middle = len(group) // 2
        halves = group[:middle], group[middle:]
        own_half, other_half = halves if reader in halves[0] else halves[::-1]
        result += [parts[agent] for agent in other_half if agent in parts]
        if len(own_half) > 1 and result:
            result[-1] = replace(result[-1], ends_shared=True)
        group = own_half
    return result


def first_paragraphs(text: str, most: int = IN_SHORT) -> str:
    """As many whole paragraphs as fit; if the first is too long, its first words. Marks the cut."""
    if len(text) <= most:
        return text
    room, beginning = most - len(CUT_MARK), ""
    for paragraph in text.split("\n\n"):
        longer = f"{beginning}\n\n{paragraph}" if beginning else paragraph
        if len(longer) > room:
            break
        beginning = longer
    beginning = beginning or "".join(text[:room].rsplit(None, 1)[:1])
    return beginning.rstrip() + CUT_MARK


def in_brief(contribution: Contribution, most: int = IN_SHORT) -> str:
    """The answer and points of a contribution; without points its first paragraphs."""
    if not contribution.points:
        return first_paragraphs(contribution.text, most)
    return "\n- ".join((contribution.answer, *contribution.points))


def excerpt(text: str, label: str) -> str:
    """The beginning of a text, with the label of the part above that contains the full text."""
    return f"{first_paragraphs(text, _BEGINNING)}\n(In full above, in: {label}.)"
