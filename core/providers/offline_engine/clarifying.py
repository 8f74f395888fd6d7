"""Clarifying questions: only about what the question leaves open, with the assumption in its place."""

from core.providers.offline_engine.checklist import OpenPoint, catalogue
from core.providers.offline_engine.material import Material
from core.providers.offline_engine.question import Reading
from core.providers.offline_engine.wording import mentions, normal

_MOST = 3


def open_points(material: Material) -> tuple[OpenPoint, ...]:
    """What matters to this role and nobody said, most important first."""
    known = catalogue().open_points
    points = (known[key] for key in material.role.asks)
    return tuple(point for point in points if _is_open(point, material.reading))


def questions(material: Material) -> dict[str, object]:
    """The role's questions with the assumption that holds if nobody answers."""
    asked = [
        {"question": point.question, "assumption": point.assumption}
        for point in open_points(material)[:_MOST]
    ]
    return {"questions": asked}


def _is_open(point: OpenPoint, reading: Reading) -> bool:
    fits = not point.topics or any(topic in reading.topics for topic in point.topics)
    said = normal(reading.evidence)
    settled = reading.has_kind(*point.settled_by) or any(mentions(said, word) for word in point.words)
    return fits and not settled
