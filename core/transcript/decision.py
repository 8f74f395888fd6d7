"""The verdict as text, decision first: for the terminal, reports and decision records (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import shorten

from core.acts.verdict import audit_words, author_of_vote, decision_doubt, is_doubted
from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.state import Debate, Status
from core.debate.turn import JUDGE
from core.debate.verdict import LIST_TITLES, OVERTURNED_BY, Relation, Verdict, VerdictSource
from core.figures import day, money, percent
from core.rules import shadow
from core.rules.ending import ending_sentences, round_reasons
from core.rules.judging import first_turn
from core.rules.movement import hinge_words
from core.rules.options import current_stance, leading, options_of
from core.rules.sealing import SEALED
from core.rules.voting import counted_ballots, preferred_options
from core.transcript.cited import (
    check_note,
    cited_verdict,
    decision_line,
    decision_or_question,
    link_citations,
    source_names,
    source_title,
)
from core.transcript.markdown import inert_line, plain_line, shown_as_is
from core.transcript.people import adr_status, assumptions, outcome_words, standing_words
from core.transcript.review_comment import findings_section
from core.transcript.vote import criteria_section, positions_words, vote_lines
from core.transcript.words import (
    ResultLine,
    ResultSection,
    as_markdown,
    blocks,
    body_words,
    bullets,
    confidence_words,
    letters_words,
    line_words,
    lines_of,
    name_of,
    nested,
    quotation,
    spent_words,
    titled,
    turn_words,
)

#: Titles of sections that some surfaces lay out in their own way.
REASONS, SOLUTION, FINDINGS = "Why", "Reasoning and solution", "Findings"

_SOURCES = {
    VerdictSource.JUDGE: "the judge",
    VerdictSource.FALLBACK_JUDGE: "another agent's model in the judge's place",
    VerdictSource.WINNER: "nobody: no judge gave a verdict, so an agent's position stands",
}

_NO_MODEL = {
    OFFLINE: "rules, from checklists: no model was asked",
    EXAMPLE: "hand, as an example: no model was asked",
}


def decision_text(debate: Debate) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    if verdict is None:
        return no_decision_words(debate)
    return blocks(
        "Partial result: not all turns were taken." if verdict.partial else "",
        *(f"Note: {inert_line(warning)}" for warning in verdict.warnings),
        f"{shown_as_is(verdict.decision)}{decision_doubt(debate)}",
        *_verdict_blocks(debate, verdict, 0),
        single_answer_section(debate, level=1),
        f"Cost: {spent_words(debate.usage)}.",
    )


def verdict_section(debate: Debate, *, level: int = 2, with_question: bool = True) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    question = quotation(debate.setup.question) if with_question else ""
    if verdict is None:
        texts = (no_decision_words(debate), question, *_ending_lines(debate))
    else:
        texts = (
            *decision_lines(debate, verdict),
            question,
            *_verdict_blocks(debate, verdict, level),
        )
    return titled("Decision", *texts, level=level)


def decision_lines(debate: Debate, verdict: Verdict) -> Iterator[str]:
    """The warnings and the decision of a document; `verdict` is a `cited_verdict`."""
    yield from (f"> **Note:** {inert_line(warning)}" for warning in verdict.warnings)
    yield f"**{shown_as_is(verdict.decision)}**{decision_doubt(debate)}"


def _verdict_blocks(debate: Debate, verdict: Verdict, level: int) -> Iterator[str]:
    author = _SOURCES[verdict.source]
    if verdict.source is not VerdictSource.WINNER:
        author = _NO_MODEL.get(debate.setup.judge.provider, author)
    yield from _basis_lines(debate, verdict)
    if verdict.overrule and not verdict.overrule.stands:
        origin = "The decision is the option that won the vote, for which no agent's text argues"
        if best := author_of_vote(debate):
            holder = inert_line(name_of(debate, best))
            origin = (
                f"Decision and solution are the position of {holder}, the reasons are from ballots "
                "for it"
            )
        yield f"{origin}; the rest was written by {author}."
    else:
        yield f"Written by {author}."
    yield from (as_markdown(section, level + 1) for section in verdict_sections(debate, verdict))
    if not level:  # a report shows notes in another place
        yield as_markdown(notes_section(debate, verdict), 1)
    number = verdict.judge_confidence
    if number is not None and verdict.confidence != number:
        yield f"Footnote: the judge's own number, which does not count, was {number} of 100."


def no_decision_words(debate: Debate) -> str:
    if debate.is_sealed:
        return SEALED
    text = f"There is no decision. {inert_line(debate.failure)}".strip()
    if debate.status is Status.RUNNING:
        text = "None yet: the debate is running."
    earlier = debate.earlier_verdict
    if earlier is None:
        return text
    return blocks(text, f"The verdict before it was debated: {shown_as_is(decision_line(earlier))}")


def _basis_lines(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield confidence_words(verdict)
    texts = (*debate.contributions.values(), verdict, *counted_ballots(debate))
    if letters := letters_words(debate, texts):
        yield f"Letters that agents use for each other: {letters}"
    if sources := source_names(debate, verdict.model_dump_json()):
        yield inert_line(f"Sources: {sources}")
    if hinge := hinge_words(debate, verdict):
        yield inert_line(hinge)
    if playbook := debate.setup.playbook:
        yield f"Playbook: {inert_line(playbook.title)}"
    if audit := audit_words(debate):
        yield inert_line(audit)
    yield from (inert_line(line_words(line)) for line in vote_lines(debate, verdict))
    yield from _ending_lines(debate)


def _ending_lines(debate: Debate) -> Iterator[str]:
    for name, texts in (
        ("Why it was debated", round_reasons(debate)),
        ("How it ended", ending_sentences(debate)),
    ):
        if texts:
            yield inert_line(f"{name}: {' '.join(texts)}")


def verdict_sections(debate: Debate, verdict: Verdict) -> Iterator[ResultSection]:
    requirements = [
        (
            requirement.text,
            requirement.status.value
            + (" (an audit doubts it)" if is_doubted(debate, requirement) else ""),
            requirement.words or "–",
        )
        for requirement in verdict.requirements
    ]
    unmet = () if requirements else verdict.unmet_requirements
    sections = (
        findings_section(debate, FINDINGS),
        ResultSection(title=REASONS, lines=lines_of(verdict.reasons), note=check_note(debate)),
        *(ResultSection(title=part.title, text=part.text) for part in verdict.sections),
        ResultSection(
            title=dissent_title(debate, verdict),
            text=dissent_words(debate, verdict),
            lines=lines_of((*_holdouts(debate, verdict), dissent_vote_words(debate, verdict))),
        ),
        ResultSection(title=OVERTURNED_BY, lines=lines_of(verdict.overturned_by)),
        ResultSection(title="Said by one agent only", lines=[*_lone_lines(debate, verdict)]),
        ResultSection(title="Earlier decisions", lines=earlier_lines(verdict)),
        ResultSection(title=SOLUTION, text=_without_decision(verdict)),
        ResultSection(title="Implementation", text=verdict.implementation),
        ResultSection(
            title="Requirements",
            head=("Requirement", "Status", "Words that show it"),
            rows=requirements,
        ),
        ResultSection(title="Requirements that are not met", lines=lines_of(unmet)),
        criteria_section(debate, verdict),
        *(
            ResultSection(title=LIST_TITLES[name], lines=lines_of(getattr(verdict, name)))
            for name in ("tradeoffs", "recommendations", "open_questions")
        ),
        ResultSection(title="Assumptions", lines=lines_of(assumptions(debate))),
    )
    return (section for section in sections if not section.is_empty)


def notes_section(debate: Debate, verdict: Verdict | None) -> ResultSection:
    outcomes = {outcome.note: outcome for outcome in (verdict.notes if verdict else ())}
    lines = list[ResultLine]()
    for note in debate.notes:
        outcome = outcomes.get(note.id)
        use, reason = "not used", "The judge says nothing about it."
        if verdict is None:
            use, reason = "not answered", "There is no verdict."
        elif outcome:
            use, reason = "used" if outcome.used else use, outcome.explanation
        # In one line: a block of code in a note would go on to the end of this line.
        text = f"“{' '.join(note.text.split())}” ({use}) {reason}"
        lines.append(ResultLine(label=f"Note {note.number}", by=note.author, text=text))
    return ResultSection(title="What became of the notes", lines=lines)


def _lone_lines(debate: Debate, verdict: Verdict) -> Iterator[ResultLine]:
    for point in verdict.lone:
        turn = first_turn(debate, point)
        label = f"{point.kind.value.capitalize()}, {turn_words(debate, turn)}"
        yield ResultLine(label=label, turn=turn, text=point.text)


def earlier_lines(verdict: Verdict, *, with_reasons: bool = True) -> Sequence[ResultLine]:
    lines = list[ResultLine]()
    for earlier in verdict.earlier:
        title = f"[{earlier.title}]({earlier.address})" if earlier.address else earlier.title
        reason = f": {earlier.why}" if with_reasons and earlier.why else ""
        lines.append(
            ResultLine(
                label=f"{earlier.relation.value.capitalize()} {earlier.source}",
                text=f"{title} (`{earlier.debate}`){reason}",
                is_warning=earlier.relation is Relation.CONTRADICTS,
            )
        )
    return lines


def dissent_title(debate: Debate, verdict: Verdict) -> str:
    if verdict.dissent_by == JUDGE:
        return "The judge's own objection"
    return f"Dissent of {name_of(debate, verdict.dissent_by)}" if verdict.dissent_by else "Dissent"


def dissent_words(debate: Debate, verdict: Verdict) -> str:
    """The dissent without its agent's name, which is in the title."""
    if verdict.dissent_by in {"", JUDGE}:
        return verdict.dissent
    return verdict.dissent.removeprefix(f"{name_of(debate, verdict.dissent_by)}: ")


