"""Writes the judge's synthesis, starting from the winner of the vote."""

import re
from dataclasses import dataclass

from core.llm.providers.offline_engine.ballot import Judged, rank
from core.llm.providers.offline_engine.checklist import catalogue
from core.llm.providers.offline_engine.checks import is_thin, relevant
from core.llm.providers.offline_engine.clarifying import open_points
from core.llm.providers.offline_engine.material import Material, Text
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.positions import items_under
from core.llm.providers.offline_engine.proposal import in_turn
from core.llm.providers.offline_engine.question import Note, names
from core.llm.providers.offline_engine.requirements import Level, requirements_in
from core.llm.providers.offline_engine.summary import sections_of
from core.llm.providers.offline_engine.weighing import Fate, Weighed, fate_of, find, is_known
from core.llm.providers.offline_engine.wording import (
    FOOTER,
    bullets,
    full_stop,
    joined,
    normal,
    numbered,
    quote,
    section,
    sentences,
)

_POINTS = re.compile(r"(?P<points>\d+(?:\.\d+)?)\s*(?:points?|pts?|borda)?", re.IGNORECASE)
_UNKNOWN = "The checklists hold nothing about these options; the vote rests on the texts alone."
_THIN = "The checklists ask little about this; the steps are about finding out."
_NOT_COVERED = (
    "The checklists do not cover this question: none of its words is on them. The vote rests on "
    "the texts alone, and the steps are about finding out."
)
#: Highest confidence where the checklists do not cover the question, where they know none of its
#: options, where most of them ask nothing about it, and where a must is open or strained.
_MOST_UNCOVERED, _MOST_UNKNOWN, _MOST_THIN, _MOST_OPEN = 25, 35, 40, 50
#: A line of the tally with a position's points.
_POINT_LINE = re.compile(r"^(?P<name>[^:\n]+): [\d.]+ points", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """The vote with the texts behind it."""

    winner: Judged
    others: tuple[Judged, ...]
    taken: Weighed
    #: The winner's share of the lead that was possible, 0 to 1.
    margin: float
    #: Labels of the positions with as many points as the winner.
    level: tuple[str, ...] = ()

    @property
    def same(self) -> int:
        """How many positions take what the winner takes, itself included."""
        option = self.winner.position.option
        return 1 + sum(option is not None and o.position.option == option for o in self.others)

    @property
    def rival(self) -> Judged | None:
        """The best position that takes another option."""
        option = self.winner.position.option
        return next(
            (o for o in self.others if o.position.option and o.position.option != option), None
        )


def synthesis(material: Material) -> dict[str, object]:
    """All fields of the verdict."""
    outcome = outcome_of(material)
    return {
        "decision": full_stop(outcome.taken.option.say),
        "solution": _solution(material, outcome),
        "implementation": numbered(_first_steps(outcome)),
        "tradeoffs": _tradeoffs(outcome, material),
        "recommendations": _recommendations(material, outcome),
        "unmet_requirements": unmet(outcome),
        "open_questions": open_questions(material, outcome),
        "dissent": _dissent(material, outcome),
        "overturned_by": _overturned_by(outcome),
        "notes": [_note_outcome(material, outcome, note) for note in material.reading.notes],
        "confidence": confidence(material, outcome),
    }


def outcome_of(material: Material) -> Outcome:
    """Find the winner in the tally; where there is no tally, rank the positions here."""
    summed = tuple(piece for text in material.summaries for piece in sections_of(text))
    texts = material.candidates or material.positions or summed or material.others
    texts = texts or (Text("p1", material.own or material.reading.question),)
    ranked = rank(material, texts)
    scores = _scores(material.tally, [judged.label for judged in ranked])
    favoured = None if scores else _favoured(material)
    places = {label: place for place, label in enumerate(scores)}
    in_order = sorted(
        ranked,
        key=lambda j: (
            places.get(j.label, len(places)),
            favoured not in (None, j.position.option),
        ),
    )
    winner, others = in_order[0], tuple(in_order[1:])
    level = tuple(e.label for e in others if scores.get(e.label) == scores.get(winner.label))
    return Outcome(
        winner, others, _taken(material, winner), _margin(scores, ranked), level if scores else ()
    )


def _taken(material: Material, winner: Judged) -> Weighed:
    """What the winner takes; its own words where it takes none of the question's options."""
    if option := winner.position.option:
        return find(material.ranked, option)
    claim = winner.position.claim.strip(" .") or material.reading.asked
    own = Option(f"what {winner.label.removeprefix('Position of ')} proposes", claim)
    fates = tuple(fate_of(own, requirement) for requirement in material.reading.requirements)
    return Weighed(own, 0.0, (), fates, ())


def _scores(tally: str, labels: list[str]) -> dict[str, float]:
    """Points per label as the tally's lines `name: points` state them, in the tally's order.

    The order matters: among equal points it holds what decided the tie. The first line counts.
    """
    found: dict[str, float] = {}
    for line in tally.splitlines():
        label = next((name for name in labels if _begins(line, name)), None)
        if label and label not in found:
            figures = _POINTS.search(line.split(":", 1)[-1])
            found[label] = float(figures["points"]) if figures else float(-len(found))
    return found


def _favoured(material: Material) -> Option | None:
    """The winner's option, known by the reason of a voter: for summaries that name nobody."""
    first = next(iter(_POINT_LINE.findall(material.tally)), "")
    reasons = [line for line in material.tally.splitlines() if f" put {first} first: " in line]
    said = normal(" ".join(reasons) if first else "")
    return next(
        (
            entry.option
            for entry in material.ranked
            for reason in (*entry.pros, *entry.cons)
            if normal(reason.clause).strip() in said
        ),
        None,
    )


def _begins(line: str, label: str) -> bool:
    """Whether a line of the tally is about a label; a position goes by its holder's name there."""
    name = label.removeprefix("Position of ").strip()
    return line.strip(" -*•").startswith((f"{name}:", f"{label}:"))


def _margin(scores: dict[str, float], ranked: tuple[Judged, ...]) -> float:
    ordered = sorted(scores.values(), reverse=True)
    if len(ordered) > 1:
        return min(1.0, max(0.0, (ordered[0] - ordered[1]) / max(ordered[0], 1.0)))
    points = [judged.points for judged in ranked]
    return min(1.0, (points[0] - points[1]) / 12.0) if len(points) > 1 else 0.3


# -- fields -----------------------------------------------------------------------------------


def _solution(material: Material, outcome: Outcome) -> str:
    taken, position = outcome.taken, outcome.winner.position
    reasons = in_turn(taken.pros[:3])
    reasons += [f"{remark.source} said {quote(remark.text, 90)}." for remark in taken.remarks[:2]]
    if not is_known(material.ranked):
        reasons = [_UNKNOWN if material.reading.covered else _NOT_COVERED]
    if is_thin(material.reading):
        reasons.append(_THIN)
    fates = [f for f in taken.fates if f.requirement in position.met or f.outcome == "fails"]
    answered = [_fate_line(fate) for fate in fates if fate.outcome != "unknown"]
    left = [_fate_line(fate) for fate in taken.fates if fate.outcome == "unknown"]
    blocks = [f"**{full_stop(taken.option.say)}**", _agreement(outcome), " ".join(reasons)]
    blocks += [section("What it answers", bullets(answered)), section("Still open", bullets(left))]
    return "\n\n".join(block for block in [*blocks, FOOTER] if block)


def _fate_line(fate: Fate) -> str:
    return f"{quote(fate.requirement.text, 100)}: {fate.text}."


def _agreement(outcome: Outcome) -> str:
    """How many positions end where the winner does; where they are few, that the vote decided."""
    name = outcome.taken.option.name
    judged = (outcome.winner, *outcome.others)
    same = outcome.same
    if same == len(judged):
        return f"All {len(judged)} positions ended with {name}; they differ in what to watch."
    took = outcome.winner.position.option
    other = dict.fromkeys(e.position.option for e in outcome.others if e.position.option != took)
    rest = joined([option.name for option in other if option]) or "no clear option"
    count = f"{same} of {len(judged)} positions ended with {name}; the rest took {rest}."
    if 2 * same > len(judged) or not outcome.level:
        return count
    return f"{count} {_by_the_order(outcome)}"


def _by_the_order(outcome: Outcome) -> str:
    """Why the verdict starts where it does although others have as many points."""
    names = [label.removeprefix("Position of ") for label in outcome.level]
    first = outcome.winner.label.removeprefix("Position of ")
    return (
        f"By points {first} is level with {joined(names)}; this starts from {first}, which the "
        "vote lists first."
    )


def _first_steps(outcome: Outcome) -> tuple[str, ...]:
    """The winner's steps, and the first one of each other position that takes the same option."""
    steps = steps_in(outcome.winner.position.text)
    same = [e for e in outcome.others if e.position.option == outcome.winner.position.option]
    borrowed = [step for entry in same for step in steps_in(entry.position.text)[:1]]
    return tuple(dict.fromkeys((*steps[:4], *borrowed[:2])))


def steps_in(text: str) -> tuple[str, ...]:
    """The steps a position lists, whatever its role calls them."""
    hows = dict.fromkeys(role.headings.how for role in catalogue().roles.values())
    return next((items for how in hows if (items := items_under(text, how))), ())


def _tradeoffs(outcome: Outcome, material: Material) -> list[str]:
    """What the positions disagree about, and what the decision costs."""
    lines: list[str] = []
    if outcome.rival and outcome.rival.position.option:
        rival = find(material.ranked, outcome.rival.position.option)
        lines += _against_each_other(outcome.taken, rival)
    lines += [reason.text for reason in outcome.taken.cons[:2]]
    return list(dict.fromkeys(lines))


def _against_each_other(taken: Weighed, rival: Weighed) -> list[str]:
    if not (taken.pros and rival.pros):
        return [f"{taken.option.name} against {rival.option.name}: the positions did not agree."]
    mine, theirs = taken.pros[0].text.rstrip("."), rival.pros[0].clause
    return [f"{mine}; on the other side, {theirs}."]


def _recommendations(material: Material, outcome: Outcome) -> list[str]:
    """Steps that other positions named and the winner did not."""
    own = _first_steps(outcome)
    named = [s for entry in outcome.others for s in steps_in(entry.position.text) if s not in own]
    doubtful = [fate for fate in outcome.taken.fates if fate.outcome in {"unknown", "strained"}]
    tests = [
        f"Check {quote(fate.requirement.text, 90)} before relying on it." for fate in doubtful[:2]
    ]
    chosen = list(dict.fromkeys([*tests, *named]))[:4]
    return chosen or [check.do for check in relevant(material.role, material.reading)[:2]]


def unmet(outcome: Outcome) -> list[str]:
    """Musts that the option fails, or that the winning text does not deal with."""
    failed = [f for f in outcome.taken.fates if f.outcome == "fails"]
    lines = [f"{f.requirement.text}: {f.text}." for f in failed]
    silent = [r for r in outcome.winner.position.missing if r.level is Level.MUST]
    lines += [
        f"{r.text}: the winning position does not deal with it."
        for r in silent
        if r not in [f.requirement for f in failed]
    ]
    return lines


def open_questions(material: Material, outcome: Outcome) -> list[str]:
    """What nobody knows yet: requirements of unknown fate, and points the question leaves open."""
    unknown = [fate.requirement for fate in outcome.taken.fates if fate.outcome == "unknown"]
    in_order = sorted(unknown, key=lambda requirement: requirement.level is not Level.MUST)
    asked = in_order[: max(2, sum(one.level is Level.MUST for one in unknown))]
    lines = [f"Does {outcome.taken.option.name} meet {quote(one.text, 80)}?" for one in asked]
    return [*lines, *(point.question for point in open_points(material)[:2])]


def _dissent(material: Material, outcome: Outcome) -> str:
    if not outcome.rival or not outcome.rival.position.option:
        return _nobody_dissents(material, outcome)
    rival = find(material.ranked, outcome.rival.position.option)
    argument = _argument(outcome.rival.position.text, rival)
    quoted = f" In its own words: {quote(argument, 170)}." if argument else ""
    return f"The best position not taken: {full_stop(rival.option.say)}{quoted}"


def _argument(text: str, rival: Weighed) -> str:
    """The sentence in which a position gives its best reason, else its longest one."""
    said = [s for s in sentences(text)[1:] if not s.startswith(("“", "I started", "To change to"))]
    reasons = [normal(reason.says).strip() for reason in rival.pros]
    given = (s for says in reasons for s in said if says in normal(s) and "?" not in s)
    return next(given, max(said, key=len, default=""))


def _nobody_dissents(material: Material, outcome: Outcome) -> str:
    rivals = [entry for entry in material.ranked if entry.option != outcome.taken.option]
    if not rivals or not rivals[0].pros:
        return ""
    name, merit = rivals[0].option.name, rivals[0].pros[0].clause
    return f"No position dissents in the end. The strongest case for {name} is that {merit}."


def _overturned_by(outcome: Outcome) -> list[str]:
    taken = outcome.taken
    lines = [
        f"It turns out that {taken.option.name} does not meet {quote(fate.requirement.text, 80)}."
        for fate in sorted(taken.fates, key=lambda fate: fate.outcome == "fits")
        if fate.outcome != "fails"
    ][:2]
    if outcome.rival and outcome.rival.position.option:
        lines.append(
            f"New facts for {outcome.rival.position.option.name}: the vote is not unanimous."
        )
    lines += [f"It turns out to matter more that {con.clause}." for con in taken.cons[:1]]
    return lines or [
        "A better option is named.",
        "A requirement is added that the positions did not see.",
    ]


def _note_outcome(material: Material, outcome: Outcome, note: Note) -> dict[str, object]:
    used, explanation = _what_became(material, outcome, note)
    return {"note": note.id, "used": used, "explanation": explanation}


def _what_became(material: Material, outcome: Outcome, note: Note) -> tuple[bool, str]:
    if note.is_order:
        return False, "It tells the agents how to vote; ballots follow facts and requirements only."
    remark = next((r for r in material.reading.remarks if r.text in note.text), None)
    if remark:
        side = "for" if remark.sign > 0 else "against"
        return True, f"Weighed as a point {side} {remark.option.name}."
    demands = [r.text for r in requirements_in(note.text)]
    if demands:
        return True, f"Read as a requirement, {quote(demands[0], 70)}, and weighed."
    options = material.reading.options
    named = [o.name for o in options if names(o, options, normal(note.text))]
    if named:
        return (
            True,
            f"It is about {joined(named)}; it was in every prompt, and says nothing to weigh.",
        )
    texts = [outcome.winner.position.text, *(other.position.text for other in outcome.others)]
    if any(quote(note.text, 40).strip("“”… ") in text for text in texts):
        return True, "Positions quote it."
    return False, "It names no option, requirement or figure that the checklists could weigh."


def confidence(material: Material, outcome: Outcome) -> int:
    """15 to 85: from the vote's margin, the share of requirements met and what is known.

    A must that nothing on the checklists speaks about is no must that is met.
    """
    fates = outcome.taken.fates
    met = sum(f.outcome == "fits" and f.requirement in outcome.winner.position.met for f in fates)
    coverage = met / len(fates) if fates else 0.5
    same = outcome.same / (1 + len(outcome.others))
    value = 20 + 20 * outcome.margin + 20 * coverage + 25 * same
    if not is_known(material.ranked):
        value = min(value, _MOST_UNKNOWN if material.reading.covered else _MOST_UNCOVERED)
    if is_thin(material.reading):
        value = min(value, _MOST_THIN)
    musts = [fate for fate in fates if fate.requirement.level is Level.MUST]
    if any(fate.outcome in {"unknown", "strained"} for fate in musts):
        value = min(value, _MOST_OPEN)
    return round(min(value, 40) if unmet(outcome) else value)
