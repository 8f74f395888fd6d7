"""Writes a position: what it takes, what it satisfies, why, how, and what could go wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.providers.offline_engine.checklist import Check, Role, catalogue
from core.providers.offline_engine.material import Material
from core.providers.offline_engine.question import Reading
from core.providers.offline_engine.requirements import Level, Requirement
from core.providers.offline_engine.weighing import CLEAR, Weighed, find, is_known, lead
from core.providers.offline_engine.wording import (
    bullets,
    full_stop,
    joined,
    numbered,
    pick,
    post,
    quote,
    section,
    small,
)

#: Requirements a first draft deals with: each role looks through its own lens first.
_FIRST_DEMANDS = 2
_STEPS = 3


@dataclass(frozen=True)
class Plan:
    """A position before it is written down."""

    chosen: Weighed
    demands: tuple[Requirement, ...]
    steps: tuple[str, ...]


def first_plan(material: Material) -> Plan:
    """What a role proposes when it has heard nobody."""
    role, reading = material.role, material.reading
    return Plan(
        chosen=material.ranked[0],
        demands=_first_demands(role, reading),
        steps=tuple(check.do for check in spread(role, reading)[:_STEPS]),
    )


def proposal(material: Material) -> str:
    """A first position, drafted alone."""
    plan = first_plan(material)
    role, reading = material.role, material.reading
    opening = f"**{full_stop(plan.chosen.option.say)}** {pick(role.lens, role.title, reading.asked)}"
    return post(
        opening,
        section(role.headings.needs, needs(plan)),
        section(role.headings.why, why(material, plan.chosen)),
        section(role.headings.how, numbered(plan.steps)),
        section(role.headings.risks, risks(material, plan.chosen)),
        language_note(reading),
    )


def spread(role: Role, reading: Reading) -> tuple[Check, ...]:
    """A role's checks for a question, taking turns between its topics so that none crowds out."""
    lists = [list(role.checks.get(topic, ())) for topic in reading.topics]
    lists = [checks for checks in (*lists, list(role.checks["any"])) if checks]
    longest = max(map(len, lists))
    return tuple(checks[row] for row in range(longest) for checks in lists if row < len(checks))


def _first_demands(role: Role, reading: Reading) -> tuple[Requirement, ...]:
    def order(requirement: Requirement) -> tuple[int, int]:
        place = role.first.index(requirement.kind) if requirement.kind in role.first else 9
        return place, 0 if requirement.level is Level.MUST else 1

    return tuple(sorted(reading.requirements, key=order)[:_FIRST_DEMANDS])


def needs(plan: Plan) -> str:
    """What the position says to each requirement it deals with."""
    return bullets(demand_line(plan.chosen, requirement) for requirement in plan.demands)


def demand_line(chosen: Weighed, requirement: Requirement) -> str:
    """One requirement in its own words, and how the option does by it."""
    fate = next(f for f in chosen.fates if f.requirement == requirement)
    return f"{quote(requirement.text, 110)}: {full_stop(small(fate.text))}"


def why(material: Material, chosen: Weighed) -> str:
    """Reasons for the option, what people said, and how the runner-up compares."""
    said = [_remark_line(remark.source, remark.text, remark.sign) for remark in chosen.remarks]
    rivals = [entry for entry in material.ranked if entry.option != chosen.option]
    lines = [*(reason.text for reason in chosen.pros[:2]), *said[:2]]
    if not chosen.pros:
        lines.insert(0, _without_knowledge(material.role))
    return " ".join([*lines, *([_compared(material, chosen, rivals[0])] if rivals else [])])


def _without_knowledge(role: Role) -> str:
    valued = sorted(role.values, key=lambda key: -role.values[key])[:2]
    nouns = joined([catalogue().criteria[key].noun for key in valued])
    return (
        f"My checklists hold nothing about this option, so I can only say by what I would judge it: {nouns}."
    )


def _remark_line(source: str, text: str, sign: int) -> str:
    side = "speaks for it" if sign > 0 else "speaks against it" if sign == -1 else "rules it out"
    return f"What {source} said, {quote(text)}, {side}."


def _compared(material: Material, chosen: Weighed, rival: Weighed) -> str:
    gap = chosen.score - rival.score
    if not is_known(material.ranked):
        return f"Against {rival.option.name} I have nothing but the order of the question."
    name = rival.option.name
    if rival.pros and rival.pros[0].worth > 0:
        merit = rival.pros[0].text.rstrip(".")
        if gap >= CLEAR:
            return f"The best point for {name} is this: {small_title(merit)}. It does not outweigh the rest here."
        return f"It is close, because of this: {small_title(merit)}."
    if rival.cons:
        return f"Against {name}: {small_title(rival.cons[0].text)}"
    return f"For {name} I find no point of its own."


def small_title(sentence: str) -> str:
    """A trait's sentence in the middle of another one: articles lose their capital, names do not."""
    first = sentence.split(" ", 1)[0]
    return small(sentence) if first in {"A", "An", "The", "Our", "One", "Two", "Staying", "Moving"} else sentence


def risks(material: Material, chosen: Weighed) -> str:
    """What speaks against the option, and what would change this role's mind."""
    lines = [reason.text for reason in chosen.cons[:2]]
    strained = [fate for fate in chosen.fates if fate.outcome == "fails"]
    lines += [f"{quote(fate.requirement.text)} is not met as it stands." for fate in strained[:1]]
    return bullets([*lines, would_change(material, chosen)])


def would_change(material: Material, chosen: Weighed) -> str:
    """What this role would have to see to take another option."""
    rivals = [entry for entry in material.ranked if entry.option != chosen.option]
    if not rivals:
        return "I would think again if a better option were named."
    rival = rivals[0].option.name
    doubtful = [fate for fate in chosen.fates if fate.outcome in {"unknown", "strained"}]
    if doubtful:
        return f"I would turn to {rival} if a test showed that {quote(doubtful[0].requirement.text)} does not hold."
    gap = lead(material.ranked)
    strength = "two good reasons" if gap >= CLEAR else "one good reason"
    return f"I would turn to {rival} for {strength} with a figure behind it."


def language_note(reading: Reading) -> str:
    """Says that the engine writes English only, where the question is in another language."""
    if reading.language == "English":
        return ""
    return f"_The question is in {reading.language}; the offline engine reads it modestly and writes English._"


def chosen_in(material: Material, text: str) -> Weighed:
    """The option a text takes, as this role weighs it; its own favourite if the text takes none."""
    option = material.position(text).option
    return find(material.ranked, option) if option else material.ranked[0]