def dissent_vote_words(debate: Debate, verdict: Verdict) -> str:
    """A remark if the dissenting agent, or every agent, voted for the verdict; else empty."""
    firsts, option = preferred_options(debate), options_of(debate).resolve(verdict.option)
    if firsts is None or not option:
        return ""
    if set(firsts.values()) <= {"", option}:
        return "No ballot that counts is against the verdict."
    if firsts.get(verdict.dissent_by) != option:
        return ""
    # The option is named, because the line before can be about another one.
    name = options_of(debate).name(option)
    return f'{name_of(debate, verdict.dissent_by)} voted for "{name}" all the same.'


def _holdouts(debate: Debate, verdict: Verdict) -> Iterator[str]:
    for agent in debate.setup.agents if verdict.option else ():
        shares = current_stance(debate, agent.id)
        best = leading(shares)
        if best and best != verdict.option:
            name = options_of(debate).name(best)
            yield f"{name_of(debate, agent.id)} ended with {name} ({percent(shares[best])})"


def _without_decision(verdict: Verdict) -> str:
    """The solution without a first paragraph that only repeats the decision."""
    first, _, remainder = verdict.solution.strip().partition("\n\n")
    is_repeated = plain_line(first).rstrip(".") == verdict.decision.rstrip(".")
    return remainder if remainder.strip() and is_repeated else verdict.solution


