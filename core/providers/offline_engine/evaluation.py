"""Scores a decision: requirements met, and points of the checklists that it deals with."""

from core.evaluation import HIGHEST, LOWEST, Criterion
from core.providers.offline_engine.checklist import Check, catalogue
from core.providers.offline_engine.material import Material
from core.providers.offline_engine.positions import checks_met
from core.providers.offline_engine.proposal import spread
from core.providers.offline_engine.requirements import Requirement

#: Whose checklist each criterion is measured by; the two others are about requirements and all.
_ROLES = {
    Criterion.FUNCTIONAL_COMPLETENESS: "product",
    Criterion.PERFORMANCE_AND_SCALABILITY: "performance",
    Criterion.SECURITY: "security",
    Criterion.MAINTAINABILITY: "simplicity",
    Criterion.REGULATORY_COMPLIANCE: "security",
    Criterion.TESTABILITY: "testing",
}
#: Points of a checklist that others than its own role expect a decision to deal with.
_EXPECTED = 6
#: Score where nothing was asked for, so that nothing can be missed.
_NEUTRAL = 5


def evaluation(material: Material) -> dict[str, object]:
    """Every criterion with a score from 1 to 10 and the reason for it."""
    said = "\n".join(text.text for text in material.positions)
    scores = {criterion: _by_checklist(criterion, said, material) for criterion in _ROLES}
    scores[Criterion.REQUIREMENTS_FULFILMENT] = _by_requirements(said, material)
    mean = round(sum(score for score, _ in scores.values()) / len(scores))
    scores[Criterion.OVERALL] = (mean, "The mean of the other scores.")
    return {
        "scores": [
            {"criterion": criterion.value, "score": score, "reason": reason}
            for criterion, (score, reason) in scores.items()
        ]
    }


def _by_checklist(criterion: Criterion, said: str, material: Material) -> tuple[int, str]:
    """How many points of a role's checklist for this question the decision deals with."""
    role = catalogue().role(_ROLES[criterion])
    strict = role is material.role
    checks = spread(role, material.reading)[: None if strict else _EXPECTED]
    if not checks:
        return _NEUTRAL, "The checklist asks nothing about this question."
    met = checks_met(checks, said)
    return _score(len(met) / len(checks)), _checklist_words(checks, met)


def _checklist_words(checks: tuple[Check, ...], met: tuple[Check, ...]) -> str:
    open_ones = [check.ask for check in checks if check not in met]
    lead = f"It deals with {len(met)} of {len(checks)} points of the checklist."
    return f"{lead} Not dealt with: {open_ones[0]}" if open_ones else lead


def _by_requirements(said: str, material: Material) -> tuple[int, str]:
    demands = material.reading.requirements
    if not demands:
        return _NEUTRAL, "The question states no requirement."
    missing: list[Requirement] = [one for one in demands if not one.is_met_in(said)]
    lead = f"It takes up {len(demands) - len(missing)} of {len(demands)} requirements."
    reason = f"{lead} Not taken up: {missing[0].text}" if missing else lead
    return _score(1 - len(missing) / len(demands)), reason


def _score(share: float) -> int:
    return LOWEST + round(share * (HIGHEST - LOWEST))
