"""Ranks positions: which requirements a text covers, what the voter values, what it asks for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklist import catalogue
from core.llm.providers.offline_engine.checks import relevant, spread
from core.llm.providers.offline_engine.critique import KEEP
from core.llm.providers.offline_engine.material import Material, Text, moved_in
from core.llm.providers.offline_engine.moving import wanted_in
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.positions import Position, checks_met, items_under
from core.llm.providers.offline_engine.requirements import Level, Requirement
from core.llm.providers.offline_engine.weighing import Weighed, fate_of, find, is_known
from core.llm.providers.offline_engine.wording import plain, quote, rank_of

#: Points for a requirement that a text deals with.
_COVERED = {Level.MUST: 3.0, Level.SHOULD: 1.5, Level.FIGURE: 2.0}
#: Share of them where the option strains it, or nothing known says that the option meets it.
_NOT_SHOWN = 0.5
#: More points for a point of the voter's checklist, and how many of them count: as many as a text
#: by another role can have taken up, so that nobody's own list speaks for its own text only.
_CHECK = 0.6
_MOST_CHECKS = 2
#: Points for a point of any role's checklist, the voter's own among them, and how many count.
_ANY_CHECK = 0.3
_MOST_OF_ALL = 16
#: Points that an option's score is worth, so that texts count beside it.
_OPTION = 0.6
#: Points for the option that the voter has moved to.
_MOVED = 4.0
#: Points for the option that the voter speaks for where its checklists know none of them.
_ADVOCATED = 1.0
#: Points for taking no option at all.
_NO_OPTION = -6.0
#: A lead in points that makes a voter as sure as the engine ever is.
_SURE = 12.0
_LABEL = re.compile(r"\bp\d{1,2}\b")


@dataclass(frozen=True)
class Judged:
    """A candidate with a voter's points and what they were given for."""

    label: str
    points: float
    position: Position
    reason: str


def rank(
    material: Material, candidates: Sequence[Text], own: Text | None = None
) -> tuple[Judged, ...]:
    """All candidates, best first; equal ones in an order that their labels do not decide."""
    moved = moved_in(own.text, material.reading) if own else None
    judged = [_judged(material, candidate, moved) for candidate in candidates]
    return tuple(
        sorted(judged, key=lambda j: (-j.points, rank_of(plain(j.position.text)), j.label))
    )


def ballot(material: Material) -> dict[str, object]:
    """A ranked ballot with a reason each and a confidence that follows from the margin."""
    own = own_among(material, material.candidates)
    ranked = rank(material, material.candidates, own)
    return {
        "ranking": [judged.label for judged in ranked],
        "reasons": [judged.reason for judged in ranked],
        "confidence": confidence(ranked),
        "moved_by": moved_by(material, ranked[0], own) if ranked else "",
    }


def confidence(ranked: Sequence[Judged]) -> float:
    """0.35 to 0.9, by how far the first is ahead of the second."""
    if len(ranked) < 2:  # noqa: PLR2004 - no margin without a second
        return 0.5
    margin = ranked[0].points - ranked[1].points
    return round(0.35 + 0.55 * min(margin / _SURE, 1.0), 2)


def own_among(material: Material, candidates: Sequence[Text]) -> Text | None:
    """The voter's own position, known by its own heading and first step; None if in doubt."""
    how = material.role.headings.how
    begins = {
        checks[0].do
        for option in material.reading.options
        if (checks := spread(material.role, material.reading, option))
    }
    mine = [text for text in candidates if begins.intersection(items_under(text.text, how)[:1])]
    return mine[0] if len(mine) == 1 else None


def moved_by(material: Material, first: Judged, own: Text | None) -> str:
    """The critique of the voter's earlier first choice that speaks most for the one it has now."""
    if own and label_of(own.label) == first.label:
        return ""
    scored = [(_speaks_for(material, critique, first), critique) for critique in material.critiques]
    best = max((score for score, _ in scored), default=0)
    return next((critique.label for score, critique in scored if score == best > 0), "")


def _speaks_for(material: Material, critique: Text, first: Judged) -> int:
    """How much a critique says that the first choice does better: its option, its steps."""
    wanted, _ = wanted_in(critique.text, material.reading.options)
    named = [c for c in relevant(material.role, material.reading) if c.ask in critique.text]
    missing = [r for r in first.position.met if f"“{r.text[:40]}" in critique.text]
    return (
        3 * (wanted is not None and wanted == first.position.option)
        + (KEEP in critique.text)
        + sum(check.is_met_by(first.position.text) for check in named)
        + len(missing)
    )


def label_of(text: str) -> str:
    """The label of a candidate: the `p1` in what stands over it, else all of that."""
    found = _LABEL.search(text)
    return found[0] if found else text


def _judged(material: Material, candidate: Text, moved: Option | None) -> Judged:
    position = material.position(candidate.text)
    taken = find(material.ranked, position.option) if position.option else None
    met = checks_met(relevant(material.role, material.reading), position.text)
    every = _all_met(material, position)
    points = sum(_worth(taken, requirement) for requirement in position.met)
    points += _CHECK * min(len(met), _MOST_CHECKS) + _ANY_CHECK * min(every, _MOST_OF_ALL)
    points += _OPTION * taken.score if taken else _NO_OPTION
    points += _MOVED if moved and position.option == moved else 0.0
    if not moved and taken == material.ranked[0] and not is_known(material.ranked):
        points += _ADVOCATED
    reason = _reason(position, taken, len(met))
    return Judged(label_of(candidate.label), round(points, 3), position, reason)


def _worth(taken: Weighed | None, requirement: Requirement) -> float:
    """Points for a requirement that a text speaks of: all only where its option meets it."""
    fits = bool(taken and fate_of(taken.option, requirement).outcome == "fits")
    return _COVERED[requirement.level] * (1.0 if fits else _NOT_SHOWN)


def _all_met(material: Material, position: Position) -> int:
    """How many points of all roles' checklists a text deals with: the same for every voter."""
    roles = catalogue().roles.values()
    asked = {check.ask: check for role in roles for check in relevant(role, material.reading)}
    return len(checks_met(asked.values(), position.text))


def _reason(position: Position, taken: Weighed | None, met: int) -> str:
    parts = [_coverage(position, taken)]
    if position.missing:
        parts.append(f"leaves out {quote(position.missing[0].text, 45)}")
    parts.append(_on_option(taken))
    asked = f"{met} point{'s' if met != 1 else ''} of my checklist"
    parts.append(f"has {asked}" if met else "has nothing from my checklist")
    return "; ".join(part for part in parts if part)


def _coverage(position: Position, taken: Weighed | None) -> str:
    """How much of what was required a text deals with; what nothing known speaks about is open."""
    total = len(position.met) + len(position.missing)
    fates = {fate.requirement: fate for fate in taken.fates} if taken else {}
    left = [r for r in position.met if r in fates and fates[r].outcome == "unknown"]
    if not total:
        return ""
    met = len(position.met) - len(left)
    dealt = "all that was required" if met == total else f"{met} of {total} requirements"
    said = f"deals with {dealt}"
    return f"{said} and leaves {quote(left[0].text, 45)} open" if left else said


def _on_option(taken: Weighed | None) -> str:
    if not taken:
        return "takes no option I can recognise"
    failed = next((fate for fate in taken.fates if fate.outcome == "fails"), None)
    if failed:
        return f"{taken.option.name} fails {quote(failed.requirement.text, 45)}"
    best = next(iter(taken.pros), None) or next(iter(taken.cons), None)
    return best.clause if best else f"takes {taken.option.name}"
