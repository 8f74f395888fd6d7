"""The panel's acts: a statement per round, and the facilitator's decision after it."""

from collections import Counter

from core.llm.providers.offline_engine.checklist import Check, OpenPoint
from core.llm.providers.offline_engine.checks import spread
from core.llm.providers.offline_engine.clarifying import open_points
from core.llm.providers.offline_engine.critique import preference
from core.llm.providers.offline_engine.material import Material, Text
from core.llm.providers.offline_engine.positions import Position, checks_missing
from core.llm.providers.offline_engine.proposal import (
    chosen_in,
    language_note,
    needs,
    proposal,
    why,
)
from core.llm.providers.offline_engine.requirements import Level, Requirement
from core.llm.providers.offline_engine.weighing import find
from core.llm.providers.offline_engine.wording import (
    bullets,
    full_stop,
    joined,
    numbered,
    post,
    quote,
    rank_of,
    section,
    sentences,
)


def statement(material: Material) -> str:
    """One contribution to a round: a position first, answers to the others later."""
    if not heard(material):
        return proposal(material)
    chosen = chosen_in(material, material.own)
    open_demands = _open_demands(material)
    steps = [check.do for check in _unsaid(material)[:2]]
    return post(
        f"**{full_stop(chosen.option.say)}** {_answer(material)}".strip(),
        section(
            material.role.headings.needs,
            needs(material, chosen, (open_demands or material.reading.requirements)[:2]),
        ),
        section(material.role.headings.why, why(material, chosen)),
        section(material.role.headings.how, numbered(steps)),
        section("What I would ask the others", bullets(c.ask for c in _unsaid(material)[2:4])),
        language_note(material.reading),
    )


def heard(material: Material) -> tuple[Text, ...]:
    """Everything others said, newest last."""
    return (*material.summaries, *material.positions, *material.others)


def facilitation(material: Material) -> dict[str, object]:
    """Go on with a focus, ask people, or vote."""
    texts = heard(material)
    open_demands = _open_demands(material)
    missing = open_points(material)
    positions = [material.position(text.text) for text in texts]
    if texts and _agreed(positions) and not open_demands:
        return _decided("vote", _agreement(material, positions))
    if (
        not material.reading.requirements
        and missing
        and len(texts) <= len(material.reading.options) + 2
    ):
        return _asked(missing[0])
    if open_demands:
        return _decided("go_on", f"Say how each option meets {quote(open_demands[0].text, 90)}.")
    if _repeats(texts):
        return _decided(
            "vote", "The last contributions repeat earlier ones; more rounds add nothing."
        )
    return _decided("go_on", _focus(material, positions))


def _agreement(material: Material, positions: list[Position]) -> str:
    """What the positions agree on, and which requirements stay open although all speak of them."""
    option = next(position.option for position in positions if position.option)
    fates = find(material.ranked, option).fates
    left = [quote(fate.requirement.text, 60) for fate in fates if fate.outcome == "unknown"]
    if left:
        return (
            f"All positions take the same option; whether it meets {joined(left[:3])} is open, "
            "and more rounds will not settle it."
        )
    if fates:
        return "All positions take the same option and deal with every requirement."
    return "All positions take the same option, and no requirement was stated."


def _decided(decision: str, focus: str) -> dict[str, object]:
    return {"decision": decision, "focus": focus, "question": "", "assumption": ""}


def _asked(point: OpenPoint) -> dict[str, object]:
    """To ask people; the debate goes on with the assumption if nobody answers."""
    return {
        "decision": "ask",
        "focus": "Say what the answer changes for each option.",
        "question": point.question,
        "assumption": point.assumption,
    }


def _open_demands(material: Material) -> tuple[Requirement, ...]:
    """Requirements nobody spoke to yet, musts first."""
    said = "\n".join(text.text for text in (*heard(material), Text("", material.own)))
    left = [r for r in material.reading.requirements if not r.is_met_in(said)]
    return tuple(sorted(left, key=lambda r: r.level is not Level.MUST))


def _unsaid(material: Material) -> tuple[Check, ...]:
    """Points of the role's checklist that nobody made yet."""
    said = "\n".join(text.text for text in (*heard(material), Text("", material.own)))
    option = chosen_in(material, material.own).option
    checks = spread(material.role, material.reading, option)
    return checks_missing(checks, said) or checks[-2:]


def _answer(material: Material) -> str:
    """A reply to one of the others: who takes another option, else who was heard last."""
    texts = [text for text in (*material.positions, *material.others) if text.text]
    if not texts:
        return ""
    mine = chosen_in(material, material.own).option
    others = [t for t in texts if material.position(t.text).option not in {mine, None}]
    target = (others or texts)[rank_of(material.role.title, material.own) % len(others or texts)]
    position = material.position(target.text)
    if position.option and position.option != mine:
        reply = preference(material, find(material.ranked, position.option))
        return f"{target.label} said {quote(position.claim, 90)}. {reply}"
    claim = quote(position.claim, 80)
    return f"I agree with {target.label} on the choice ({claim}) and add what is missing."


def _agreed(positions: list[Position]) -> bool:
    taken = [position.option for position in positions if position.option]
    return len(taken) > 1 and len(set(taken)) == 1


def _repeats(texts: tuple[Text, ...]) -> bool:
    """Whether most sentences of the last contribution were said before."""
    if len(texts) < 2:  # noqa: PLR2004 - nothing to repeat
        return False
    last = sentences(texts[-1].text)
    before = {sentence for text in texts[:-1] for sentence in sentences(text.text)}
    return bool(last) and sum(sentence in before for sentence in last) / len(last) > 0.7  # noqa: PLR2004 - most


def _focus(material: Material, positions: list[Position]) -> str:
    counted = Counter(position.option.name for position in positions if position.option)
    names = sorted(counted, key=lambda name: (-counted[name], name))
    if len(names) > 1:
        return f"{names[0]} or {names[1]}: what would each side have to see to change its mind?"
    unsaid = _unsaid(material)
    return unsaid[0].ask if unsaid else "What would overturn the position most of you hold?"
