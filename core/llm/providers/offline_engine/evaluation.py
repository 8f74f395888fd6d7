"""Scores a decision as one role sees it: requirements, its own checklist and the criterion's."""

from collections.abc import Mapping, Sequence

from core.llm.providers.offline_engine.checklist import Check, catalogue
from core.llm.providers.offline_engine.checks import spread
from core.llm.providers.offline_engine.material import Material
from core.llm.providers.offline_engine.positions import checks_met
from core.llm.providers.offline_engine.requirements import Requirement
from core.llm.providers.offline_engine.weighing import Reason, fate_of, find
from core.llm.providers.offline_engine.wording import joined, mentions, normal, quote
from core.transcript.evaluation import HIGHEST, LOWEST, Criterion

#: Whose checklist each criterion is measured by, beside the evaluator's own.
_ROLES = {
    Criterion.FUNCTIONAL_COMPLETENESS: "product",
    Criterion.PERFORMANCE_AND_SCALABILITY: "performance",
    Criterion.SECURITY: "security",
    Criterion.MAINTAINABILITY: "simplicity",
    Criterion.TESTABILITY: "testing",
}
#: What an option is compared by that belongs to each criterion.
_COMPARED = {
    Criterion.FUNCTIONAL_COMPLETENESS: ("value", "correctness"),
    Criterion.PERFORMANCE_AND_SCALABILITY: ("scale", "speed"),
    Criterion.SECURITY: ("security",),
    Criterion.MAINTAINABILITY: ("simplicity", "operations"),
    Criterion.REGULATORY_COMPLIANCE: (),
    Criterion.TESTABILITY: ("testability",),
}
#: As many that count most are no few.
_MANY = 3
#: A share from 0 to 1 with the words for it; None where there is nothing to measure.
_Found = tuple[float | None, str]
_LAW = "law"
_DATA_PROTECTION = "data_protection"
#: Points of a checklist that others than its own role expect a decision to deal with.
_EXPECTED = 6
#: Score where nothing was asked for, so that nothing can be missed.
_NEUTRAL = 5
#: How strongly an option speaks for a criterion at most: a trait's amount.
_STRONGEST = 2


def evaluation(material: Material) -> dict[str, object]:
    """Every criterion with a score from 1 to 10 and the reason for it."""
    said = "\n".join(text.text for text in material.positions)
    scores = {criterion: _scored(criterion, said, material) for criterion in _COMPARED}
    scores[Criterion.REQUIREMENTS_FULFILMENT] = _by_requirements(said, material)
    scores[Criterion.OVERALL] = _overall(scores, material)
    return {
        "scores": [
            {"criterion": criterion.value, "score": score, "reason": reason}
            for criterion, (score, reason) in scores.items()
        ]
    }


def _overall(scores: Mapping[Criterion, tuple[int, str]], material: Material) -> tuple[int, str]:
    """The mean, in which what the evaluator values counts more."""
    weights = {one: 1 + _valued(one, material) for one in scores}
    total = sum(scores[one][0] * weight for one, weight in weights.items())
    most = max(weights.values())
    counted = [_noun(one) for one, weight in weights.items() if weight == most]
    stress = f"{joined(counted)} counting most" if len(counted) < _MANY else "all counting alike"
    reason = f"The mean of the other scores as {material.role.title} sees them, {stress}."
    return round(total / sum(weights.values())), reason


def _noun(criterion: Criterion) -> str:
    return criterion.value.replace("_", " ")


def _valued(criterion: Criterion, material: Material) -> int:
    """How much the evaluator's own criteria weigh what belongs to a criterion."""
    return max(
        (material.role.values.get(key, 0) for key in _COMPARED.get(criterion, ())), default=0
    )


def _scored(criterion: Criterion, said: str, material: Material) -> tuple[int, str]:
    """The mean of what is known: points dealt with, and how the option does by the criterion."""
    if not material.reading.covered:
        return _NEUTRAL, f"My checklist, {material.role.title}, does not cover this question."
    found = [
        _by_own_list(criterion, said, material),
        _by_shared_list(criterion, said, material),
        _by_option(criterion, said, material),
        _by_law(criterion, said, material),
    ]
    shares = [share for share, _ in found if share is not None]
    words = " ".join(text for _, text in found if text)
    return (_score(sum(shares) / len(shares)) if shares else _NEUTRAL), words


