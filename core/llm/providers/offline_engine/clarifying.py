"""Clarifying questions: only about what the question leaves open, each with an assumption."""

from core.llm.providers.offline_engine.checklist import OpenPoint, catalogue
from core.llm.providers.offline_engine.material import Material
from core.llm.providers.offline_engine.question import Reading
from core.llm.providers.offline_engine.wording import mentions, normal

_MOST = 3
#: Topic of questions about what a word means; the usual open points say nothing to them.
DEFINITION = "definition"
_ABOUT_WORDS = ("meaning", "case")
#: What may be asked about a question that the checklists do not cover.
_ABOUT_ANYTHING = ("owner", "alternatives")


def open_points(material: Material) -> tuple[OpenPoint, ...]:
    """What matters to this role and nobody said, most important first."""
    known = catalogue().open_points
    keys = dict.fromkeys((*material.role.asks, *_ABOUT_WORDS))
    if not material.reading.covered:
        keys = dict.fromkeys(_ABOUT_ANYTHING)
    return tuple(known[key] for key in keys if _is_open(known[key], material.reading))


def questions(material: Material) -> dict[str, object]:
    """The role's questions with the assumption that holds if nobody answers."""
    asked = [
        {"question": point.question, "assumption": point.assumption}
        for point in open_points(material)[:_MOST]
    ]
    return {"questions": asked}


def _is_open(point: OpenPoint, reading: Reading) -> bool:
    about_words = reading.topics == (DEFINITION,)
    fits = (not point.topics and not about_words) or any(t in reading.topics for t in point.topics)
    if normal(point.question) in reading.asked_before:
        return False
    said = normal(reading.evidence)
    settled = reading.has_kind(*point.settled_by) or any(
        mentions(said, word) for word in point.words
    )
    return fits and not settled
