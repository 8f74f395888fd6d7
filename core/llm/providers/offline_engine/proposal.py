"""Writes a position: what it takes, what it satisfies, why, how, and what could go wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklist import Role, catalogue
from core.llm.providers.offline_engine.checks import spread
from core.llm.providers.offline_engine.clarifying import open_points
from core.llm.providers.offline_engine.material import Material
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.question import Reading
from core.llm.providers.offline_engine.requirements import Level, Requirement
from core.llm.providers.offline_engine.weighing import CLEAR, Reason, Weighed, find, is_known
from core.llm.providers.offline_engine.wording import (
    bullets,
    capital,
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
#: Said where no word of the question is on any checklist.
_NOT_COVERED = (
    "My checklists do not cover this question: none of its words is on them. What follows is no "
    "more than how to find out."
)
_OUTWEIGHED = (
    "What speaks for {name} is that {merit}; here that does not outweigh the rest.",
    "The best I can say for {name}: {merit}. That is not enough here.",
    "I did look at {name}, since {merit}, but the rest of my list goes the other way.",
)
_CLOSE = (
    "It is a close call with {name}, since {merit}.",
    "{name} is nearly as good: {merit}.",
    "I could live with {name}, because {merit}.",
)


@dataclass(frozen=True)
class Plan:
    """A position before it is written down."""

    chosen: Weighed
    demands: tuple[Requirement, ...]
    steps: tuple[str, ...]


def first_plan(material: Material) -> Plan:
    """What a role proposes when it has heard nobody."""
    role, reading, chosen = material.role, material.reading, material.ranked[0]
    return Plan(
        chosen=chosen,
        demands=_first_demands(role, reading),
        steps=tuple(check.do for check in spread(role, reading, chosen.option)[:_STEPS]),
    )


def proposal(material: Material) -> str:
    """A first position, drafted alone."""
    plan = first_plan(material)
    role, reading = material.role, material.reading
    return post(
        f"**{full_stop(plan.chosen.option.say)}** {opening(material)}",
        section(role.headings.needs, needs(material, plan.chosen, plan.demands)),
        section(role.headings.why, why(material, plan.chosen)),
        section(role.headings.how, numbered(plan.steps)),
        section(role.headings.risks, risks(material, plan.chosen)),
        language_note(reading),
    )


def opening(material: Material) -> str:
    """What the role looks at first; where its checklists cover nothing of the question, that."""
    role, reading = material.role, material.reading
    return pick(role.lens, role.title, reading.asked) if reading.covered else _NOT_COVERED


def _first_demands(role: Role, reading: Reading) -> tuple[Requirement, ...]:
    def order(requirement: Requirement) -> tuple[int, int]:
        place = role.first.index(requirement.kind) if requirement.kind in role.first else 9
        return place, 0 if requirement.level is Level.MUST else 1

    return tuple(sorted(reading.requirements, key=order)[:_FIRST_DEMANDS])


def needs(material: Material, chosen: Weighed, demands: Sequence[Requirement]) -> str:
    """What the position says to each requirement it deals with; assumptions where there is none."""
    if demands:
        return bullets(demand_line(chosen, requirement) for requirement in demands)
    if material.reading.requirements:
        return ""
    assumed = [point.assumption for point in open_points(material)[:2]]
    return bullets(f"Nobody said so; I assume: {small(line)}" for line in assumed)


def demand_line(chosen: Weighed, requirement: Requirement) -> str:
    """One requirement in its own words, and how the option does by it."""
    fate = next(f for f in chosen.fates if f.requirement == requirement)
    return f"{quote(requirement.text, 110)}: {fate.text}."


def why(material: Material, chosen: Weighed) -> str:
    """Reasons for the option, what people said, and how the runner-up compares."""
    rivals = [entry for entry in material.ranked if entry.option != chosen.option]
    compared = _compared(material, chosen, rivals[0]) if rivals else ""
    return f"{because(material, chosen, 2)} {compared}".strip()


def because(material: Material, chosen: Weighed, pros: int) -> str:
    """Reasons for the option, and what people said."""
    said = [_remark_line(remark.source, remark.text, remark.sign) for remark in chosen.remarks]
    lines = [*in_turn(chosen.pros[:pros]), *said[:2]]
    if not is_known(material.ranked):
        lines.insert(0, _without_knowledge(material.role, chosen.option))
    elif not lines:
        lines.append("Little speaks for it on my list; the others have more against them.")
    return " ".join(lines)


def in_turn(reasons: Sequence[Reason]) -> list[str]:
    """Reasons as sentences; one about the same thing as the one before does not name it again."""
    lines: list[str] = []
    for place, reason in enumerate(reasons):
        same = place > 0 and reasons[place - 1].thing == reason.thing
        pronoun = "They" if catalogue().things[reason.thing].plural else "It"
        again = same and place > 1 and reasons[place - 2].thing == reason.thing
        said = f"And {pronoun.lower()} {reason.says}" if again else also(pronoun, reason.says)
        lines.append(f"{said}." if same else reason.text)
    return lines


def also(pronoun: str, says: str) -> str:
    """A predicate that goes on another one: "It also keeps …", "It is also known …"."""
    first, _, rest = says.partition(" ")
    early = first in {"is", "are", "can", "may"}
    return f"{pronoun} {first} also {rest}" if early else f"{pronoun} also {says}"


def _without_knowledge(role: Role, option: Option) -> str:
    if option.criterion:
        noun = catalogue().criteria[option.criterion].noun
        return (
            "The question names nothing to choose between, so I can only say by what I would "
            f"judge an answer first: {noun}."
        )
    valued = sorted(role.values, key=lambda key: -role.values[key])[:2]
    nouns = joined([catalogue().criteria[key].noun for key in valued])
    return (
        "My checklists know none of these options. I speak for this one so that it has an "
        f"advocate, and would judge it by {nouns}."
    )


def _remark_line(source: str, text: str, sign: int) -> str:
    side = "speaks for it" if sign > 0 else "speaks against it" if sign == -1 else "rules it out"
    return f"What {source} said, {quote(text)}, {side}."


def _compared(material: Material, chosen: Weighed, rival: Weighed) -> str:
    """One sentence or two about the runner-up, as this role sees it."""
    name, clear = rival.option.name, chosen.score - rival.score >= CLEAR
    if rival.option.criterion:
        return ""
    if not is_known(material.ranked):
        return f"Against {name} I have no point either."
    if rival.pros and rival.pros[0].valued > 0:
        variants = _OUTWEIGHED if clear else _CLOSE
        says = pick(variants, material.role.title, name)
        return capital(says.format(name=name, merit=rival.pros[0].clause))
    if rival.cons:
        return f"Against {name} speaks that {rival.cons[0].clause}."
    return f"For {name} I find no point of its own."


def risks(material: Material, chosen: Weighed) -> str:
    """What speaks against the option, and what would change this role's mind."""
    lines = in_turn(chosen.cons[:2])
    strained = [fate for fate in chosen.fates if fate.outcome == "fails"]
    lines += [f"{quote(fate.requirement.text)} is not met as it stands." for fate in strained[:1]]
    return bullets([*lines, would_change(material, chosen)])


def would_change(material: Material, chosen: Weighed) -> str:
    """What this role would have to see to take another option."""
    rivals = [entry for entry in material.ranked if entry.option != chosen.option]
    if not rivals:
        return "I would think again if a better option were named."
    rival = rivals[0]
    doubtful = [fate for fate in chosen.fates if fate.outcome in {"unknown", "strained"}]
    if doubtful:
        missed = quote(doubtful[0].requirement.text)
        doubt = f"{chosen.option.name} does not meet {missed}"
        return f"I would turn to {rival.option.name} if it turned out that {doubt}."
    if rival.cons:
        weakness = rival.cons[0].clause
        return f"I would turn to {rival.option.name} if it did not matter here that {weakness}."
    return f"I would turn to {rival.option.name} for one good reason with a figure behind it."


def language_note(reading: Reading) -> str:
    """Says that the engine writes English only, where the question is in another language."""
    if reading.language == "English":
        return ""
    return f"_The question is in {reading.language}; the offline engine writes English only._"


def chosen_in(material: Material, text: str) -> Weighed:
    """The option a text takes, as this role weighs it; its own favourite if the text takes none."""
    option = material.position(text).option
    return find(material.ranked, option) if option else material.ranked[0]
