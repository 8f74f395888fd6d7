"""What tools answer: `values` for programs, and the same as text for people and models (pure)."""

from collections.abc import Iterator, Sequence

from bot.mcp.values import (
    CountedOption,
    FoundDecision,
    FoundFault,
    JudgedRequirement,
    ListedDebate,
    ListResult,
    OpenQuestion,
    ReadSource,
    SearchResult,
    StartResult,
    StatusResult,
    VerdictResult,
)
from bot.views.progress import progress, stage
from core.figures import counted, money, when
from core.llm.caps import firm_cap
from core.models import (
    Debate,
    Verdict,
)
from core.rules import schedule
from core.rules.ending import DebateState, state_of, state_words
from core.rules.findings import not_put_words, standing
from core.rules.formats.review import finding_put
from core.rules.options import options_of
from core.rules.subject import role_of
from core.transcript.cited import cited
from core.transcript.decision import decision_text, lone_lines
from core.transcript.options import headline_option
from core.transcript.people import recalled_title, standing_words
from core.transcript.sections import line_words
from core.transcript.words import confidence, name_of
from core.use_cases.recall import SURE_FROM, RecalledDecision, recalled_decision
from core.use_cases.start import StartedDebate

#: What is read of a debate by its address, by the last part of the address.
DOCUMENTS = ("report", "adr", "record")
#: Stands before text that people and models wrote.
_QUOTE = "> "
#: Of a debate without one: its fields are the defaults of the result.
_NO_VERDICT = Verdict(decision="", solution="", confidence=None)


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
    clarifications = schedule.open_questions(debate)
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
                number=clarification.number,
                finding=finding_put(debate, clarification),
                question=cited(clarification.question, ()),
                assumption=clarification.assumption,
                asked_by=tuple(name_of(debate, agent) for agent in clarification.asked_by),
            )
            for clarification in clarifications
        ),
        answer_until=when(due) if due and clarifications else None,
        sources=_sources(debate),
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
    yield from _source_lines(result.sources)
    if result.options:
        yield from ("Options:", *(f"{_QUOTE}{option}" for option in result.options))
    for question in result.open_questions:
        about = f", about finding {question.finding}" if question.finding else ""
        yield from (f"Question {question.number}{about}:", *_quoted(question.question))
        assumption = question.assumption or "nothing in particular"
        yield from ("Assumed without an answer:", *_quoted(assumption))
    if result.open_questions and (beyond := not_put_words(debate)):
        yield f"Of the findings {beyond}"
    if result.answer_until:
        yield f"Answer until {result.answer_until}; then the assumptions hold."
    if result.address:
        yield f"People read it here: {result.address}"
    if any(question.finding for question in result.open_questions):
        yield "Where the text is mended instead: submit_revision."
    yield _next(debate.id, result.state)


def _source_lines(sources: Sequence[ReadSource]) -> Iterator[str]:
    """What was read, a line each."""
    if sources:
        yield "Sources:"
    for source in sources:
        role = f" ({source.role})" if source.role else ""
        fault = f": could not be read: {source.fault}" if source.fault else ""
        yield from _quoted(f"{source.label}, {source.kind}: {source.title}{role}{fault}")


def _waits_for(debate: Debate, state: DebateState) -> str:
    """Who or what the debate waits for; empty where it has ended."""
    match state:
        case DebateState.WAITING_FOR_ANSWERS:
            numbers = ", ".join(
                str(question.number) for question in schedule.open_questions(debate)
            )
            due = schedule.due(debate)
            until = f" until {when(due)}" if due else ""
            several = "questions" if ", " in numbers else "question"
            return f"people's answers to {several} {numbers}{until}"
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
        standing=standing_words(debate),
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
        sources=_sources(debate),
        tradeoffs=judged.tradeoffs,
        dissent=judged.dissent,
        findings=_faults(debate),
        overturned_by=judged.overturned_by,
        said_by_one=tuple(map(line_words, lone_lines(debate, judged))),
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
        how = standing_words(debate) or "nothing to decide"
        head += f" Agents wrote this verdict; with the team it stands so: {how}."
    lines = [head, *_source_lines(result.sources), *_quoted(decision_text(debate))]
    return result, "\n".join([*lines, f"All of it: {result.documents[0]}"])


def _faults(debate: Debate) -> tuple[FoundFault, ...]:
    findings = debate.verdict.findings if debate.verdict else standing(debate)
    return tuple(
        FoundFault(
            number=finding.number,
            severity=finding.severity,
            status=finding.status,
            quoted=finding.citation.words,
            source=finding.citation.source,
            place=finding.citation.place,
            wrong=cited(finding.wrong, ()),
            mend=cited(finding.mend, ()),
            why=cited(finding.why, ()),
            mended_by=finding.mended_by.words if finding.mended_by else "",
            changed=finding.changed,
            raised_by=tuple(name_of(debate, agent) for agent in finding.raised_by),
        )
        for finding in findings
    )


def _sources(debate: Debate) -> tuple[ReadSource, ...]:
    return tuple(
        ReadSource(
            label=source.id,
            kind=source.reference.kind,
            title=source.reference.title,
            role=role_of(debate, source),
            fault=source.fault,
        )
        for source in debate.sources
        if source.text or source.fault
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
    decisions = tuple(
        FoundDecision(
            debate_id=item.debate.id,
            question=item.debate.setup.question,
            decision=item.debate.verdict.decision if item.debate.verdict else "",
            standing=standing_words(item.debate),
            decided_at=when(item.debate.ended_at or item.debate.now),
            likeness=round(item.likeness, 2),
        )
        for item in recalled
    )
    sure = bool(decisions) and decisions[0].likeness >= SURE_FROM
    result = SearchResult(found=decisions, sure=sure)
    if not decisions:
        return result, "No decision on this is known here. start_debate has it debated."
    title = recalled_title(recalled[0].debate) if sure else "The closest decisions that are known"
    lines = [f"{title}:"]
    for item in recalled:
        how = standing_words(item.debate) or "nothing to decide"
        how += f", {when(item.debate.ended_at or item.debate.now)}"
        lines += [f"Debate {item.debate.id} ({how}):", *_quoted(recalled_decision(item.debate))]
    return result, "\n".join(lines)


def listed(debates: Sequence[Debate]) -> tuple[ListResult, str]:
    """Return debates in a list, in their order."""
    items = tuple(
        ListedDebate(
            debate_id=debate.id,
            question=debate.setup.question,
            state=state_of(debate),
            decision=headline_option(debate) or (debate.verdict.decision if debate.verdict else ""),
            standing=standing_words(debate),
            started_by=debate.setup.asked_by.display_name,
        )
        for debate in debates
    )
    lines = [counted(len(items), "debate") + ", the newest first."]
    for item, debate in zip(items, debates, strict=True):
        lines.append(f"{item.debate_id} ({state_words(debate)}):")
        lines += _quoted(item.question)
        if item.decision:
            how = item.standing or "it decides nothing"
            lines += [f"Its verdict ({how}):", *_quoted(item.decision)]
    return ListResult(debates=items), "\n".join(lines)


def _quoted(text: str) -> Iterator[str]:
    """Text of people and models, so marked that none of it reads as ours."""
    for line in text.splitlines():
        yield f"{_QUOTE}{line}".rstrip()
