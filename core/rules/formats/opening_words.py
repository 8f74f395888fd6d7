"""A text in short without a model: what it says of itself, or its first paragraphs (pure)."""

from core.debate.contributions import Contribution

CUT_MARK = " […]"
#: Characters of another position where it is only shown for comparison.
IN_SHORT = 900
#: Characters by which an agent knows its own text again.
_BEGINNING = 160


def first_paragraphs(text: str, most: int = IN_SHORT) -> str:
    """As many whole paragraphs as fit; where not even the first does, its words, cut visibly."""
    if len(text) <= most:
        return text
    room, beginning = most - len(CUT_MARK), ""
    for paragraph in text.split("\n\n"):
        longer = f"{beginning}\n\n{paragraph}" if beginning else paragraph
        if len(longer) > room:
            break
        beginning = longer
    beginning = beginning or "".join(text[:room].rsplit(None, 1)[:1])
    return beginning.rstrip() + CUT_MARK


def in_brief(contribution: Contribution, most: int = IN_SHORT) -> str:
    """The answer and points that end a speech; its first paragraphs where it has none."""
    if not contribution.points:
        return first_paragraphs(contribution.text, most)
    return "\n- ".join((contribution.answer, *contribution.points))


def pointing_up(text: str, above: str) -> str:
    """How a text begins, and under which label above it stands in full."""
    return f"{first_paragraphs(text, _BEGINNING)}\n(In full above, in: {above}.)"
