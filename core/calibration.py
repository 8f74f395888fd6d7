"""How often accepted decisions held: by confidence, gate, shadow answer, model, role (pure).

Only "held" counts as held: a decision that held in part does not, and is shown beside it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from statistics import fmean

from core.debate.state import Debate
from core.debate.verdict import OutcomeKind
from core.figures import number, percent, quantity
from core.rules.confidence import BANDS
from core.rules.judging import was_overruled
from core.rules.options import current_stance, leading, options_of
from core.rules.schedule import rounds_held
from core.rules.shadow import agrees
from core.statistics import ALPHA, Interval, exact_p, holm, wilson

#: Fewer outcomes give no evidence.
FEWEST = 10
#: Decisions with at least this confidence are compared with all others.
SURE_FROM = 60
#: Smaller p values are shown as "below 0.01".
_LEAST_P = 0.01
#: Groups of two rows: the group's name, the field of a case, and the name of each value.
_YES_OR_NO: Sequence[tuple[str, str, Mapping[bool, str]]] = (
    ("Gate", "was_skipped", {False: "debated", True: "not debated"}),
    ("One answer alone", "alone_agrees", {True: "said the same", False: "said otherwise"}),
    ("Judge", "overruled", {False: "followed the vote", True: "overruled the vote"}),
)

#: Names of groups of agents by whether they supported the decision.
_SUPPORT = {True: "for the decision", False: "against it"}


@dataclass(frozen=True, kw_only=True)
class AgentRecord:
    model: str
    role: str
    is_for: bool


@dataclass(frozen=True, kw_only=True)
class Case:
    debate_id: str
    #: None for debates on a terminal, where nobody accepts decisions.
    accepted_at: datetime | None
    asked: bool
    #: Whether it was later rejected, postponed or superseded.
    replaced: bool
    #: None without an answer.
    outcome: OutcomeKind | None
    said_at: datetime | None
    #: 0 to 100; None if none was computed.
    confidence: int | None
    #: Whether no round was held.
    was_skipped: bool
    #: Whether the single answer chose the same option; None if unknown.
    alone_agrees: bool | None
    voices: tuple[AgentRecord, ...]
    #: Whether the judge chose another option than the vote; None if unknown.
    overruled: bool | None = None

    @property
    def is_known(self) -> bool:
        return self.outcome is not None and self.outcome is not OutcomeKind.TOO_EARLY


@dataclass(frozen=True, kw_only=True)
class Row:
    group: str
    name: str
    held: int
    partly: int
    reversed: int
    #: Mean confidence of these decisions, 0 to 1; None if some have none.
    mean_confidence: float | None = None

    @property
    def count(self) -> int:
        return self.held + self.partly + self.reversed

    @property
    def share(self) -> Interval:
        return wilson(self.held, self.count)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    accepted: int
    known: int
    too_early: int
    unanswered: int
    #: Decisions whose outcome Moot has not asked about, or never will (too old, or asking is off).
    not_asked: int
    replaced: int
    #: The first row counts all decisions; then come the groups. Empty without outcomes.
    rows: tuple[Row, ...]
    findings: tuple[str, ...]


#: Pairs of groups to compare, by sentence. True: first group; False: second group; None: neither.
_COMPARISONS: Mapping[str, Callable[[Case], bool | None]] = {
    f"With a confidence of {SURE_FROM} or more {{first}} held, with less {{other}}": (
        lambda case: None if case.confidence is None else case.confidence >= SURE_FROM
    ),
    "Where no round was held {first} held, after a debate {other}": lambda case: case.was_skipped,
    "Where one answer alone said otherwise {first} held, where it said the same {other}": (
        lambda case: None if case.alone_agrees is None else not case.alone_agrees
    ),
}


def case_of(debate: Debate) -> Case | None:
    """The debate's decision as a case; None if it was not accepted and has no outcome."""
    accepted, outcome, verdict = debate.acceptance, debate.outcome, debate.verdict
    if verdict is None or (accepted is None and outcome is None):
        return None
    options = options_of(debate)
    decision = options.resolve(verdict.option)
    best = {agent.id: leading(current_stance(debate, agent.id)) for agent in debate.setup.agents}
    return Case(
        debate_id=debate.id,
        accepted_at=debate.times.get(f"decision/{accepted.origin}") if accepted else None,
        asked=bool(accepted and accepted.origin in debate.outcomes_asked),
        replaced=accepted is not None and debate.decision != accepted,
        outcome=outcome.kind if outcome else None,
        said_at=debate.times.get(f"outcome/{outcome.origin}") if outcome else None,
        confidence=verdict.confidence if verdict.rests_on else None,
        was_skipped=not rounds_held(debate),
        alone_agrees=agrees(debate),
        voices=tuple(
            AgentRecord(model=agent.full_name, role=agent.role, is_for=best[agent.id] == decision)
            for agent in debate.setup.agents
            if decision and best[agent.id]
        ),
        overruled=was_overruled(debate),
    )


