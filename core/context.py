"""What an agent sees on its turn, as labelled parts: shared ones first, its own last (pure).

The question, its context and people's notes are in every prompt. Other agents are never named to
one another; the judge sees names, because it has to say who dissents.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from core.formats.critique import critiques_of
from core.formats.registry import format_of, is_cut_short
from core.models import Act, Contribution, Debate, Turn
from core.prompts import render
from core.request import Part, PartKind

#: Longest text asked for, in words, by act.
WORDS = {
    Act.PROPOSAL: 350,
    Act.CRITIQUE: 250,
    Act.REFINEMENT: 450,
    Act.SYNTHESIS: 500,
}


@dataclass(frozen=True)
class Candidate:
    """A position as one voter sees it: under a neutral label."""

    label: str
    position: str
    text: str


def parts_for(debate: Debate, turn: Turn) -> tuple[Part, ...]:
    """Everything the agent is shown on this turn, the task last."""
    return (*_shared(debate), *_own(debate, turn), *_notes(debate), _task(debate, turn))


def candidates(debate: Debate, voter: str) -> tuple[Candidate, ...]:
    """All final positions under labels p1…pN, shuffled for this voter.

    The order depends on the debate and the voter only, so that a repeated call asks the same.
    Shuffling against position bias: "Large Language Models are not Fair Evaluators"
    (arXiv:2305.17926).
    """
    positions = format_of(debate).positions(debate)
    seed = f"{debate.setup.delimiter}/{voter}/"
    order = sorted(positions, key=lambda agent: hashlib.sha256((seed + agent).encode()).digest())
    return tuple(
        Candidate(label=f"p{number}", position=agent, text=positions[agent].text)
        for number, agent in enumerate(order, start=1)
    )


def note_labels(debate: Debate) -> tuple[str, ...]:
    """The labels notes go by in prompts: n1, n2, and so on."""
    return tuple(f"n{number}" for number, _ in enumerate(debate.notes, start=1))


def _shared(debate: Debate) -> Sequence[Part]:
    """What every agent sees, the same text for all."""
    question = Part(kind=PartKind.QUESTION, label="Question", text=debate.setup.question)
    if not debate.setup.context:
        return (_ending_shared(question),)
    context = Part(kind=PartKind.CONTEXT, label="Context", text=debate.setup.context)
    return (question, _ending_shared(context))


def _ending_shared(part: Part) -> Part:
    return Part(kind=part.kind, label=part.label, text=part.text, ends_shared=True)


def _notes(debate: Debate) -> Sequence[Part]:
    """What people added while the debate ran."""
    if not debate.notes:
        return ()
    lines = (
        f"{label} ({note.author.name or 'somebody'}): {note.text}"
        for label, note in zip(note_labels(debate), debate.notes, strict=True)
    )
    return (Part(kind=PartKind.NOTES, label="Notes people added", text="\n".join(lines)),)


def _own(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What this turn is about."""
    match turn.act:
        case Act.CRITIQUE:
            return _under_review(debate, turn)
        case Act.REFINEMENT:
            return _with_critiques(debate, turn)
        case Act.BALLOT:
            return tuple(
                Part(kind=PartKind.CANDIDATE, label=candidate.label, text=candidate.text)
                for candidate in candidates(debate, turn.agent)
            )
        case Act.SYNTHESIS:
            return (*_final_positions(debate), *_tally(debate))
        case _:
            return ()


def _under_review(debate: Debate, turn: Turn) -> Sequence[Part]:
    target = turn.target or ""
    proposal = debate.text_of(Act.PROPOSAL, turn.round, target)
    parts = [Part(kind=PartKind.POSITION, label="Proposal under review", text=proposal)]
    earlier = debate.text_of(Act.CRITIQUE, turn.round - 1, turn.agent, target)
    if earlier:
        label = "Your critique of its earlier version"
        parts.append(Part(kind=PartKind.OTHER, label=label, text=earlier))
    return parts


def _with_critiques(debate: Debate, turn: Turn) -> Sequence[Part]:
    own = debate.text_of(Act.PROPOSAL, turn.round, turn.agent)
    critiques = critiques_of(debate, turn.round, turn.agent)
    return (
        Part(kind=PartKind.OWN, label="Your proposal", text=own),
        *(
            Part(
                kind=PartKind.CRITIQUE,
                label=f"Critique {number} of {len(critiques)}",
                text=critique.text,
            )
            for number, critique in enumerate(critiques, start=1)
        ),
    )


def _final_positions(debate: Debate) -> Sequence[Part]:
    """All final positions, by name; in the order of the vote when there was one."""
    positions = format_of(debate).positions(debate)
    order = [score.position for score in debate.tally.scores] if debate.tally else list(positions)
    return tuple(_final_position(debate, agent, positions[agent]) for agent in order)


def _final_position(debate: Debate, agent: str, position: Contribution) -> Part:
    label = f"Position of {debate.setup.agent(agent).name}"
    return Part(kind=PartKind.POSITION, label=label, text=position.text)


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
        for ballot in debate.ballots.values()
        if ballot.ranking[0] in ballot.reasons
    ]
    return (Part(kind=PartKind.TALLY, label="The vote", text="\n".join(lines)),)


def _task(debate: Debate, turn: Turn) -> Part:
    role = debate.setup.agent(turn.agent).role
    text = render.task(turn.act, role, **_task_values(debate, turn))
    return Part(kind=PartKind.TASK, label="Task", text=text)


def _task_values(debate: Debate, turn: Turn) -> dict[str, object]:
    values: dict[str, object] = {"words": WORDS.get(turn.act, 0)}
    match turn.act:
        case Act.CRITIQUE:
            values["repeated"] = turn.round > 1
        case Act.BALLOT:
            labels = [candidate.label for candidate in candidates(debate, turn.agent)]
            values |= {"count": len(labels), "labels": ", ".join(labels)}
        case Act.SYNTHESIS:
            values["winner"] = _winner_words(debate)
            values["partial"] = is_cut_short(debate)
            values["notes"] = ", ".join(note_labels(debate)) or "there are none"
        case _:
            pass
    return values


def _winner_words(debate: Debate) -> str:
    """Whose position the judge starts from."""
    names = [
        debate.setup.agent(agent).name for agent in (debate.tally.winners if debate.tally else ())
    ]
    if not names:
        return "the position that meets the requirements best (there was no vote)"
    if len(names) == 1:
        return f"the winner of the vote, the position of {names[0]}"
    return f"the tied winners of the vote, the positions of {' and '.join(names)}"