def single_answer_words(debate: Debate) -> str:
    """The decision of the single answer, and whether it chose the verdict's option.

    Empty before the verdict, and if no model answered alone. Plain text as models wrote it.
    """
    answer = debate.shadow
    if answer is None or debate.verdict is None or shadow.is_sealed(debate):
        return ""
    decision = f"“{plain_line(link_citations(answer.decision, answer.citations)).rstrip('.')}”."
    # The model saw no options; its answer was matched to one of them afterwards.
    comparison = {
        True: "That counts as the same option.",
        False: "That does not count as this option.",
        None: "Whether that is the same option is not known.",
    }[shadow.agrees(debate)]
    return f"One model, asked alone, answered: {decision} {comparison}"


def cost_words(debate: Debate) -> str:
    answer = debate.shadow
    if answer is None or shadow.is_sealed(debate):
        return ""
    model = f" of {answer.call.model_name}" if answer.call else ""
    cost = money(shadow.shadow_usage(debate).cost)
    return f"The single answer{model} cost {cost}, which the debate's total includes."


def single_answer_section(debate: Debate, *, level: int = 2) -> str:
    """The single answer as Markdown under a heading of `level`.

    Empty while the debate runs, and if no single answer was requested.
    """
    answer, title = debate.shadow, "A single answer"
    if shadow.is_sealed(debate) or debate.setup.shadow_agent is None:
        return ""
    if answer is None:
        fault = inert_line(debate.shadow_fault or "It was not there when the debate ended.")
        return titled(title, f"There is none to compare with. {fault.rstrip('.')}.", level=level)
    citations = answer.citations
    answer = answer.with_texts(lambda text: link_citations(text, citations))
    lists = (
        ("What speaks for it", answer.reasons),
        ("Risks it named", answer.risks),
        (OVERTURNED_BY, answer.overturned_by),
    )
    return titled(
        title,
        inert_line(single_answer_words(debate)),
        inert_line(cost_words(debate)),
        nested(answer.solution, level + 1),
        *(titled(name, bullets(items), level=level + 1) for name, items in lists),
        level=level,
    )


