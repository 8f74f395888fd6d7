"""Results of the tools; clients get them as JSON (pure)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from bot.views.progress import progress, stage
from core.debate.contributions import FindingStatus, Severity
from core.debate.evidence import SourceKind
from core.debate.state import Debate
from core.figures import when
from core.llm.budget import firm_cap
from core.rules import schedule
from core.rules.ending import DebateState, state_of
from core.rules.formats.review import current_findings, finding_number, source_role, unasked_count
from core.rules.options import options_of
from core.transcript.cited import decision_line, link_citations
from core.transcript.decision import decision_text
from core.transcript.markdown import visible
from core.transcript.people import standing_words
from core.transcript.vote import headline_option
from core.transcript.words import name_of
from core.use_cases.recall import SURE_FROM, RecalledDecision
from core.use_cases.start import StartedDebate
from core.values import Value

#: Text of people or models, without escape sequences and invisible characters.
Shown = Annotated[str, BeforeValidator(visible)]


class StartResult(Value):
    debate_id: str
    fresh: bool = Field(description="False: the same was asked before; here it is.")
    agents: tuple[Shown, ...] = Field(description="Names of who debates; casting may change them.")
    playbook: str | None = Field(description="The kind of debate that is followed; null: none.")
    cost_cap_usd: float | None = Field(
        description="It stops before it costs more; null: no cap, or a price is unknown under the "
        "usual one."
    )
    warnings: tuple[Shown, ...] = ()


class OpenQuestion(Value):
    number: int
    finding: int | None = Field(
        description="Of a review: the finding it is about, by its number there; null: none."
    )
    question: Shown
    assumption: Shown = Field(description="Holds where nobody answers in time.")
    asked_by: tuple[Shown, ...]


class ReadSource(Value):
    label: str = Field(description="How it is cited: e1.")
    kind: SourceKind
    title: Shown
    role: str = Field(
        description="In a review: the subject, or its changed text; empty: evidence beside it."
    )
    fault: Shown = Field(description="Why it could not be read; empty: it was.")


class DebateResult(Value):
    debate_id: str
    state: DebateState
    decision: Shown = Field(description="The decision in a sentence; empty: there is none.")
    sources: tuple[ReadSource, ...] = Field(description="What was read so far.")
    cost_usd: float | None = Field(description="Spent so far; null: a price is unknown.")
    address: str = Field(description="Where people read it; empty: only here.")


class StatusResult(DebateResult):
    playbook: str | None = Field(description="The kind of debate that is followed; null: none.")
    stage: Shown = Field(description="Round and phase in words; empty once it has ended.")
    turns_done: int
    turns_total: int = Field(description="As far as can be foreseen.")
    waits_for: Shown = Field(description="Who or what the debate waits for; empty: it has ended.")
    open_questions: tuple[OpenQuestion, ...] = ()
    findings_not_asked_about: int = Field(
        description="Of a review: findings that matter and stand in the verdict without a question."
    )
    options: tuple[Shown, ...] = Field(description="What may be chosen, as far as it is known.")


class AnswerResult(Value):
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
    debate_id: str
    sources: tuple[str, ...] = Field(description="How the agents name the changed texts: e2.")
    still_open: tuple[int, ...] = Field(
        description="Numbers of questions that wait for the person still."
    )


class NoteResult(Value):
    debate_id: str
    taken: bool = Field(description="False: the debate has ended; nobody will read the note.")


class DecisionResult(Value):
    debate_id: str
    standing: Shown = Field(description="How the verdict stands with the team now.")


class StopResult(Value):
    debate_id: str
    state: DebateState


class ListedFinding(Value):
    number: int = Field(description="Counted from 1, the gravest first; 0: not merged yet.")
    severity: Severity
    status: FindingStatus
    quoted: Shown = Field(description="The words of the subject that it is about.")
    source: Shown = Field(description="Which source they stand in, as the agents name it.")
    place: Shown = Field(description="Where in it: a line or page, or path and line of a diff.")
    wrong: Shown
    mend: Shown = Field(description="What would mend it; empty: nobody said.")
    why: Shown = Field(description="Why it is settled, or is not; empty: nobody said.")
    mended_by: Shown = Field(description="Words of the changed text that mend it; empty: none.")
    changed: tuple[Shown, ...] = Field(
        description="Lines of the diff to the changed text that touch its words: - old, + new."
    )
    raised_by: tuple[Shown, ...]


class VerdictResult(DebateResult):
    question: Shown
    option: Shown = Field(description="The option decided for; empty: none of them.")
    standing: Shown = Field(
        description="Whether the team has accepted it; empty: nothing to decide."
    )
    confidence: int | None = Field(description="0 to 100; null: none can be given.")
    text: Shown = Field(
        description="The verdict as Markdown: reasons, solution, steps, requirements, vote, "
        "dissent, trade-offs, cost; where there is none, why."
    )
    findings: tuple[ListedFinding, ...] = Field(
        description="Of a review: what is wrong with its subject, the gravest first."
    )


class FoundDecision(Value):
    debate_id: str
    question: Shown
    decision: Shown
    standing: Shown
    decided_at: str
    likeness: float = Field(description="How well it fits what was asked, 0 to 1.")


class SearchResult(Value):
    found: tuple[FoundDecision, ...]
    sure: bool = Field(description="Whether the first surely is what was meant.")


class ListedDebate(Value):
    debate_id: str
    question: Shown
    state: DebateState
    decision: Shown
    standing: Shown = Field(description="How it stands with the team; empty: nothing to decide.")
    started_by: Shown


class ListResult(Value):
    debates: tuple[ListedDebate, ...]


def start_result(started: StartedDebate) -> StartResult:
    setup = started.setup
    cap = firm_cap(setup, setup.forecast.cost if setup.forecast else None)
    return StartResult(
        debate_id=started.debate_id,
        fresh=started.fresh,
        agents=tuple(agent.name for agent in setup.agents),
        playbook=setup.playbook.name if setup.playbook else None,
        cost_cap_usd=None if cap is None else float(cap),
        warnings=setup.warnings,
    )


def _common(debate: Debate, address: str) -> Mapping[str, Any]:
    cost = debate.usage.cost
    return {
        "debate_id": debate.id,
        "state": state_of(debate),
        "decision": decision_line(debate.verdict) if debate.verdict else "",
        "sources": tuple(
            ReadSource(
                label=source.id,
                kind=source.reference.kind,
                title=source.reference.title,
                role=source_role(debate, source),
                fault=source.fault,
            )
            for source in debate.sources
            if source.text or source.fault
        ),
        "cost_usd": None if cost is None else float(cost),
        "address": address,
    }


def status(debate: Debate, address: str) -> StatusResult:
    state, turns, playbook = state_of(debate), progress(debate), debate.setup.playbook
    return StatusResult(
        **_common(debate, address),
        playbook=playbook.name if playbook else None,
        stage="" if state.has_ended else stage(debate),
        turns_done=turns.done,
        turns_total=turns.total,
        waits_for=_waits_for(debate, state),
        open_questions=tuple(
            OpenQuestion(
                number=clarification.number,
                finding=finding_number(debate, clarification),
                question=link_citations(clarification.question, ()),
                assumption=clarification.assumption,
                asked_by=tuple(name_of(debate, agent) for agent in clarification.asked_by),
            )
            for clarification in schedule.open_questions(debate)
        ),
        findings_not_asked_about=unasked_count(debate),
        options=tuple(item.name for item in options_of(debate).items),
    )


def _waits_for(debate: Debate, state: DebateState) -> str:
    match state:
        case DebateState.WAITING_FOR_ANSWERS:
            numbers = [str(question.number) for question in schedule.open_questions(debate)]
            due = schedule.due(debate)
            deadline = f" until {when(due)}" if due else ""
            noun = "questions" if len(numbers) > 1 else "question"
            return f"people's answers to {noun} {', '.join(numbers)}{deadline}"
        case DebateState.PAUSED:
            return "whoever paused it"
        case DebateState.WAITING_FOR_MODELS:
            return f"a model that can be reached. {debate.outage}".rstrip()
        case DebateState.RUNNING:
            return "agents that are at work"
        case _:
            return ""


def verdict(debate: Debate, address: str) -> VerdictResult:
    result = debate.verdict
    return VerdictResult(
        **_common(debate, address),
        question=debate.setup.question,
        option=headline_option(debate) if result else "",
        standing=standing_words(debate),
        confidence=result.confidence if result else None,
        text=decision_text(debate),
        findings=tuple(
            ListedFinding(
                number=finding.number,
                severity=finding.severity,
                status=finding.status,
                quoted=finding.citation.words,
                source=finding.citation.source,
                place=finding.citation.place,
                wrong=link_citations(finding.wrong, ()),
                mend=link_citations(finding.mend, ()),
                why=link_citations(finding.why, ()),
                mended_by=finding.mended_by.words if finding.mended_by else "",
                changed=finding.changed,
                raised_by=tuple(name_of(debate, agent) for agent in finding.raised_by),
            )
            for finding in (result.findings if result else current_findings(debate))
        ),
    )


def search_result(decisions: Sequence[RecalledDecision]) -> SearchResult:
    found = tuple(
        FoundDecision(
            debate_id=item.debate.id,
            question=item.debate.setup.question,
            decision=decision_line(item.debate.verdict) if item.debate.verdict else "",
            standing=standing_words(item.debate),
            decided_at=when(item.debate.ended_at or item.debate.now),
            likeness=round(item.likeness, 2),
        )
        for item in decisions
    )
    return SearchResult(found=found, sure=bool(found) and found[0].likeness >= SURE_FROM)


def list_result(debates: Sequence[Debate]) -> ListResult:
    return ListResult(
        debates=tuple(
            ListedDebate(
                debate_id=debate.id,
                question=debate.setup.question,
                state=state_of(debate),
                decision=headline_option(debate)
                or (decision_line(debate.verdict) if debate.verdict else ""),
                standing=standing_words(debate),
                started_by=debate.setup.asked_by.display_name,
            )
            for debate in debates
        )
    )
