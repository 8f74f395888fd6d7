"""The council's acts: gather, plan, formulate, debate, adjust (a refinement), rebuttal."""

from core.llm.providers.offline_engine.checklist import catalogue
from core.llm.providers.offline_engine.checks import spread
from core.llm.providers.offline_engine.clarifying import open_points
from core.llm.providers.offline_engine.critique import preference
from core.llm.providers.offline_engine.material import Material, Text
from core.llm.providers.offline_engine.positions import checks_missing
from core.llm.providers.offline_engine.proposal import (
    chosen_in,
    needs,
    opening,
    proposal,
    why,
)
from core.llm.providers.offline_engine.refinement import hear
from core.llm.providers.offline_engine.weighing import find
from core.llm.providers.offline_engine.wording import (
    bullets,
    capital,
    full_stop,
    joined,
    numbered,
    post,
    quote,
    section,
    sentences,
)

#: Longest question that is taken up from another's text, in characters.
_QUESTION = 120


def gather(material: Material) -> str:
    """What is known and what is not, seen by one role alone."""
    reading = material.reading
    options = joined([option.name for option in reading.options], "or")
    known = [f"{quote(r.text, 110)} ({r.level})." for r in reading.requirements]
    known += [f"{capital(r.source)}: {quote(r.text, 110)}." for r in reading.remarks]
    facts = [reason.text for weighed in material.ranked for reason in weighed.reasons[:1]]
    return post(
        f"**The choice is between {options}.** {opening(material)}",
        section("What people told us", bullets(known) or "- Nothing but the question itself."),
        section("What my checklist adds", bullets(facts)),
        section(
            "What nobody has said", bullets(point.question for point in open_points(material)[:3])
        ),
    )


def plan(material: Material) -> str:
    """How this role would come to an answer, with what the others gathered."""
    role, reading = material.role, material.reading
    valued = sorted(role.values, key=lambda key: -role.values[key])[:3]
    nouns = [catalogue().criteria[key].noun for key in valued]
    heard = [text for text in _all_texts(material) if text.text.strip()]
    return post(
        f"**Judge {joined([o.name for o in reading.options])} by {joined(nouns)}, in this order.**",
        section("Settle first", bullets(check.ask for check in spread(role, reading)[:3])),
        section("Taken from the others", bullets(_taken_up(text) for text in heard[:3])),
        section(role.headings.how, numbered(check.do for check in spread(role, reading)[:2])),
    )


def formulate(material: Material) -> str:
    """The position that goes into the debate."""
    return proposal(material)


def debate(material: Material) -> str:
    """Answers every other position by the name it came with."""
    chosen = chosen_in(material, material.own)
    return post(
        f"**I hold on to this: {full_stop(chosen.option.say)}**",
        *(_reply_to(material, text) for text in material.positions),
        section(material.role.headings.risks, bullets([reason.text for reason in chosen.cons[:1]])),
    )


def rebuttal(material: Material) -> str:
    """Answers the critiques once more, with the others' revised positions in view."""
    held = chosen_in(material, material.own)
    heard = hear(material, material.position(material.own), held, held)
    agreeing = [t for t in material.positions if material.position(t.text).option == held.option]
    others, name = len(material.positions), held.option.name
    stand = f"{len(agreeing)} of {others} other positions took {name} too."
    if others and not agreeing:
        stand = f"Nobody else is for {name}; I still am."
    return post(
        f"**{full_stop(held.option.say)}** {stand if others else ''}".strip(),
        section("I concede", bullets(heard.accepted[:3])),
        section("I do not concede", bullets(heard.rejected[:3])),
        section(material.role.headings.how, numbered(heard.steps)),
        section(material.role.headings.why, why(material, held)),
        section(
            material.role.headings.needs,
            needs(material, held, material.reading.requirements[:3]),
        ),
    )


def _all_texts(material: Material) -> tuple[Text, ...]:
    return (*material.positions, *material.others)


def _taken_up(text: Text) -> str:
    said = sentences(text.text)
    asked = next((s for s in said if s.endswith("?") and len(s) < _QUESTION), "")
    if asked:
        return f"{text.label}: {quote(asked, 110)}"
    return f"{text.label}: {quote(said[-1] if said else '', 110)}"


def _reply_to(material: Material, text: Text) -> str:
    position = material.position(text.text)
    lacking = checks_missing(
        spread(material.role, material.reading, position.option), position.text
    )
    lines = [f"You say {quote(position.claim, 90)}."] if position.claim else []
    if position.missing:
        lines.append(f"You do not deal with {quote(position.missing[0].text, 80)}.")
    if lacking:
        lines.append(f"{lacking[0].ask} {lacking[0].otherwise}")
    if position.option:
        lines.append(preference(material, find(material.ranked, position.option)))
    return f"**{text.label}.** {' '.join(lines) or 'I find nothing to add.'}"
