"""What tools answer as values, for programs; `results` makes them (pure)."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from core.models import FindingStatus, RequirementStatus, Severity, SourceKind, Value
from core.rules.ending import DebateState
from core.transcript.markdown import visible

#: Text of people and models: without escape sequences and signs that nobody sees.
Shown = Annotated[str, BeforeValidator(visible)]


class StartResult(Value):
    """Of `start_debate`."""

    debate_id: str
    fresh: bool = Field(description="False: the same was asked before; here it is.")
    agents: tuple[Shown, ...] = Field(description="Names of who debates; casting may change them.")
    format: str
    playbook: str | None = Field(description="The kind of debate that is followed; null: none.")
    most_rounds: int
    cost_cap_usd: float | None = Field(
        description="It stops before it costs more; null: no cap, or a price is unknown under the "
        "usual one."
    )
    warnings: tuple[Shown, ...] = ()


class OpenQuestion(Value):
    """A question that agents ask the person."""

    number: int
    finding: int | None = Field(
        description="Of a review: the finding it is about, by its number there; null: none."
    )
    question: Shown
    assumption: Shown = Field(description="Holds where nobody answers in time.")
    asked_by: tuple[Shown, ...]


class ReadSource(Value):
    """Something that agents read and cite."""

    label: str = Field(description="How it is cited: e1.")
    kind: SourceKind
    title: Shown
    role: str = Field(
        description="In a review: the subject, or its changed text; empty: evidence beside it."
    )
    fault: Shown = Field(description="Why it could not be read; empty: it was.")


class StatusResult(Value):
    """Of `debate_status`."""

    debate_id: str
    state: DebateState
    playbook: str | None = Field(description="The kind of debate that is followed; null: none.")
    stage: Shown = Field(description="Round and phase in words; empty once it has ended.")
    turns_done: int
    turns_total: int = Field(description="As far as can be foreseen.")
    waits_for: Shown = Field(description="Who or what the debate waits for; empty: it has ended.")
    open_questions: tuple[OpenQuestion, ...] = ()
    answer_until: str | None = Field(description="When the assumptions hold, in UTC.")
    sources: tuple[ReadSource, ...] = Field(description="What was read so far.")
    options: tuple[Shown, ...] = Field(description="What may be chosen, as far as it is known.")
    cost_usd: float | None = Field(description="Spent so far; null: a price is unknown.")
    decision: Shown = Field(description="The decision in a sentence; empty: none yet.")
    address: str = Field(description="Where people read it; empty: only here.")


class AnswerResult(Value):
    """Of `answer_question`."""

    debate_id: str
    recorded: tuple[int, ...] = Field(description="Numbers of the questions that are answered.")
    skipped: tuple[int, ...] = Field(
        description="Numbers of those closed without an answer: their assumptions hold."
    )
    too_late: tuple[int, ...] = Field(
        description="Answered or closed before; while the debate runs, the agents read these as "
        "notes."
    )
    still_open: tuple[int, ...]


class RevisionResult(Value):
    """Of `submit_revision`."""

    debate_id: str
    sources: tuple[str, ...] = Field(description="How the agents name the changed texts: e2.")
    still_open: tuple[int, ...] = Field(
        description="Numbers of questions that wait for the person still."
    )


class NoteResult(Value):
    """Of `add_note`."""

    debate_id: str
    taken: bool = Field(description="False: the debate has ended; nobody will read the note.")


class DecisionResult(Value):
    """Of `decide_on_verdict`."""

    debate_id: str
    standing: Shown = Field(description="How the verdict stands with the team now.")


class StopResult(Value):
    """Of `stop_debate`."""

    debate_id: str
    state: DebateState


class FoundFault(Value):
    """A finding of a review."""

    number: int = Field(description="Counted from 1, the gravest first; 0: not merged yet.")
    severity: Severity
    status: FindingStatus
    quoted: Shown = Field(description="The words of the subject that it is about.")
    source: str = Field(description="Which source they stand in, as the agents name it.")
    place: Shown = Field(description="Where in it: a line or page, or path and line of a diff.")
    wrong: Shown
    mend: Shown = Field(description="What would mend it; empty: nobody said.")
    why: Shown = Field(description="Why it is settled, or is not; empty: nobody said.")
    mended_by: Shown = Field(description="Words of the changed text that mend it; empty: none.")
    changed: tuple[Shown, ...] = Field(
        description="Lines of the diff to the changed text that touch its words: - old, + new."
    )
    raised_by: tuple[Shown, ...]


class JudgedRequirement(Value):
    """How the verdict stands to a requirement of the question."""

    requirement: Shown
    status: RequirementStatus
    shown_by: Shown = Field(description="Words of the solution that show it; empty: none.")


class CountedOption(Value):
    """An option in the vote of the agents, the best first."""

    option: Shown
    first_choices: float
    mean_probability: float = Field(description="How likely the agents hold it the best, 0 to 1.")


class VerdictResult(Value):
    """Of `get_verdict`."""

    debate_id: str
    state: DebateState
    question: Shown
    decision: Shown = Field(description="In a sentence; empty: there is none.")
    option: Shown = Field(description="The option decided for; empty: none of them.")
    standing: Shown = Field(
        description="Whether the team has accepted it; empty: nothing to decide."
    )
    confidence: int | None = Field(description="0 to 100; null: none can be given.")
    confidence_words: Shown
    reasons: tuple[Shown, ...] = ()
    solution: Shown = Field(
        default="", description="The judge's reasoning; of a review it opens with the sentence."
    )
    steps: Shown = Field(default="", description="How to carry it out.")
    vote: tuple[CountedOption, ...] = ()
    requirements: tuple[JudgedRequirement, ...] = ()
    unmet_requirements: tuple[Shown, ...] = ()
    sources: tuple[ReadSource, ...] = Field(default=(), description="What was read.")
    tradeoffs: tuple[Shown, ...] = ()
    dissent: Shown = ""
    findings: tuple[FoundFault, ...] = Field(
        default=(), description="Of a review: what is wrong with its subject, the gravest first."
    )
    overturned_by: tuple[Shown, ...] = Field(default=(), description="What would overturn it.")
    said_by_one: tuple[Shown, ...] = Field(
        default=(), description="What one agent alone raised and the decision leaves out."
    )
    recommendations: tuple[Shown, ...] = ()
    open_questions: tuple[Shown, ...] = ()
    partial: bool = Field(default=False, description="It was cut short.")
    cost_usd: float | None
    address: str = Field(description="Where people read it; empty: only here.")
    documents: tuple[str, ...] = Field(description="Resources to read all of it.")


class FoundDecision(Value):
    """A decision of an earlier debate."""

    debate_id: str
    question: Shown
    decision: Shown
    standing: Shown
    decided_at: str
    likeness: float = Field(description="How well it fits what was asked, 0 to 1.")


class SearchResult(Value):
    """Of `search_decisions`."""

    found: tuple[FoundDecision, ...]
    sure: bool = Field(description="Whether the first surely is what was meant.")


class ListedDebate(Value):
    """A debate in a list."""

    debate_id: str
    question: Shown
    state: DebateState
    decision: Shown
    standing: Shown = Field(description="How it stands with the team; empty: nothing to decide.")
    started_by: Shown


class ListResult(Value):
    """Of `list_debates`."""

    debates: tuple[ListedDebate, ...]


Result = (
    StartResult
    | StatusResult
    | AnswerResult
    | RevisionResult
    | NoteResult
    | DecisionResult
    | StopResult
    | VerdictResult
    | SearchResult
    | ListResult
)
