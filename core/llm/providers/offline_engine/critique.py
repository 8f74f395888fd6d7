"""Writes a critique: what a position says, what it leaves out, what this role would change."""

from core.llm.providers.offline_engine.checklist import Check
from core.llm.providers.offline_engine.checks import relevant, spread
from core.llm.providers.offline_engine.material import Material
from core.llm.providers.offline_engine.positions import (
    Position,
    checks_met,
    checks_missing,
    piece_about,
)
from core.llm.providers.offline_engine.requirements import Requirement
from core.llm.providers.offline_engine.weighing import CLEAR, Weighed, fate_of, find, is_known
from core.llm.providers.offline_engine.wording import (
    bullets,
    capital,
    normal,
    pick,
    post,
    quote,
    section,
    sentences,
    small,
)

#: What a critic says that would take another option, and how it says that it would not.
CLEARLY_AHEAD = "clearly ahead"
KEEP = "The choice itself I would keep."
_GAPS = 2
_HOLDS = ("What holds", "What I would keep", "What convinces me")
_LACKS = ("What is missing", "What it leaves out", "Where it stays silent")
_CHANGE = ("What I would change", "What would win me over", "My request")


def critique(material: Material) -> str:
    """A critique of the position the request is about."""
    target = material.positions[0].text if material.positions else ""
    position = material.position(target)
    lacking = _unsaid_first(material, position)
    demands = position.missing[:_GAPS]
    seeds = (material.role.title, target)
    return post(
        f"**{_verdict(material, position, lacking)}**",
        section(pick(_HOLDS, *seeds), _holds(material, position)),
        section(pick(_LACKS, *seeds), bullets(_gaps(position, demands, lacking[:_GAPS]))),
        section(pick(_CHANGE, *seeds), _change(material, position, lacking)),
    )


def _unsaid_first(material: Material, position: Position) -> tuple[Check, ...]:
    """What the text does not deal with; points of this critic's earlier critique come last."""
    lacking = checks_missing(
        spread(material.role, material.reading, position.option), position.text
    )
    earlier = normal("\n".join(text.text for text in material.others))
    return tuple(sorted(lacking, key=lambda check: normal(check.ask).strip() in earlier))


def _verdict(material: Material, position: Position, lacking: tuple[Check, ...]) -> str:
    takes = position.option.name if position.option else "no option I can recognise"
    subject = f"The proposal is for {takes}"
    if position.missing:
        return f"{subject} and says nothing about {quote(position.missing[0].text, 60)}."
    if lacking:
        return f"{subject} and leaves this open: {small(lacking[0].ask)}"
    return f"{subject}, and from {material.role.title} I have little to add."


def _holds(material: Material, position: Position) -> str:
    """The piece of the text this role agrees with most, quoted."""
    met = checks_met(relevant(material.role, material.reading), position.text)
    pieces = [piece_about(position.text, check.words) for check in met]
    if piece := next((piece for piece in pieces if piece and not _is_quote(piece)), ""):
        return f"{quote(piece, 120)} stands on my list too."
    if reason := _shared_reason(material, position):
        return f"{quote(reason, 120)} is a fair point, also from where I stand."
    if position.met:
        return _takes_up(position)
    return f"It commits itself: {quote(position.claim, 100)}." if position.claim else ""


def _shared_reason(material: Material, position: Position) -> str:
    """The sentence of the text that gives a reason this role values."""
    if not position.option:
        return ""
    reasons = find(material.ranked, position.option).pros
    valued = [normal(reason.says).strip() for reason in reasons if reason.valued > 0]
    said = sentences(position.text)
    return next((s for says in valued for s in said if says in normal(s) and not _is_quote(s)), "")


def _is_quote(piece: str) -> bool:
    return piece.startswith(("“", '"', "I ")) or piece.endswith("?")


def _takes_up(position: Position) -> str:
    """The requirement that the text deals with best, and what it says to it if that is good."""
    option = position.option
    good = [r for r in position.met if option and fate_of(option, r).outcome == "fits"]
    taken = (good or position.met)[0]
    said = piece_about(position.text, taken.words).rsplit("”:", 1)[-1].strip(" :") if good else ""
    tail = f" and says: {quote(said, 110)}." if said else "."
    return f"It takes up {quote(taken.text, 60)}{tail}"


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
    return line if fate.outcome == "unknown" else f"{line} My list says: {fate.text}."


def _change(material: Material, position: Position, lacking: tuple[Check, ...]) -> str:
    lines = [capital(lacking[0].do)] if lacking else []
    if position.option:
        lines.append(preference(material, find(material.ranked, position.option)))
    return " ".join(lines)


def preference(material: Material, taken: Weighed) -> str:
    """Whether this role would have taken the same option, and why not."""
    best = material.first_choice
    if best.option == taken.option:
        return KEEP
    if not is_known(material.ranked):
        return "Between the options my checklists cannot decide; people who know them have to."
    if material.moved_to:
        return (
            f"Since the last round I am for {best.option.name}{_because(best, taken, clear=False)}."
        )
    clear = best.score - taken.score >= CLEAR
    margin = CLEARLY_AHEAD if clear else "ahead by a little"
    return f"By my criteria {best.option.name} is {margin}{_because(best, taken, clear=clear)}."


def _because(best: Weighed, taken: Weighed, *, clear: bool) -> str:
    """The weightiest reason: against what was taken if that is clear, else for the better one."""
    against, merits = taken.cons[:1], best.pros[:1]
    in_order = (*against, *merits) if clear else (*merits, *against)
    reasons = sorted(in_order, key=lambda reason: reason.valued == 0)
    return f", because {reasons[0].clause}" if reasons else ""