def calibration(cases: Iterable[Case]) -> Calibration:
    cases = list(cases)
    known_cases = [case for case in cases if case.is_known]
    open_ones = [case for case in cases if case.outcome is None]
    rows = tuple(_rows(known_cases))
    return Calibration(
        accepted=len(cases),
        known=len(known_cases),
        too_early=sum(case.outcome is OutcomeKind.TOO_EARLY for case in cases),
        unanswered=sum(case.asked and not case.replaced for case in open_ones),
        not_asked=sum(not case.asked and not case.replaced for case in open_ones),
        replaced=sum(case.replaced for case in open_ones),
        rows=rows,
        findings=tuple(_findings(known_cases, rows)),
    )


def counts_words(counts: Calibration) -> str:
    if not counts.accepted:
        return "No decision was accepted yet."
    parts = {
        "with an outcome": counts.known,
        "too early to say": counts.too_early,
        "asked, without an answer": counts.unanswered,
        "that nobody was asked about": counts.not_asked,
        "rejected or replaced since, without an outcome": counts.replaced,
    }
    text = ", ".join(f"{number(count)} {words}" for words, count in parts.items() if count)
    return f"{quantity(counts.accepted, 'accepted decision')}: {text}."


def interval_words(share: Interval) -> str:
    low, high = percent(share.low).removesuffix("%"), percent(share.high)
    return f"{percent(share.mean)} ({low}–{high})"


def _rows(cases: Sequence[Case]) -> Iterable[Row]:
    groups: list[tuple[str, str, Sequence[Case]]] = [("All", "all decisions", cases)]
    upper = 100
    for least, word in BANDS:
        sure = [c for c in cases if c.confidence is not None and least <= c.confidence <= upper]
        groups.append(("Confidence", f"{word} ({least}–{upper})", sure))
        upper = least - 1
    unsure = [case for case in cases if case.confidence is None]
    groups.append(("Confidence", "none computed", unsure))
    for group, field, names in _YES_OR_NO:
        for value, name in names.items():
            groups.append((group, name, [c for c in cases if getattr(c, field) is value]))
    for field, (is_for, support) in product(("model", "role"), _SUPPORT.items()):
        for name in sorted({getattr(voice, field) for case in cases for voice in case.voices}):
            matches = [case for case in cases if _supported(case, field, name) is is_for]
            groups.append((f"{field.capitalize()}, {support}", name, matches))
    return (_row(*group) for group in groups if group[2])


def _supported(case: Case, field: str, name: str) -> bool | None:
    """Whether at least half of these agents supported the decision; None without agents."""
    votes = [voice.is_for for voice in case.voices if getattr(voice, field) == name]
    return sum(votes) * 2 >= len(votes) if votes else None


def _row(group: str, name: str, cases: Sequence[Case]) -> Row:
    outcomes = [case.outcome for case in cases]
    sure = [case.confidence for case in cases if case.confidence is not None]
    return Row(
        group=group,
        name=name,
        held=outcomes.count(OutcomeKind.HELD),
        partly=outcomes.count(OutcomeKind.PARTLY),
        reversed=outcomes.count(OutcomeKind.REVERSED),
        mean_confidence=fmean(sure) / 100 if len(sure) == len(cases) else None,
    )


def _findings(cases: Sequence[Case], rows: Sequence[Row]) -> Iterable[str]:
    """The findings as sentences; says if there is too little evidence."""
    if not rows:
        yield "No evidence yet: nobody has said how a decision turned out."
        return
    everything = rows[0]
    low, high = percent(everything.share.low), percent(everything.share.high)
    if everything.count < FEWEST:
        yield (
            f"No evidence yet: {quantity(everything.count, 'outcome')} "
            f"{'is' if everything.count == 1 else 'are'} too few. {everything.held} held; in the "
            f"long run it may be anything from {low} to {high} of them."
        )
        return
    yield (
        f"{everything.held} of {everything.count} decisions held "
        f"({percent(everything.share.mean)}; 95% interval {low} to {high})."
    )
    sure = [case for case in cases if case.confidence is not None]
    if sure:
        expected = number(round(sum(case.confidence or 0 for case in sure) / 100, 1))
        held, count = _tally(sure)
        yield f"By their confidence {expected} of {count} were to hold; {held} did."
    yield from _comparisons(cases)


def _comparisons(cases: Sequence[Case]) -> Iterable[str]:
    pairs = dict[str, tuple[tuple[int, int], tuple[int, int]]]()
    for words, is_first in _COMPARISONS.items():
        first = _tally([case for case in cases if is_first(case) is True])
        second = _tally([case for case in cases if is_first(case) is False])
        if first[1] and second[1]:
            pairs[words] = (first, second)
    for words, p in holm({words: exact_p(*sides) for words, sides in pairs.items()}).items():
        first, second = (f"{held} of {count}" for held, count in pairs[words])
        evidence = "an evident difference" if p < ALPHA else "no evidence of a difference"
        small = "p below 0.01" if p < _LEAST_P else f"p {number(p)}"
        yield f"{words.format(first=first, other=second)}: {evidence} ({small})."


def _tally(cases: Sequence[Case]) -> tuple[int, int]:
    return sum(case.outcome is OutcomeKind.HELD for case in cases), len(cases)
