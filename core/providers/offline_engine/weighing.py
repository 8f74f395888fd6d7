"""Weighs the options of a question by a role's criteria, the requirements and what people said."""

from dataclasses import dataclass
from functools import lru_cache

from core.providers.offline_engine.checklist import Role, Thing, catalogue
from core.providers.offline_engine.options import Option
from core.providers.offline_engine.question import Reading, Remark
from core.providers.offline_engine.requirements import Level, Requirement
from core.providers.offline_engine.wording import capital, mentions, normal

#: A few people: what asks for many hands weighs double.
_FEW_PEOPLE = 4
#: What a requirement's fate is worth to an option, for a must; half for the rest.
_WORTH = {"fits": 2.0, "strained": -2.0, "fails": -8.0, "unknown": 0.0}
#: What a remark for an option is worth; against it the same, ruled out three times as much.
_REMARK = 3.0
#: A lead that counts as clear.
CLEAR = 4.0


@dataclass(frozen=True)
class Reason:
    """Why something speaks for or against an option: a sentence and its criterion."""

    criterion: str
    worth: float
    text: str


@dataclass(frozen=True)
class Fate:
    """How an option does by one requirement."""

    requirement: Requirement
    #: fits, strained, fails or unknown.
    outcome: str
    text: str


@dataclass(frozen=True)
class Weighed:
    """An option with its score and what made it."""

    option: Option
    score: float
    reasons: tuple[Reason, ...]
    fates: tuple[Fate, ...]
    remarks: tuple[Remark, ...]

    @property
    def pros(self) -> tuple[Reason, ...]:
        """What speaks for it, the weightiest first."""
        return tuple(reason for reason in self.reasons if reason.worth > 0)

    @property
    def cons(self) -> tuple[Reason, ...]:
        """What speaks against it, the weightiest first."""
        against = [reason for reason in self.reasons if reason.worth < 0]
        return tuple(sorted(against, key=lambda reason: reason.worth))


def lead(ranked: tuple[Weighed, ...]) -> float:
    """How far the first is ahead of the second."""
    return ranked[0].score - ranked[1].score if len(ranked) > 1 else CLEAR


def is_known(ranked: tuple[Weighed, ...]) -> bool:
    """Whether the catalogue knows anything about what is chosen between."""
    return any(reason.worth for weighed in ranked for reason in weighed.reasons)


@lru_cache(maxsize=512)
def weigh(role_name: str, reading: Reading) -> tuple[Weighed, ...]:
    """All options, best first; equal ones in the question's order."""
    role = catalogue().role(role_name)
    weighed = [_weighed(role, option, reading) for option in reading.options]
    return tuple(sorted(weighed, key=lambda entry: -entry.score))


def find(ranked: tuple[Weighed, ...], option: Option) -> Weighed:
    """The entry of an option.

    Raises:
        StopIteration: It is not among the ranked ones.
    """
    return next(weighed for weighed in ranked if weighed.option == option)


def _weighed(role: Role, option: Option, reading: Reading) -> Weighed:
    reasons = tuple(sorted(_reasons(role, option, reading), key=lambda reason: -reason.worth))
    fates = tuple(fate_of(option, requirement) for requirement in reading.requirements)
    remarks = tuple(remark for remark in reading.remarks if remark.option == option)
    score = sum(reason.worth for reason in reasons)
    score += sum(_worth(fate) for fate in fates)
    score += sum(remark.sign * _REMARK for remark in remarks)
    return Weighed(option, round(score, 3), reasons, fates, remarks)


def _worth(fate: Fate) -> float:
    binding = fate.requirement.level is Level.MUST or fate.outcome == "fails"
    return _WORTH[fate.outcome] * (1.0 if binding else 0.5)


def _reasons(role: Role, option: Option, reading: Reading) -> list[Reason]:
    known = catalogue().things
    return [
        Reason(criterion, trait.amount * weight, sentence_of(known[key], trait.says))
        for key in option.things
        for criterion, trait in known[key].traits.items()
        if (weight := _weight(role, criterion, reading))
    ]


def sentence_of(thing: Thing, says: str) -> str:
    """A trait as a sentence."""
    return f"{capital(thing.title)} {says}."


@lru_cache(maxsize=512)
def _need(criterion: str, reading: Reading) -> float:
    """How much more a criterion counts because the requirements call for it."""
    words = catalogue().criteria[criterion].words
    called = sum(
        any(mentions(normal(requirement.text), word) for word in words)
        for requirement in reading.requirements
    )
    kinds = catalogue().requirement_kinds
    called += sum(kinds[requirement.kind].criterion == criterion for requirement in reading.requirements)
    if criterion in {"operations", "simplicity"} and _few_people(reading):
        called += 1
    return 1.0 + 0.5 * min(called, 3)


def _few_people(reading: Reading) -> bool:
    return any(
        requirement.kind == "people" and (requirement.amount or _FEW_PEOPLE + 1) <= _FEW_PEOPLE
        for requirement in reading.requirements
    )


def _weight(role: Role, criterion: str, reading: Reading) -> float:
    need = _need(criterion, reading)
    stated = 0.5 if need > 1.0 else 0.0
    return (role.values.get(criterion, 0) or stated) * need


@lru_cache(maxsize=2048)
def fate_of(option: Option, requirement: Requirement) -> Fate:
    """Whether an option meets a requirement, as far as the catalogue knows."""
    kind = catalogue().requirement_kinds[requirement.kind]
    outcome, reason = _outcome(option, requirement, kind.criterion)
    says = {
        "fits": kind.fits,
        "strained": kind.strained,
        "fails": kind.fails,
        "unknown": kind.unknown,
    }[outcome]
    return Fate(requirement, outcome, says.format(option=option.name, reason=reason).strip())


def _outcome(option: Option, requirement: Requirement, criterion: str) -> tuple[str, str]:
    if requirement.kind == "rate" and (capacity := _capacity(option)) and requirement.amount:
        return _by_capacity(requirement.amount, capacity)
    amount, reason = _trait(option, criterion)
    if requirement.kind == "people" and (requirement.amount or 0) > _FEW_PEOPLE:
        return ("unknown", "") if amount <= 0 else ("fits", reason)
    return ("fits" if amount > 0 else "strained" if amount < 0 else "unknown"), reason


def _by_capacity(amount: float, capacity: int) -> tuple[str, str]:
    known = f"one ordinary installation is known to carry about {capacity:,} a second"
    if amount > capacity:
        return "fails", known
    return ("fits" if amount <= capacity / 2 else "strained"), known


def _capacity(option: Option) -> int | None:
    known = [catalogue().things[key].capacity for key in option.things]
    return next((capacity for capacity in known if capacity), None)


def _trait(option: Option, criterion: str) -> tuple[int, str]:
    """The strongest trait of an option by a criterion, with its words."""
    things = [catalogue().things[key] for key in option.things]
    traits = [(thing, thing.traits[criterion]) for thing in things if criterion in thing.traits]
    if not traits:
        return 0, ""
    thing, trait = max(traits, key=lambda pair: abs(pair[1].amount))
    return trait.amount, f"{thing.title} {trait.says}"
