"""What an agent sees on its turn, as labelled parts: shared ones first, its own last (pure).

The question, its context, people's answers and notes are in every prompt. Other agents are never
named to one another; the judge sees names, because it has to say who dissents.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.models import Act, Contribution, Debate, Turn
from core.request import Part, PartKind
from core.rules import facts, voting
from core.rules.formats.registry import format_of
from core.rules.history.registry import judge_summary, strategy_of
from core.turns.acts import ACTS


@dataclass(frozen=True)
class Candidate:
    """A position as one voter sees it: under a neutral label."""

    label: str
    position: str
    text: str


def parts_for(debate: Debate, turn: Turn) -> tuple[Part, ...]:
    """Everything the agent is shown on this turn but its task."""
    return (
        *_question(debate),
        *_shared_first(_history(debate, turn), _about(debate, turn)),
        *_notes(debate),
        *_lost_facts(debate, turn),
    )


def candidates(debate: Debate, turn: Turn) -> tuple[Candidate, ...]:
    """The positions on a ballot under labels p1…pN, shuffled for this voter.

    The order depends on the debate, the round and the voter only, so that a repeated call asks the
    same. Shuffling against position bias: "Large Language Models are not Fair Evaluators"
    (arXiv:2305.17926).
    """
    form = format_of(debate)
    positions = form.positions(debate, turn.round) if turn.round else form.drafts(debate)
    seed = f"{debate.setup.delimiter}/{turn.key}/"
    order = sorted(positions, key=lambda agent: hashlib.sha256((seed + agent).encode()).digest())
    return tuple(
        Candidate(label=f"p{number}", position=agent, text=positions[agent].text)
        for number, agent in enumerate(order, start=1)
    )


def first_choice_before(debate: Debate, turn: Turn) -> str | None:
    """Whose draft this voter ranked first before the debate."""
    blind = Turn(act=Act.BALLOT, round=0, agent=turn.agent)
    ballot = debate.ballots.get(blind.key)
    return ballot.ranking[0] if ballot and turn.round else None


def critiques_shown(debate: Debate, turn: Turn) -> Sequence[Contribution]:
    """The newest critiques of the voter's first choice before the debate, by label c1…cK."""
    before = first_choice_before(debate, turn)
    about = [
        made
        for made in debate.contributions.values()
        if before and made.turn.act is Act.CRITIQUE and made.turn.target == before
    ]
    last = max((critique.turn.round for critique in about), default=0)
    return [critique for critique in about if critique.turn.round == last]


def note_labels(debate: Debate) -> tuple[str, ...]:
    """The labels notes go by in prompts: n1, n2, and so on."""
    return tuple(f"n{number}" for number, _ in enumerate(debate.notes, start=1))


def _question(debate: Debate) -> Sequence[Part]:
    """What every agent sees first, the same text for all."""
    parts = [Part(kind=PartKind.QUESTION, label="Question", text=debate.setup.question)]
    if debate.setup.context:
        parts.append(Part(kind=PartKind.CONTEXT, label="Context", text=debate.setup.context))
    answered = _clarifications(debate)
    if answered:
        label = "What people were asked"
        parts.append(Part(kind=PartKind.CLARIFICATIONS, label=label, text=answered))
    parts[-1] = replace(parts[-1], ends_shared=True)
    return parts


def _shared_first(*groups: Sequence[Part]) -> Sequence[Part]:
    """The parts of all groups, those that others see too before those of this agent alone.

    A provider caches the common beginning of prompts: what only one agent has, such as its own
    history, would end it there, and what follows would be cached for nobody.
    """
    ends = [_shared(group) for group in groups]
    shared = [part for group, end in zip(groups, ends, strict=True) for part in group[:end]]
    own = [part for group, end in zip(groups, ends, strict=True) for part in group[end:]]
    return [*shared, *own]


def _shared(parts: Sequence[Part]) -> int:
    """How many of the parts, from the first on, other agents see as well."""
    return max((at for at, part in enumerate(parts, start=1) if part.ends_shared), default=0)


