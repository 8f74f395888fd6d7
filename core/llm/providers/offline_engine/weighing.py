"""Weighs the options of a question by a role's criteria, the requirements and what people said."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.llm.providers.offline_engine.checklist import WAYS, Role, Thing, Trait, catalogue, inside
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.question import Reading, Remark
from core.llm.providers.offline_engine.requirements import Level, Requirement
from core.llm.providers.offline_engine.wording import capital, mentions, normal

#: A few people: what asks for many hands weighs double.
_FEW_PEOPLE = 4
#: What a requirement's fate is worth to an option, for a must; half for the rest.
_WORTH = {"fits": 2.0, "strained": -2.0, "fails": -60.0, "unknown": 0.0}
#: What a remark for an option is worth; against it the same, ruled out three times as much.
_REMARK = 3.0
#: Loads below these speak for nothing: per second, and in users, records or parts.
_TINY = {"rate": 50.0, "volume": 100.0}
#: Kinds of requirement that a way to go about anything can speak to.
_OF_ANY_WAY = frozenset(("money", "people", "time", "reversible", "simple", "tested"))
#: Words up to this length carry nothing alone.
_SHORT_WORD = 3
#: A lead that counts as clear.
CLEAR = 4.0


@dataclass(frozen=True)
class Reason:
    """Why something speaks for or against an option."""

    criterion: str
    #: Its share of the option's score.
    worth: float
    #: What it would be worth by the role's own values alone.
    valued: float
    #: Key of the thing it is about.
    thing: str
    #: A predicate: "is one program that can be read".
    says: str

    @property
    def subject(self) -> str:
        """The thing's title."""
        return catalogue().things[self.thing].title

    @property
    def text(self) -> str:
        """A whole sentence."""
        return f"{capital(self.subject)} {self.says}."

    @property
    def clause(self) -> str:
        """The sentence as a part of another one."""
        return f"{inside(self.subject)} {self.says}"


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
        """What speaks for it; what the role values most comes first."""
        speaking = [reason for reason in self.reasons if reason.worth > 0]
        return tuple(sorted(speaking, key=lambda reason: (-reason.valued, -reason.worth)))

    @property
    def cons(self) -> tuple[Reason, ...]:
        """What speaks against it; what the role values most comes first."""
        speaking = [reason for reason in self.reasons if reason.worth < 0]
        return tuple(sorted(speaking, key=lambda reason: (reason.valued, reason.worth)))


def lead(ranked: tuple[Weighed, ...]) -> float:
    """How far the first is ahead of the second."""
    return ranked[0].score - ranked[1].score if len(ranked) > 1 else CLEAR


def is_known(ranked: tuple[Weighed, ...]) -> bool:
    """Whether the catalogue knows anything about what is chosen between."""
    return any(weighed.reasons or weighed.remarks for weighed in ranked)


@lru_cache(maxsize=512)
def weigh(role_name: str, reading: Reading) -> tuple[Weighed, ...]:
    """All options, best first; equal ones in the question's order.

    Where nothing at all is known, the roles take turns, so that every option has an advocate.
    """
    role = catalogue().role(role_name)
    weighed = [_weighed(role, option, reading) for option in reading.options]
    if len({entry.score for entry in weighed}) == 1 and not is_known(tuple(weighed)):
        turn = list(catalogue().roles.values()).index(role) % len(weighed)
        return (*weighed[turn:], *weighed[:turn])
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
    score += role.values.get(option.criterion, 0)
    return Weighed(option, round(score, 3), reasons, fates, remarks)


def _worth(fate: Fate) -> float:
    binding = fate.requirement.level is Level.MUST or fate.outcome == "fails"
    return _WORTH[fate.outcome] * (1.0 if binding else 0.5)


def _reasons(role: Role, option: Option, reading: Reading) -> list[Reason]:
    known = catalogue().things
    return [
        Reason(
            criterion=criterion,
            worth=trait.amount * weight,
            valued=float(trait.amount * role.values.get(criterion, 0)),
            thing=key,
            says=trait.says,
        )
        for key in option.things
        for criterion, trait in known[key].traits.items()
        if (weight := _weight(role, criterion, reading))
    ]


@lru_cache(maxsize=512)
def _need(criterion: str, reading: Reading) -> float:
    """How much more a criterion counts because the requirements call for it."""
    words = catalogue().criteria[criterion].words
    demands = [requirement for requirement in reading.requirements if not is_tiny(requirement)]
    called = sum(
        any(mentions(normal(requirement.text), word) for word in words) for requirement in demands
    )
    kinds = catalogue().requirement_kinds
    called += sum(kinds[requirement.kind].criterion == criterion for requirement in demands)
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
    if (
        requirement.kind == "rate"
        and (capacity := _first(option, "capacity"))
        and requirement.amount
    ):
        return _by_capacity(requirement.amount, capacity)
    if is_tiny(requirement):
        return "fits", "so little is no burden to anything on the list"
    if requirement.kind == "other":
        return "unknown", ""
    if requirement.kind == "money" and (price := _first(option, "price")) and requirement.amount:
        return _by_price(requirement.amount, price)
    amount, reason = _trait(option, criterion, requirement)
    if requirement.kind == "people" and (requirement.amount or 0) > _FEW_PEOPLE:
        return "unknown", ""
    return ("fits" if amount > 0 else "strained" if amount < 0 else "unknown"), reason


def _by_capacity(amount: float, capacity: int) -> tuple[str, str]:
    known = f"one ordinary installation is known to carry about {capacity:,} a second"
    if amount > capacity:
        return "fails", known
    return ("fits" if amount <= capacity / 2 else "strained"), known


def _by_price(budget: float, price: int) -> tuple[str, str]:
    known = f"a year of it costs about {price:,} with everything around it"
    if budget < price * 0.6:
        return "fails", known
    return ("fits" if budget >= price else "strained"), known


def is_tiny(requirement: Requirement) -> bool:
    """Whether a stated load is so small that it speaks for nothing."""
    limit = _TINY.get(requirement.kind)
    return limit is not None and requirement.amount is not None and requirement.amount < limit


def _first(option: Option, figure: Literal["capacity", "price"]) -> int | None:
    """The first figure of this kind that is known of what the option stands for."""
    known: list[int | None] = [getattr(catalogue().things[key], figure) for key in option.things]
    return next((value for value in known if value), None)


def _trait(option: Option, criterion: str, requirement: Requirement) -> tuple[int, str]:
    """The strongest trait of an option that speaks to a requirement, with its words."""
    known = catalogue().things
    traits = [
        (known[key], trait)
        for key in option.things
        if (trait := known[key].traits.get(criterion)) and _speaks_to(key, trait, requirement)
    ]
    if not traits:
        return 0, ""
    thing, trait = max(traits, key=lambda pair: abs(pair[1].amount))
    return trait.amount, f"{_pronoun(option, thing)} {trait.says}"


def _speaks_to(key: str, trait: Trait, requirement: Requirement) -> bool:
    """Whether a trait says something of a requirement, and not only of the same criterion.

    What holds of any change, or of staying, says nothing of a certain load, law or fault; and a
    wish of users is met by what takes up its words only.
    """
    if requirement.kind != "users" and (key not in WAYS or requirement.kind in _OF_ANY_WAY):
        return True
    said = normal(trait.says)
    return any(mentions(said, word[:5]) for word in requirement.words if len(word) > _SHORT_WORD)


def _pronoun(option: Option, thing: Thing) -> str:
    """How a thing is called where its option has just been named."""
    if normal(thing.title) != normal(option.name):
        return inside(thing.title)
    return "they" if thing.plural else "it"
