"""What a step shows of what was said, as parts whose beginnings prompts share (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Part, PartKind, numbered_parts
from core.rules.steps import After, Format, Show

CUT_MARK = " […]"
#: Characters of another position where it is only shown for comparison.
IN_SHORT = 900
#: Characters by which an agent knows its own text again.
_BEGINNING = 160


def own_text(
    source: After,
    label: str,
    *,
    kind: PartKind = PartKind.OWN,
    in_short: bool = False,
    trim_priority: int = 1,
) -> Show:
    """What the agent said on an earlier turn; `{letter}` in the label stands for its letter."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        named = label.format(letter=debate.setup.letter(turn.agent))
        parts = list[Part]()
        for each in form.turns_of(turn, source, ()):
            if said := debate.contributions.get(each.key):
                text = in_brief(said) if in_short else said.text
                parts.append(Part(kind=kind, label=named, text=text, trim_priority=trim_priority))
        return parts

    return show


def newest_position(label: str) -> Show:
    """What the agent stood for last, in whichever earlier round that was."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        said = form.positions(debate, turn.round - 1).get(turn.agent)
        text = said.text if said else ""
        return [Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)] if text else []

    return show


def critiques(source: After, label: str) -> Show:
    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        roster = [agent.id for agent in debate.setup.agents]
        keys = [each.key for each in form.turns_of(turn, source, roster)]
        said = debate.contributions
        texts = [said[key].text for key in keys if key in said]
        return numbered_parts(PartKind.CRITIQUE, label, texts)

    return show


def others_unnamed(
    act: Act,
    label: str,
    *,
    kind: PartKind = PartKind.OTHER,
    in_short: bool = False,
    trim_priority: int = 2,
) -> Show:
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
    """The others' positions under their letters, so that each can be answered by name.

    Agents without a text in that step have their newest position there.
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
    """All rebuttals, under the letters of their authors: for the voters."""
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


def in_cache_order(debate: Debate, me: str, parts: Mapping[str, Part]) -> Sequence[Part]:
    """The parts that others than `me` have, with a cache breakpoint where a shared beginning ends.

    Everybody reads all but its own, so no two lists are equal. The roster is halved again and
    again: what the half an agent is not in has said comes first, the same for all of its own half;
    then the same within that half. A vendor caches what the halves share. In roster order only
    those late in it would share anything.
    """
    result: list[Part] = []
    group = [agent.id for agent in debate.setup.agents]
    while me in group and len(group) > 1:
        middle = len(group) // 2
        halves = group[:middle], group[middle:]
        mine, far = halves if me in halves[0] else halves[::-1]
        result += [parts[agent] for agent in far if agent in parts]
        if len(mine) > 1 and result:
            result[-1] = replace(result[-1], ends_shared=True)
        group = mine
    return result


def first_paragraphs(text: str, most: int = IN_SHORT) -> str:
    """As many whole paragraphs as fit; where not even the first does, its words, cut visibly."""
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
    """The answer and points that end a speech; its first paragraphs where it has none."""
    if not contribution.points:
        return first_paragraphs(contribution.text, most)
    return "\n- ".join((contribution.answer, *contribution.points))


def excerpt(text: str, above: str) -> str:
    """How a text begins, and under which label above it stands in full."""
    return f"{first_paragraphs(text, _BEGINNING)}\n(In full above, in: {above}.)"