def _by_own_list(criterion: Criterion, said: str, material: Material) -> _Found:
    """The points of the evaluator's own checklist that are about the criterion."""
    keys, known = _COMPARED[criterion], catalogue()
    words = [word for key in keys for word in known.criteria[key].words]
    if _ROLES.get(criterion) and known.role(_ROLES[criterion]) is material.role:
        return None, ""
    own = [
        check
        for check in spread(material.role, material.reading)
        if any(mentions(normal(f"{check.ask} {check.do}"), word) for word in words)
    ]
    title = material.role.title
    if not own:
        return None, f"My list, {title}, asks nothing about it."
    return _dealt_with(own, said, f"my list, {title},")


def _by_shared_list(criterion: Criterion, said: str, material: Material) -> _Found:
    """The criterion's own checklist; who values the criterion expects all of it."""
    reading, known = material.reading, catalogue()
    if criterion is Criterion.REGULATORY_COMPLIANCE:
        lists = [role.checks.get(_DATA_PROTECTION, ()) for role in known.roles.values()]
        asked = _DATA_PROTECTION in reading.topics or reading.has_kind(_LAW)
        checks = [check for one in lists for check in one] if asked else []
        return _dealt_with(checks, said, "the points about personal data")
    role = known.role(_ROLES[criterion])
    expected = None if _valued(criterion, material) >= _STRONGEST else _EXPECTED
    return _dealt_with(spread(role, reading)[:expected], said, f"the list of {role.title}")


def _dealt_with(checks: Sequence[Check], said: str, whose: str) -> _Found:
    if not checks:
        return None, ""
    met = checks_met(checks, said)
    left = [check.ask for check in checks if check not in met]
    lead = f"Of {whose} it deals with {len(met)} of {len(checks)}"
    return len(met) / len(checks), f"{lead}, not with: {left[0]}" if left else f"{lead}."


def _by_option(criterion: Criterion, said: str, material: Material) -> _Found:
    """How the option does by the criterion, with what speaks loudest as the evaluator weighs it."""
    option = material.position(said).option
    if not option:
        return None, ""
    about = [
        reason
        for reason in find(material.ranked, option).reasons
        if reason.worth and reason.criterion in _COMPARED[criterion]
    ]
    if not about:
        return None, ""
    loudest = max(about, key=lambda reason: abs(reason.worth))
    return _standing(about), loudest.text


def _standing(about: Sequence[Reason]) -> float:
    """0 (all speaks against it) to 1, by what each reason is worth to the evaluator."""
    total = sum(abs(reason.worth) for reason in about)
    return (1 + sum(reason.worth for reason in about) / total) / 2


def _by_law(criterion: Criterion, said: str, material: Material) -> _Found:
    """The rules that the question names, for the criterion that is about them."""
    laws = [one for one in material.reading.requirements if one.kind == _LAW]
    if criterion is not Criterion.REGULATORY_COMPLIANCE or not laws:
        return None, ""
    missing = [one for one in laws if not one.is_met_in(said)]
    lead = f"It speaks of {len(laws) - len(missing)} of {len(laws)} rules that the question names."
    reason = f"{lead} Not of {quote(missing[0].text)}." if missing else lead
    return 1 - len(missing) / len(laws), reason


def _by_requirements(said: str, material: Material) -> tuple[int, str]:
    """How many requirements are met; half of one that is spoken of and that nothing shows met.

    The evaluator's own kinds count double.
    """
    demands = material.reading.requirements
    if not demands:
        return _NEUTRAL, "The question states no requirement."
    own = set(material.role.first)
    weights = {one: 2 if one.kind in own else 1 for one in demands}
    met = {one: _met(one, said, material) for one in demands}
    shown = sum(share == 1 for share in met.values())
    lead = f"{shown} of {len(demands)} requirements are taken up and met as far as is known."
    mine = [quote(one.text, 40) for one in demands if one.kind in own]
    lead += f" Seen from {material.role.title}, {joined(mine)} counts double." if mine else ""
    worst = min(demands, key=lambda one: (met[one], -weights[one]))
    reason = lead if met[worst] == 1 else f"{lead} Open: {worst.text}"
    share = sum(met[one] * weight for one, weight in weights.items()) / sum(weights.values())
    return _score(share), reason


def _met(demand: Requirement, said: str, material: Material) -> float:
    """1 where a decision speaks of a requirement and its option meets it, ½ where that is open."""
    if not demand.is_met_in(said):
        return 0.0
    option = material.position(said).option
    return 1.0 if option and fate_of(option, demand).outcome == "fits" else 0.5


def _score(share: float) -> int:
    return LOWEST + round(share * (HIGHEST - LOWEST))
