"""What a step shows of what was said, as parts whose beginnings prompts share (pure).

Everybody reads all but its own, so no two lists are equal. The roster is halved again and again:
what the half an agent is not in has said comes first, the same for all of its own half; then the
same within that half. A vendor caches what the halves share. In roster order only those late in it
would share anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Part, PartKind, numbered_parts
from core.rules.formats.opening_words import in_brief
from core.rules.steps import After, Format, Show


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
        turns = form.turns_of(turn, source, ())
        contributions = (debate.contributions.get(turn.key) for turn in turns)
        return [
            Part(
                kind=kind,
                label=named,
                text=in_brief(contribution) if in_short else contribution.text,
                trim_priority=trim_priority,
            )
            for contribution in contributions
            if contribution
        ]

    return show


def newest_position(label: str) -> Show:
    """What the agent stood for last, in whichever earlier round that was."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        contribution = (
            form.positions(debate, turn.round - 1).get(turn.agent) if turn.round > 1 else None
        )
        text = contribution.text if contribution else ""
        return [Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)] if text else []

    return show


def critiques(source: After, label: str) -> Show:
    """What others said about the agent's text, in roster order: "Critique 1 of 3"."""

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        roster = [agent.id for agent in debate.setup.agents]
        contributions = (
            debate.contributions.get(step.key) for step in form.turns_of(turn, source, roster)
        )
        return numbered_parts(
            PartKind.CRITIQUE,
            label,
            [contribution.text for contribution in contributions if contribution],
        )

    return show


def others_unnamed(
    act: Act,
    label: str,
    *,
    kind: PartKind = PartKind.OTHER,
    in_short: bool = False,
    trim_priority: int = 2,
) -> Show:
    """The others' texts of a step, in cache order, without names."""

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


def others_by_letter(act: Act, *, in_short: bool = False, or_newest: bool = False) -> Show:
    """The others' positions under their letters, so that each can be answered by name.

    Args:
        act: The step in which they were taken.
        in_short: Only their answers and points.
        or_newest: For agents without a text in that step, their newest position.
    """

    def show(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
        contributions = form.contributions(debate, act)
        contributions = {**form.positions(debate), **contributions} if or_newest else contributions
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


def last_words(form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
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
    """The others' parts, with a cache breakpoint where a shared beginning ends.

    Args:
        debate: With the roster, whose order is the same for every reader.
        me: Id of the reading agent.
        parts: By agent; agents without a part are left out.
    """
    result: list[Part] = []
    for agent, is_shared in _others_first_shared(me, [agent.id for agent in debate.setup.agents]):
        result += [parts[agent]] if agent in parts else []
        if is_shared and result:
            result[-1] = replace(result[-1], ends_shared=True)
    return result


def _others_first_shared(me: str, roster: Sequence[str]) -> Sequence[tuple[str, bool]]:
    """The others in this agent's reading order, and whether what was read up to there is shared."""
    order: list[tuple[str, bool]] = []
    group = list(roster)
    while me in group and len(group) > 1:
        middle = len(group) // 2
        halves = group[:middle], group[middle:]
        mine, far = halves if me in halves[0] else halves[::-1]
        order += [(agent, agent == far[-1] and len(mine) > 1) for agent in far]
        group = mine
    return order
