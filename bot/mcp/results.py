"""What tools answer: values for programs, and the same as text for people and models (pure)."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from bot.views.progress import progress, stage
from core.evidence.earlier import decision_words
from core.figures import counted, money, when
from core.llm.caps import firm_cap
from core.models import Debate, FindingStatus, RequirementStatus, Severity, Value, Verdict
from core.rules import schedule
from core.rules.ending import DebateState, state_of, state_words
from core.rules.findings import not_put_words, standing
from core.rules.options import options_of
from core.transcript.decision import decision_text
from core.transcript.markdown import visible
from core.transcript.options import headline_option
from core.transcript.people import adr_status, recalled_title
from core.transcript.words import confidence, name_of
from core.use_cases.recall import SURE_FROM, RecalledDecision
from core.use_cases.start import StartedDebate

#: Text of people and models: without escape sequences and signs that nobody sees.
Shown = Annotated[str, BeforeValidator(visible)]
#: What is read of a debate by its address, by the last part of the address.
DOCUMENTS = ("report", "adr", "record")
#: Stands before text that people and models wrote.
_QUOTE = "> "
#: Of a debate without one: its fields are the defaults of the result.
_NO_VERDICT = Verdict(decision="", solution="", confidence=None)


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
    question: Shown
    assumption: Shown = Field(description="Holds where nobody answers in time.")
    asked_by: tuple[Shown, ...]


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
    options: tuple[Shown, ...] = Field(description="What may be chosen, as far as it is known.")
    cost_usd: float | None = Field(description="Spent so far; null: a price is unknown.")
    decision: Shown = Field(description="The decision in a sentence; empty: none yet.")
    address: str = Field(description="Where people read it; empty: only here.")


class AnswerResult(Value):
    """Of `answer_question`."""

    debate_id: str
    recorded: tuple[int, ...] = Field(description="Numbers of the questions that are answered.")
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
    standing: Shown = Field(description="Whether the team has accepted it: proposed until then.")
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
    tradeoffs: tuple[Shown, ...] = ()
    dissent: Shown = ""
    findings: tuple[FoundFault, ...] = Field(
        default=(), description="Of a review: what is wrong with its subject, the gravest first."
    )
    overturned_by: tuple[Shown, ...] = Field(default=(), description="What would overturn it.")
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


def address_of(debate_id: str, document: str) -> str:
    """Return the address under which a program reads a document of a debate."""
    return f"moot://debates/{debate_id}/{document}"


def started(begun: StartedDebate) -> tuple[StartResult, str]:
    """Return that a debate has begun, and what to do next."""
    setup, debate_id = begun.setup, begun.debate_id
    cap = firm_cap(setup, setup.forecast.cost if setup.forecast else None)
    result = StartResult(
        debate_id=debate_id,
        fresh=begun.fresh,
        agents=tuple(agent.name for agent in setup.agents),
        format=setup.format,
        playbook=setup.playbook.name if setup.playbook else None,
        most_rounds=setup.rounds,
        cost_cap_usd=None if cap is None else float(cap),
        warnings=setup.warnings,
    )
    what = "has begun" if begun.fresh else "is there already: the same was asked before"
    lines = [f"Debate {debate_id} {what}. It takes minutes and goes on by itself."]
    lines += [f"Playbook: {setup.playbook.name}."] if setup.playbook else []
    lines += [f"Note: {warning}" for warning in setup.warnings]
    lines.append(f"Next: debate_status with debate_id {debate_id} and wait_seconds 30.")
    return result, "\n".join(lines)


def status(debate: Debate, address: str) -> tuple[StatusResult, str]:
    """Return how far a debate has come, what its agents ask, and what to do next."""
    state, reached, playbook = state_of(debate), progress(debate), debate.setup.playbook
    asked = schedule.open_questions(debate)
    due, cost = schedule.due(debate), debate.usage.cost
    options = tuple(item.name for item in options_of(debate).items)
    result = StatusResult(
        debate_id=debate.id,
        state=state,
        playbook=playbook.name if playbook else None,
        stage="" if state.has_ended else stage(debate),
        turns_done=reached.done,
        turns_total=reached.total,
        waits_for=_waits_for(debate, state),
        open_questions=tuple(
            OpenQuestion(
                number=one.number,
                question=one.question,
                assumption=one.assumption,
                asked_by=tuple(name_of(debate, agent) for agent in one.asked_by),
            )
            for one in asked
        ),
        answer_until=when(due) if due and asked else None,
        options=options,
        cost_usd=None if cost is None else float(cost),
        decision=debate.verdict.decision if debate.verdict else "",
        address=address,
    )
    return result, "\n".join(_status_lines(debate, result))


def _status_lines(debate: Debate, result: StatusResult) -> Iterator[str]:
    """The status as text: a line each."""
    reached = progress(debate)
    yield f"Debate {debate.id}: {state_words(debate)}."
    if result.playbook:
        yield f"Playbook: {result.playbook}."
    if not result.state.has_ended:
        yield f"{result.stage}, {reached.words}. Cost so far: {money(debate.usage.cost)}."
        yield f"It waits for {result.waits_for}."
        if debate.outage:
            yield f"No model can be reached; it goes on by itself. {debate.outage}"
    if result.options:
        yield from ("Options:", *(f"{_QUOTE}{option}" for option in result.options))
    for question in result.open_questions:
        yield from (f"Question {question.number}:", *_quoted(question.question))
        assumption = question.assumption or "nothing in particular"
        yield from ("Assumed without an answer:", *_quoted(assumption))
    if result.open_questions and (beyond := not_put_words(debate)):
        yield f"Of the findings {beyond}"
    if result.answer_until:
        yield f"Answer until {result.answer_until}; then the assumptions hold."
    if result.address:
        yield f"People read it here: {result.address}"
    yield _next(debate.id, result.state)


def _waits_for(debate: Debate, state: DebateState) -> str:
    """Who or what the debate waits for; empty where it has ended."""
    match state:
        case DebateState.WAITING_FOR_ANSWERS:
            numbers = ", ".join(
                str(question.number) for question in schedule.open_questions(debate)
            )
            due = schedule.due(debate)
            until = f" until {when(due)}" if due else ""
            return f"people's answers to {numbers}{until}"
        case DebateState.PAUSED:
            return "whoever paused it"
        case DebateState.WAITING_FOR_MODELS:
            return "a model that can be reached"
        case DebateState.RUNNING:
            return "agents that are at work"
        case DebateState.CONCLUDED | DebateState.FAILED | DebateState.STOPPED:
            return ""


def _next(debate_id: str, state: DebateState) -> str:
    """What a program does next."""
    match state:
        case DebateState.WAITING_FOR_ANSWERS:
            return "Next: ask the person, then answer_question; do not answer in their place."
        case DebateState.PAUSED:
            return "Next: it is paused; whoever paused it resumes it."
        case DebateState.CONCLUDED | DebateState.FAILED | DebateState.STOPPED:
            return f"Next: get_verdict with debate_id {debate_id}."
        case DebateState.RUNNING | DebateState.WAITING_FOR_MODELS:
            return f"Next: debate_status with debate_id {debate_id} and wait_seconds 30."


def verdict(debate: Debate, address: str) -> tuple[VerdictResult, str]:
    """Return the verdict of a debate; why there is none else."""
    judged, cost, state = debate.verdict or _NO_VERDICT, debate.usage.cost, state_of(debate)
    result = VerdictResult(
        debate_id=debate.id,
        state=state,
        question=debate.setup.question,
        decision=judged.decision,
        option=headline_option(debate) if debate.verdict else "",
        standing=adr_status(debate),
        confidence=judged.confidence,
        confidence_words=confidence(judged) if debate.verdict else "",
        reasons=judged.reasons,
        solution=judged.solution,
        steps=judged.implementation,
        vote=_counted(debate),
        requirements=tuple(
            JudgedRequirement(
                requirement=requirement.text, status=requirement.status, shown_by=requirement.words
            )
            for requirement in judged.requirements
        ),
        unmet_requirements=judged.unmet_requirements,
        tradeoffs=judged.tradeoffs,
        dissent=judged.dissent,
        findings=_faults(debate),
        overturned_by=judged.overturned_by,
        recommendations=judged.recommendations,
        open_questions=judged.open_questions,
        partial=judged.partial,
        cost_usd=None if cost is None else float(cost),
        address=address,
        documents=tuple(address_of(debate.id, document) for document in DOCUMENTS),
    )
    if not state.has_ended:
        return result, f"{decision_text(debate)} {_next(debate.id, state)}"
    head = f"Debate {debate.id} has ended."
    if debate.verdict:
        head += f" Agents wrote this verdict; with the team it stands so: {adr_status(debate)}."
    lines = [head, *_quoted(decision_text(debate))]
    return result, "\n".join([*lines, f"All of it: {result.documents[0]}"])


def _faults(debate: Debate) -> tuple[FoundFault, ...]:
    found = debate.verdict.findings if debate.verdict else standing(debate)
    return tuple(
        FoundFault(
            number=one.number,
            severity=one.severity,
            status=one.status,
            quoted=one.citation.words,
            source=one.citation.source,
            place=one.citation.place,
            wrong=one.wrong,
            mend=one.mend,
            why=one.why,
            mended_by=one.mended_by.words if one.mended_by else "",
            changed=one.changed,
            raised_by=tuple(name_of(debate, agent) for agent in one.raised_by),
        )
        for one in found
    )


def _counted(debate: Debate) -> tuple[CountedOption, ...]:
    options = options_of(debate)
    return tuple(
        CountedOption(
            option=options.name(option.option) or option.option,
            first_choices=option.first_choices,
            mean_probability=round(option.mean_probability, 4),
        )
        for option in (debate.tally.options if debate.tally else ())
    )


def found_decisions(recalled: Sequence[RecalledDecision]) -> tuple[SearchResult, str]:
    """Return the decisions that were found, the best fit first."""
    found = tuple(
        FoundDecision(
            debate_id=one.debate.id,
            question=one.debate.setup.question,
            decision=one.debate.verdict.decision if one.debate.verdict else "",
            standing=adr_status(one.debate),
            decided_at=when(one.debate.ended_at or one.debate.now),
            likeness=round(one.likeness, 2),
        )
        for one in recalled
    )
    sure = bool(found) and found[0].likeness >= SURE_FROM
    result = SearchResult(found=found, sure=sure)
    if not found:
        return result, "No decision on this is known here. start_debate has it debated."
    title = recalled_title(recalled[0].debate) if sure else "The closest decisions that are known"
    lines = [f"{title}:"]
    for one in recalled:
        standing = f"{adr_status(one.debate)}, {when(one.debate.ended_at or one.debate.now)}"
        lines += [f"Debate {one.debate.id} ({standing}):", *_quoted(decision_words(one.debate))]
    return result, "\n".join(lines)


def listed(debates: Sequence[Debate]) -> tuple[ListResult, str]:
    """Return debates in a list, as they came."""
    found = tuple(
        ListedDebate(
            debate_id=one.id,
            question=one.setup.question,
            state=state_of(one),
            decision=headline_option(one) or (one.verdict.decision if one.verdict else ""),
            started_by=one.setup.asked_by.name or one.setup.asked_by.id,
        )
        for one in debates
    )
    lines = [counted(len(found), "debate") + ", the newest first."]
    for one, debate in zip(found, debates, strict=True):
        lines.append(f"{one.debate_id} ({state_words(debate)}):")
        lines += _quoted(one.question)
        lines += _quoted(f"Decided: {one.decision}") if one.decision else ()
    return ListResult(debates=found), "\n".join(lines)


def _quoted(text: str) -> Iterator[str]:
    """Text of people and models, so marked that none of it reads as ours."""
    for line in text.splitlines():
        yield f"{_QUOTE}{line}".rstrip()
