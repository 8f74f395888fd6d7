"""Writes a refined position: what critiques named is taken up or turned down, with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.providers.offline_engine.checklist import Check, catalogue
from core.providers.offline_engine.material import Material
from core.providers.offline_engine.positions import Position, items_under, stance
from core.providers.offline_engine.proposal import (
    Plan,
    because,
    chosen_in,
    first_plan,
    language_note,
    needs,
    risks,
)
from core.providers.offline_engine.question import Reading
from core.providers.offline_engine.requirements import Requirement
from core.providers.offline_engine.weighing import CLEAR, Weighed, find
from core.providers.offline_engine.wording import (
    bullets,
    full_stop,
    normal,
    numbered,
    pick,
    post,
    quote,
    section,
    sentences,
    small,
)

_MOST_STEPS = 6
_MOST_POINTS = 3
#: What the word of one critic for another option is worth against one's own lead.
_PULL = 1.5
_FAIR = (
    "Not in my draft; the plan has a step for it now.",
    "Fair, or else {otherwise}",
    "Yes, that was missing, and it has become a step.",
    "I had not asked that. Accepted, because otherwise {otherwise}",
)
_NOT_NOW = (
    "Right, but not among the first steps; more than six and none gets done.",
    "A good question for the second month; it does not change the choice.",
    "Noted. It applies to every option alike, so it decides nothing here.",
)
_ACCEPTED = ("Accepted", "Taken up")
_REJECTED = ("Rejected", "Turned down")


@dataclass(frozen=True)
class Heard:
    """What a position does with its critiques."""

    accepted: tuple[str, ...]
    rejected: tuple[str, ...]
    demands: tuple[Requirement, ...]
    steps: tuple[str, ...]


def refinement(material: Material) -> str:
    """The agent's position after the critiques of it."""
    before = material.position(material.own)
    held = chosen_in(material, material.own)
    chosen, moved_by = _after_pull(material, held)
    heard = hear(material, before, held, chosen)
    plan = _plan(material, before, chosen, heard)
    role = material.role
    moved = f" {_moved(held, moved_by)}" if moved_by else ""
    return post(
        f"**{full_stop(chosen.option.say)}**{moved}",
        section(role.headings.needs, needs(material, chosen, plan.demands)),
        section(pick(_ACCEPTED, role.title), bullets(heard.accepted[:_MOST_POINTS])),
        section(pick(_REJECTED, role.title), bullets(heard.rejected[:_MOST_POINTS])),
        section(role.headings.why, because(material, chosen, 1)),
        section(role.headings.how, numbered(plan.steps)),
        section(role.headings.risks, risks(material, chosen)) if not heard.rejected else "",
        language_note(material.reading),
    )


def hear(material: Material, before: Position, held: Weighed, chosen: Weighed) -> Heard:
    """Sort the critiques' points into what is taken up and what is turned down."""
    texts = [critique.text for critique in material.critiques]
    named = [r for r in before.missing if any(r.is_met_in(text) for text in texts)]
    checks = _named_checks(material.reading, texts)
    new = [check for check in checks if not check.is_met_by(before.text)]
    there = [check for check in checks if check.is_met_by(before.text)]
    taken, later = new[: _MOST_POINTS - 1], new[_MOST_POINTS - 1 :]
    accepted = [_accept_demand(r) for r in named] + [_accept_check(material, c) for c in taken]
    rejected = [_keeps(held, rival) for rival in _pulls(material, held)[:1] if chosen == held]
    rejected += [_already(check, before) for check in there[:1]]
    rejected += [_later(material, check) for check in later[:1]]
    return Heard(
        accepted=tuple(accepted) or ("Nothing new was named, so nothing changes here.",),
        rejected=tuple(rejected),
        demands=tuple(named),
        steps=tuple(check.do for check in taken),
    )


def _plan(material: Material, before: Position, chosen: Weighed, heard: Heard) -> Plan:
    """What stood before with what was taken up; the role's own first steps and the newest stay."""
    old = items_under(before.text, material.role.headings.how) or first_plan(material).steps
    steps = tuple(dict.fromkeys((*old, *heard.steps)))
    kept = steps if len(steps) <= _MOST_STEPS else (*steps[:2], *steps[2 - _MOST_STEPS :])
    return Plan(chosen, tuple(dict.fromkeys((*before.met, *heard.demands)))[:4], kept)


def _named_checks(reading: Reading, texts: Iterable[str]) -> list[Check]:
    """Checks of any role that the critiques name, in the critiques' order."""
    wanted = [
        check for role in catalogue().roles.values() for check in role.relevant(reading.topics)
    ]
    said = [normal(s) for text in texts for s in sentences(text) if not s.startswith(("“", '"'))]
    asked = [(normal(check.ask), check) for check in wanted]
    found = [check for sentence in said for ask, check in asked if ask in sentence]
    if not found:
        found = [check for sentence in said for check in wanted if check.is_named_in(sentence)]
    return list({check.ask: check for check in found}.values())


def _accept_demand(requirement: Requirement) -> str:
    return f"{quote(requirement.text, 80)} was missing; it is dealt with now."


def _accept_check(material: Material, check: Check) -> str:
    reply = pick(_FAIR, material.role.title, check.ask)
    return f"{quote(check.ask, 90)} {reply.format(otherwise=small(check.otherwise))}"


def _later(material: Material, check: Check) -> str:
    reply = pick(_NOT_NOW, material.role.title, check.ask)
    return f"{quote(check.ask, 90)} {reply}"


def _already(check: Check, before: Position) -> str:
    said = [
        s for s in sentences(before.text) if check.is_named_in(normal(s)) and not s.endswith("?")
    ]
    there = next((s for s in said if not s.startswith("“")), "")
    return (
        f"{quote(check.ask, 80)} is answered already: {quote(there, 90)}."
        if there
        else (f"{quote(check.ask, 80)} was taken up in the last round.")
    )


# -- moving to another option -----------------------------------------------------------------


def _pulls(material: Material, held: Weighed) -> list[Weighed]:
    """Other options that critics say they would take, one entry per critic."""
    found: list[Weighed] = []
    for critique in material.critiques:
        closing = [
            s
            for s in sentences(critique.text)
            if "ahead" in s or "would take" in s or "prefer" in s
        ]
        option = stance(" ".join(closing), material.reading.options) if closing else None
        if option and option != held.option:
            found.append(find(material.ranked, option))
    return found


def _after_pull(material: Material, held: Weighed) -> tuple[Weighed, str]:
    """The option taken after the critiques, and the critic's sentence that moved it, if any did."""
    pulls = _pulls(material, held)
    for rival in dict.fromkeys(entry.option for entry in pulls):
        entry = find(material.ranked, rival)
        weight = _PULL * sum(pull.option == rival for pull in pulls)
        if entry.score + weight > held.score:
            return entry, _argument_for(material, entry)
    return held, ""


def _argument_for(material: Material, entry: Weighed) -> str:
    said = [s for critique in material.critiques for s in sentences(critique.text)]
    return next(
        (s for s in said if entry.option.name.lower() in s.lower() and "ahead" in s),
        "the critiques",
    )


def _moved(held: Weighed, moved_by: str) -> str:
    argument = quote(moved_by, 150)
    return f"I started from {held.option.name} and have moved: {argument} was the better argument."


def _keeps(held: Weighed, rival: Weighed) -> str:
    gap = held.score - rival.score
    how = "clearly" if gap >= CLEAR else "narrowly"
    reason = f", because {held.pros[0].clause}" if held.pros else ""
    kept = f"{held.option.name} still leads {how}{reason}"
    return f"To change to {rival.option.name}: by my criteria {kept}."
