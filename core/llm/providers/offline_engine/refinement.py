"""Writes a refined position: what critiques named is taken up or turned down, with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklist import Check, catalogue
from core.llm.providers.offline_engine.checks import relevant
from core.llm.providers.offline_engine.material import Material
from core.llm.providers.offline_engine.moving import (
    after_pull,
    keeps,
    moved_words,
    pulls,
    stand_words,
)
from core.llm.providers.offline_engine.positions import Position, items_under
from core.llm.providers.offline_engine.proposal import (
    Plan,
    because,
    chosen_in,
    first_plan,
    language_note,
    needs,
    risks,
)
from core.llm.providers.offline_engine.question import Reading
from core.llm.providers.offline_engine.requirements import Requirement
from core.llm.providers.offline_engine.weighing import Weighed
from core.llm.providers.offline_engine.wording import (
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
#: Of these, the role's own first ones, and the newest ones.
_OWN_STEPS, _NEW_STEPS = 3, 3
_MOST_POINTS = 3
_MOST_DEMANDS = 6
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
    chosen, moved_by = after_pull(material, held)
    heard = hear(material, before, held, chosen)
    plan = _plan(material, before, chosen, heard)
    role = material.role
    moved = moved_words(material, held, chosen, moved_by) or stand_words(material, held)
    return post(
        f"**{full_stop(chosen.option.say)}** {moved}".strip(),
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
    rejected = [keeps(held, pull.rival) for pull in pulls(material, held)[:1] if chosen == held]
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
    kept = steps if len(steps) <= _MOST_STEPS else (*steps[:_OWN_STEPS], *steps[-_NEW_STEPS:])
    return Plan(chosen, tuple(dict.fromkeys((*before.met, *heard.demands)))[:_MOST_DEMANDS], kept)


def _named_checks(reading: Reading, texts: Iterable[str]) -> list[Check]:
    """Checks of any role that the critiques name, in the critiques' order."""
    wanted = [check for role in catalogue().roles.values() for check in relevant(role, reading)]
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
