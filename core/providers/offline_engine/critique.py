"""Writes a critique: what a position says, what it leaves out, what this role would change."""

from core.providers.offline_engine.checklist import Check
from core.providers.offline_engine.material import Material
from core.providers.offline_engine.positions import Position, checks_met, checks_missing, piece_about
from core.providers.offline_engine.proposal import small_title, spread
from core.providers.offline_engine.requirements import Requirement
from core.providers.offline_engine.weighing import CLEAR, Weighed, fate_of, find
from core.providers.offline_engine.wording import (
    bullets,
    capital,
    full_stop,
    pick,
    post,
    quote,
    section,
    small,
)

_GAPS = 2
_HOLDS = ("What holds", "What I would keep", "What convinces me")
_LACKS = ("What is missing", "What it leaves out", "Where it stays silent")
_CHANGE = ("What I would change", "What would win me over", "My request")


def critique(material: Material) -> str:
    """A critique of the position the request is about."""
    target = material.positions[0].text if material.positions else ""
    position = material.position(target)
    lacking = checks_missing(spread(material.role, material.reading), position.text)
    demands = position.missing[:_GAPS]
    seeds = (material.role.title, target)
    return post(
        f"**{_verdict(material, position, lacking)}**",
        section(pick(_HOLDS, *seeds), _holds(material, position)),
        section(pick(_LACKS, *seeds), bullets(_gaps(position, demands, lacking[:_GAPS]))),
        section(pick(_CHANGE, *seeds), _change(material, position, lacking)),
    )


def _verdict(material: Material, position: Position, lacking: tuple[Check, ...]) -> str:
    takes = position.option.name if position.option else "no option I can recognise"
    subject = f"The proposal takes {takes}"
    if position.missing:
        return f"{subject}, and says nothing about {quote(position.missing[0].text, 60)}."
    if lacking:
        return f"{subject} and covers what was demanded; seen from {material.role.title}, gaps remain."
    return f"{subject}, and from {material.role.title} I have little to add."


def _holds(material: Material, position: Position) -> str:
    """The piece of the text this role agrees with most, quoted."""
    met = checks_met(material.role.relevant(material.reading.topics), position.text)
    if met and (piece := piece_about(position.text, met[0].words)):
        return f"{quote(piece, 100)} is on my list too, and it is there in so many words."
    if position.met:
        piece = piece_about(position.text, position.met[0].words)
        return f"It takes up {quote(position.met[0].text, 60)}: {quote(piece, 110)}."
    return f"It commits itself: {quote(position.claim, 100)}." if position.claim else ""


def _gaps(
    position: Position, demands: tuple[Requirement, ...], lacking: tuple[Check, ...]
) -> list[str]:
    lines = [_demand_gap(position, requirement) for requirement in demands]
    lines += [f"{check.ask} {check.otherwise}" for check in lacking]
    return lines or ["Nothing on my list; what is left is to measure it."]


def _demand_gap(position: Position, requirement: Requirement) -> str:
    line = f"{quote(requirement.text, 100)} ({requirement.level}) is not dealt with."
    if not position.option:
        return line
    fate = fate_of(position.option, requirement)
    return line if fate.outcome == "unknown" else f"{line} From my list: {full_stop(small(fate.text))}"


def _change(material: Material, position: Position, lacking: tuple[Check, ...]) -> str:
    lines = [capital(lacking[0].do)] if lacking else []
    if position.option:
        lines.append(preference(material, find(material.ranked, position.option)))
    return " ".join(lines)


def preference(material: Material, taken: Weighed) -> str:
    """Whether this role would have taken the same option, and why not."""
    best = material.ranked[0]
    if best.option == taken.option:
        return "I would not change the choice itself."
    clear = best.score - taken.score >= CLEAR
    margin = "clearly ahead" if clear else "ahead by a little"
    reason = best.pros[0].text if best.pros else ""
    against = taken.cons[0].text if taken.cons else reason
    because = small_title(against if clear and taken.cons else reason or against)
    tail = f": {because}" if because else "."
    return f"By my criteria {best.option.name} is {margin}{tail}"
