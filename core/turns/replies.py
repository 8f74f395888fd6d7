"""Model text → typed values: the form of structured replies and how they are read (pure)."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from core.models import NextStep, NoteOutcome, Verdict

#: A verdict that leaves a major requirement unmet is never more confident than this.
UNMET_CONFIDENCE_CAP = 40
#: Confidence of a verdict that had to be taken as raw text.
RAW_CONFIDENCE = 50
#: Longest decision shown in one line, in characters.
DECISION_MAX_CHARS = 300


class BallotReply(BaseModel):
    """What a voter answers: labels best first, a reason for each in the same order.

    An empty ranking with one reason is an abstention.
    """

    ranking: list[str]
    reasons: list[str]
    confidence: float | None
    #: Label of the critique that moved the voter, or empty.
    moved_by: str


class QuestionReply(BaseModel):
    """One clarifying question."""

    question: str
    assumption: str


class QuestionsReply(BaseModel):
    """What an agent wants to know."""

    questions: list[QuestionReply]


class FacilitationReply(BaseModel):
    """What a facilitator answers."""

    decision: str
    focus: str
    question: str
    assumption: str


class NoteReply(BaseModel):
    """What became of one note."""

    note: str
    used: bool
    explanation: str


class VerdictReply(BaseModel):
    """What the judge answers."""

    decision: str
    solution: str
    implementation: str
    tradeoffs: list[str]
    recommendations: list[str]
    unmet_requirements: list[str]
    open_questions: list[str]
    dissent: str
    overturned_by: list[str]
    notes: list[NoteReply]
    #: None: none can be given. (The form vendors get asks for a number.)
    confidence: int | None


def abstains(reply: BallotReply) -> bool:
    """Whether the voter ranks nothing and says why."""
    return not reply.ranking and len(reply.reasons) == 1 and bool(reply.reasons[0].strip())


def ballot_fault(reply: BallotReply, labels: Sequence[str]) -> str:
    """What is wrong with the ballot, as a sentence for the model; empty if it is good."""
    if abstains(reply):
        return ""
    if sorted(reply.ranking) != sorted(labels):
        return (
            f"The ranking must hold each of {', '.join(labels)} exactly once, best first; "
            f"it holds {', '.join(reply.ranking) or 'nothing'}."
        )
    if len(reply.reasons) != len(labels):
        return (
            f"There must be {len(labels)} reasons, one per label; there are {len(reply.reasons)}."
        )
    given = zip(reply.ranking, reply.reasons, strict=True)
    unfounded = [label for label, reason in given if not reason.strip()]
    if unfounded:
        return f"There must be a reason for each label; there is none for {', '.join(unfounded)}."
    if reply.confidence is not None and not 0 <= reply.confidence <= 1:
        return f'"confidence" must be from 0 to 1; it is {reply.confidence:g}.'
    return ""


def facilitation_fault(reply: FacilitationReply) -> str | None:
    """What is wrong with the decision, as a sentence for the model; None if it is good."""
    steps = [step.value for step in NextStep]
    if reply.decision in steps:
        return None
    return f'"decision" must be one of {", ".join(steps)}, not "{reply.decision}".'


def clamp(value: float, low: float, high: float) -> float:
    """The value, or the nearer end of the range."""
    return max(low, min(high, value))


def verdict_from(reply: VerdictReply, note_ids: Mapping[str, str]) -> Verdict:
    """The judge's reply as a verdict: confidence kept in its bounds, every note answered for.

    Args:
        reply: What the judge wrote.
        note_ids: The ids of the notes by the labels the judge saw.
    """
    unmet = _lines(reply.unmet_requirements)
    cap = UNMET_CONFIDENCE_CAP if unmet else 100
    return Verdict(
        decision=reply.decision.strip(),
        solution=reply.solution.strip(),
        implementation=reply.implementation.strip(),
        tradeoffs=_lines(reply.tradeoffs),
        recommendations=_lines(reply.recommendations),
        unmet_requirements=unmet,
        open_questions=_lines(reply.open_questions),
        dissent=reply.dissent.strip(),
        overturned_by=_lines(reply.overturned_by),
        notes=_note_outcomes(reply.notes, note_ids),
        confidence=None if reply.confidence is None else int(clamp(reply.confidence, 0, cap)),
    )


def verdict_from_text(text: str) -> Verdict:
    """A verdict from a reply that is not the structure asked for: the raw text, half believed."""
    return Verdict(
        decision=first_sentence(text),
        solution=text.strip(),
        confidence=RAW_CONFIDENCE,
        warnings=("The judge's reply was not in the form asked for; this is its raw text.",),
    )


def first_sentence(text: str) -> str:
    """The first line with words in it, without Markdown marks, cut visibly if it is long."""
    lines = (line.strip(" #*_>`-") for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if len(first) <= DECISION_MAX_CHARS:
        return first
    return first[: DECISION_MAX_CHARS - 1].rstrip() + "…"


def _lines(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(item.strip() for item in items if item.strip())


def _note_outcomes(
    replies: Sequence[NoteReply], note_ids: Mapping[str, str]
) -> tuple[NoteOutcome, ...]:
    """One outcome per note; a note the judge passed over is said to be unanswered."""
    answers = {reply.note.strip(): reply for reply in replies}
    return tuple(
        NoteOutcome(note=note_id, used=answers[label].used, explanation=answers[label].explanation)
        if label in answers
        else NoteOutcome(note=note_id, used=False, explanation="The judge did not mention it.")
        for label, note_id in note_ids.items()
    )