def _clarifications(debate: Debate) -> str:
    """Questions with answers; "NA" and the assumption where nobody answered."""
    items = (item for asked in debate.clarifications.values() for item in asked.items)
    lines: list[str] = []
    for item in items:
        answer = debate.answers.get(item.number)
        said = answer.text if answer else ""
        lines.append(f"{item.number}. {_inset(item.question)}")
        lines.append(f"   Answer: {_inset(said)}" if said else f"   NA. Assume: {item.assumption}")
    return "\n".join(lines)


def _history(debate: Debate, turn: Turn) -> Sequence[Part]:
    if not ACTS[turn.act].sees_history or turn.round == 0:
        return ()
    return strategy_of(debate, turn.agent).history(debate, turn)


def _notes(debate: Debate) -> Sequence[Part]:
    """What people added while the debate ran."""
    if not debate.notes:
        return ()
    lines = (
        f"{label} ({' '.join(note.author.name.split()) or 'somebody'}): {_inset(note.text)}"
        for label, note in zip(note_labels(debate), debate.notes, strict=True)
    )
    return (Part(kind=PartKind.NOTES, label="Notes people added", text="\n".join(lines)),)


def _inset(text: str) -> str:
    """The text with its further lines moved in, so that none passes for the next entry."""
    return "\n    ".join(text.splitlines())


def _about(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What this turn is about."""
    match turn.act:
        case Act.BALLOT:
            return _ballot(debate, turn)
        case Act.SYNTHESIS:
            return (*_final_positions(debate), *_tally(debate))
        case _:
            return format_of(debate).sees(debate, turn)


def _ballot(debate: Debate, turn: Turn) -> Sequence[Part]:
    shown = [
        Part(kind=PartKind.CANDIDATE, label=one.label, text=one.text, trim_priority=2)
        for one in candidates(debate, turn)
    ]
    critiques = [
        Part(kind=PartKind.CRITIQUE, label=f"c{number}", text=critique.text, trim_priority=3)
        for number, critique in enumerate(critiques_shown(debate, turn), start=1)
    ]
    return (*shown, *critiques)


def _final_positions(debate: Debate) -> Sequence[Part]:
    """All final positions by name, in the order of the vote; or the judge's summary of them."""
    summary = judge_summary(debate)
    if summary:
        return (Part(kind=PartKind.SUMMARY, label="All positions in short", text=summary.text),)
    positions = format_of(debate).positions(debate)
    order = [score.position for score in debate.tally.scores] if debate.tally else list(positions)
    return tuple(
        Part(
            kind=PartKind.POSITION,
            label=f"Position of {debate.setup.agent(agent).name}",
            text=positions[agent].text,
            trim_priority=2,
        )
        for agent in order
        if agent in positions
    )


def _tally(debate: Debate) -> Sequence[Part]:
    """The counted vote and the voters' reasons for their first choice."""
    if not debate.tally:
        return ()
    lines = [
        f"{debate.setup.agent(score.position).name}: {score.points:g} points, "
        f"{score.first_places} first places"
        for score in debate.tally.scores
    ]
    lines += [
        f"{debate.setup.agent(ballot.voter).name} put "
        f"{debate.setup.agent(ballot.ranking[0]).name} first: {ballot.reasons[ballot.ranking[0]]}"
        for ballot in voting.counted(debate, debate.tally)
        if ballot.ranking[0] in ballot.reasons
    ]
    return (Part(kind=PartKind.TALLY, label="The vote", text="\n".join(lines)),)


def _lost_facts(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What the question demands and the text at hand has lost on the way."""
    if turn.act is Act.SYNTHESIS:
        texts = [position.text for position in format_of(debate).positions(debate).values()]
    elif ACTS[turn.act].keeps_facts:
        texts = [part.text for part in _about(debate, turn) if part.kind is PartKind.OWN]
    else:
        return ()
    lost = facts.lost(facts.ledger(debate), "\n".join(texts))
    if not texts or not lost:
        return ()
    text = "\n".join(f"- {fact.text}" for fact in lost)
    return (Part(kind=PartKind.FACTS, label="Not to be lost again", text=text),)
