"""The subject of a review: which sources it is, and what its author handed in since (pure)."""

from collections.abc import Sequence

from core.debate.contributions import Note
from core.debate.evidence import Source, SourceReference
from core.debate.questions import Clarification
from core.debate.state import Debate
from core.rules.formats import review
from core.rules.sources import KINDS, with_question

_HANDED_IN = "[Handed in, changed: "


def subject(debate: Debate) -> Sequence[Source]:
    """What is reviewed, as far as it was read: the sources that came with the question."""
    numbers = {int(turn.target or 0) for turn in with_question(debate)}
    return [source for source in _read(debate) if source.number in numbers]


def handed_in(debate: Debate) -> Sequence[Source]:
    first = subject(debate)
    return [source for source in _read(debate) if source not in first]


def role_of(debate: Debate, source: Source) -> str:
    """What a source is in a review: the subject, or its changed text; empty: neither."""
    if debate.setup.format != review.NAME:
        return ""
    read, title = subject(debate), source.reference.title
    if source in read:
        return "the subject"
    # Of a subject that is one source its changed text may have any title.
    changed = [
        source.id
        for source in handed_in(debate)
        if len(read) == 1 or source.reference.title == title
    ]
    is_of_subject = len(read) == 1 or any(source.reference.title == title for source in read)
    if source.id not in changed or not is_of_subject:
        return ""
    is_newest = source.id == changed[-1]
    return "the changed text" if is_newest else f"a changed text, replaced by {changed[-1]}"


def left_to_text(debate: Debate, item: Clarification) -> bool:
    """Whether a finding was put to the author, who handed in a changed text and said no more."""
    card, answer = debate.clarifications.get(review.ASKING.key), debate.answers.get(item.number)
    is_put = bool(debate.findings and card and item in card.items)
    return is_put and not (answer and answer.text) and bool(handed_in(debate))


def handing_in_words(titles: Sequence[str]) -> str:
    return f"{_HANDED_IN}{', '.join(titles)}]"


def is_handing_in(note: Note) -> bool:
    return bool(note.references) and note.text.startswith(_HANDED_IN)


def references(debate: Debate) -> Sequence[SourceReference]:
    return [reference for reference in debate.setup.references if reference.kind in KINDS]


def unreadable(debate: Debate) -> str:
    faults = [
        source for source in debate.sources if source.reference.kind in KINDS and source.fault
    ]
    if not references(debate) or subject(debate) or not faults:
        return ""
    text = "; ".join(f"{fault.reference.title}: {fault.fault}" for fault in faults)
    return f"What was to be reviewed could not be read ({text})."


def _read(debate: Debate) -> Sequence[Source]:
    return [source for source in debate.evidence if source.reference.kind in KINDS]