# --- as an architecture decision record, ready for `docs/decisions/` -----------------------------

_TITLE_MAX_CHARS = 80
_TITLES = {LIST_TITLES["tradeoffs"]: "Consequences", OVERTURNED_BY: "Revisit when"}


def adr(debate: Debate) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    decision, sections = [no_decision_words(debate)], list[str]()
    if verdict:
        decision = [*decision_lines(debate, verdict)]
        for section in verdict_sections(debate, verdict):
            if section.title in {REASONS, SOLUTION}:
                decision.append(body_words(section, 2))
            else:
                title = _TITLES.get(section.title, section.title)
                sections.append(as_markdown(replace(section, title=title), 2))
        sure = confidence_words(verdict).removeprefix("Confidence: ")
        sections.append(titled("Confidence", sure))
    document = blocks(
        f"# {shown_as_is(adr_title(debate))}{decision_doubt(debate)}",
        bullets(_facts(debate)),
        titled("Context", quotation(debate.setup.question), nested(debate.setup.context, 2)),
        titled("Sources", bullets(_sources(debate))),
        titled("Options considered", bullets(positions_words(debate))),
        titled("Decision", *decision),
        *sections,
        titled("How it turned out", inert_line(outcome_words(debate.outcome))),
        titled("How it was decided", bullets(_process_lines(debate, verdict))),
    )
    return f"{document}\n"


def _process_lines(debate: Debate, verdict: Verdict | None) -> Iterator[str]:
    yield f"Agents: {', '.join(f'{agent.name} ({agent.role})' for agent in debate.setup.agents)}."
    if playbook := debate.setup.playbook:
        yield f"Playbook: {playbook.title}."
    yield from (line_words(line).removeprefix("Vote: ") for line in vote_lines(debate, verdict))
    yield from (*round_reasons(debate), *ending_sentences(debate))


def _facts(debate: Debate) -> Iterator[str]:
    state = standing_words(debate)
    remark = f" ({state})" if state and not debate.decision else ""
    yield f"Status: {adr_status(debate)}{remark}"
    yield f"Date: {day(debate.ended_at or debate.now)}"
    if newest := debate.decision:
        time = debate.times.get(f"decision/{newest.origin}", debate.now)
        yield f"Decided by: {newest.by.display_name}, {day(time)}"
        if newest.why.strip():
            yield f"Why: {newest.why}"
    yield f"Asked by: {debate.setup.asked_by.display_name}"
    yield f"Source: Moot debate `{debate.id}`"


def _sources(debate: Debate) -> Iterator[str]:
    for source in debate.evidence:
        title, address = source_title(debate, source), source.reference.address
        is_link = address.startswith(("https://", "http://")) and address != source.reference.title
        yield inert_line(f"{source.id}: {title}" + (f" ({address})" if is_link else ""))


def adr_title(debate: Debate) -> str:
    line = decision_or_question(debate).rstrip(".")
    return shorten(line, _TITLE_MAX_CHARS, placeholder="…")
