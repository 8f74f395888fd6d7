"""The verdict as text, decision first: for the terminal, for reports, as an ADR (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import shorten

from core.acts.verdict import audit_words, best_author, decision_doubt, is_doubted
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
    check_words,
    cited_verdict,
    decided_or_asked,
    decision_line,
    link_citations,
    source_names,
    title_in,
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
    titled,
    turn_words,
)

#: Titles of sections that some surface shows in its own way.
REASONS, SOLUTION, FINDINGS = "Why", "Reasoning and solution", "Findings"

_SOURCES = {
    VerdictSource.JUDGE: "the judge",
    VerdictSource.FALLBACK_JUDGE: "another agent's model in the judge's place",
    VerdictSource.WINNER: "nobody: no judge gave a verdict, so the winning position stands",
}

_NO_MODEL = {
    OFFLINE: "rules, from checklists: no model was asked",
    EXAMPLE: "hand, as an example: no model was asked",
}


def decision_text(debate: Debate) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    if verdict is None:
        return why_none(debate)
    return blocks(
        "Partial result: not all turns were taken." if verdict.partial else "",
        *(f"Note: {inert_line(warning)}" for warning in verdict.warnings),
        f"{shown_as_is(verdict.decision)}{decision_doubt(debate)}",
        *_whole(debate, verdict, 0),
        single_answer_section(debate, level=1),
        f"Cost: {money(debate.usage.cost)}.",
    )


def verdict_section(debate: Debate, *, level: int = 2, with_question: bool = True) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    question = quotation(debate.setup.question) if with_question else ""
    if verdict is None:
        texts = (why_none(debate), question, *_ending(debate))
    else:
        texts = (*decided_lines(debate, verdict), question, *_whole(debate, verdict, level))
    return titled("Decision", *texts, level=level)


def decided_lines(debate: Debate, verdict: Verdict) -> Iterator[str]:
    """The decision in a document, below its warnings; `verdict` is a `cited_verdict`."""
    yield from (f"> **Note:** {inert_line(warning)}" for warning in verdict.warnings)
    yield f"**{shown_as_is(verdict.decision)}**{decision_doubt(debate)}"


def _whole(debate: Debate, verdict: Verdict, level: int) -> Iterator[str]:
    author = _SOURCES[verdict.source]
    if verdict.source is not VerdictSource.WINNER:
        author = _NO_MODEL.get(debate.setup.judge.provider, author)
    yield from _standing(debate, verdict)
    if verdict.overrule and not verdict.overrule.stands:
        holder = inert_line(name_of(debate, best_author(debate)))
        yield (
            f"Decision and solution are the position of {holder}, the reasons are from ballots "
            f"for it; the rest was written by {author}."
        )
    else:
        yield f"Written by {author}."
    yield from (as_markdown(section, level + 1) for section in verdict_sections(debate, verdict))
    if not level:  # a report has them with what people did
        yield as_markdown(notes_section(debate, verdict), 1)
    own = verdict.judge_confidence
    if own is not None and verdict.confidence != own:
        yield f"Footnote: the judge's own number, which does not count, was {own} of 100."


def why_none(debate: Debate) -> str:
    if debate.is_sealed:
        return SEALED
    why = f"There is no decision. {inert_line(debate.failure)}".strip()
    if debate.status is Status.RUNNING:
        why = "None yet: the debate is running."
    earlier = debate.earlier_verdict
    if earlier is None:
        return why
    return blocks(why, f"The verdict before it was debated: {shown_as_is(decision_line(earlier))}")


def _standing(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield confidence_words(verdict)
    ballots = counted_ballots(debate, debate.tally) if debate.tally else ()
    texts = (*debate.contributions.values(), verdict, *ballots)
    if letters := letters_words(debate, texts):
        yield f"Letters that agents go by among themselves: {letters}"
    if cited := source_names(debate, verdict.model_dump_json()):
        yield inert_line(f"Sources: {cited}")
    if hangs_on := hinge_words(debate, verdict):
        yield inert_line(hangs_on)
    if playbook := debate.setup.playbook:
        yield f"Playbook: {inert_line(playbook.title)}"
    if audited := audit_words(debate):
        yield inert_line(audited)
    yield from (inert_line(line_words(line)) for line in vote_lines(debate, verdict))
    yield from _ending(debate)


def _ending(debate: Debate) -> Iterator[str]:
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
        ResultSection(title=REASONS, lines=lines_of(verdict.reasons), note=check_words(debate)),
        *(ResultSection(title=own.title, text=own.text) for own in verdict.sections),
        ResultSection(
            title=dissent_title(debate, verdict),
            text=dissent_words(debate, verdict),
            lines=lines_of((*_holdouts(debate, verdict), against_words(debate, verdict))),
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
        used, why = "not used", "The judge says nothing about it."
        if verdict is None:
            used, why = "not answered", "There is no verdict."
        elif outcome:
            used, why = "used" if outcome.used else used, outcome.explanation
        text = f"“{note.text}” ({used}) {why}"
        lines.append(ResultLine(label=f"Note {note.number}", by=note.author, text=text))
    return ResultSection(title="What became of the notes", lines=lines)


def _lone_lines(debate: Debate, verdict: Verdict) -> Iterator[ResultLine]:
    for point in verdict.lone:
        turn = first_turn(debate, point)
        label = f"{point.kind.value.capitalize()}, {turn_words(debate, turn)}"
        yield ResultLine(label=label, turn=turn, text=point.text)


def earlier_lines(verdict: Verdict, *, whole: bool = True) -> Sequence[ResultLine]:
    lines = list[ResultLine]()
    for earlier in verdict.earlier:
        title = f"[{earlier.title}]({earlier.address})" if earlier.address else earlier.title
        why = f": {earlier.why}" if whole and earlier.why else ""
        lines.append(
            ResultLine(
                label=f"{earlier.relation.value.capitalize()} {earlier.source}",
                text=f"{title} (`{earlier.debate}`){why}",
                is_warning=earlier.relation is Relation.CONTRADICTS,
            )
        )
    return lines


def dissent_title(debate: Debate, verdict: Verdict) -> str:
    if verdict.dissent_by == JUDGE:
        return "The judge's own objection"
    return f"Dissent of {name_of(debate, verdict.dissent_by)}" if verdict.dissent_by else "Dissent"


def dissent_words(debate: Debate, verdict: Verdict) -> str:
    """The dissent without its agent's name before it, which the title has."""
    if verdict.dissent_by in {"", JUDGE}:
        return verdict.dissent
    return verdict.dissent.removeprefix(f"{name_of(debate, verdict.dissent_by)}: ")


def against_words(debate: Debate, verdict: Verdict) -> str:
    """That no ballot is against the verdict, or not that of the agent who dissents; else empty."""
    firsts, option = preferred_options(debate), options_of(debate).resolve(verdict.option)
    if firsts is None or not option:
        return ""
    if set(firsts.values()) <= {"", option}:
        return "No ballot that counts is against the verdict."
    if firsts.get(verdict.dissent_by) != option:
        return ""
    # Named: the line before may be about another option.
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
    """The solution without a first paragraph that only says the decision again."""
    first, _, rest = verdict.solution.strip().partition("\n\n")
    is_said = plain_line(first).rstrip(".") == verdict.decision.rstrip(".")
    return rest if rest.strip() and is_said else verdict.solution


def single_answer_words(debate: Debate) -> str:
    """One sentence: whether it chose the verdict's option, and its decision in its own words.

    Empty before the verdict and where no model answered alone. Plain text, as models wrote it.
    """
    alone = debate.shadow
    if alone is None or debate.verdict is None or shadow.is_sealed(debate):
        return ""
    decision = f"“{plain_line(link_citations(alone.decision, alone.citations)).rstrip('.')}”."
    # The model saw no options: its answer was placed among them afterwards.
    compared = {
        True: "That counts as the same option.",
        False: "That does not count as this option.",
        None: "Whether that is the same option is not known.",
    }[shadow.agrees(debate)]
    return f"One model, asked alone, answered: {decision} {compared}"


def cost_words(debate: Debate) -> str:
    alone = debate.shadow
    if alone is None or shadow.is_sealed(debate):
        return ""
    call = alone.call
    by = f" of {call.provider}/{call.model}" if call else ""
    cost = money(shadow.shadow_usage(debate).cost)
    return f"The single answer{by} cost {cost}, which the debate's total includes."


def single_answer_section(debate: Debate, *, level: int = 2) -> str:
    """The answer as Markdown under a heading of that level.

    Empty while the debate runs and where none was asked for.
    """
    alone, title = debate.shadow, "A single answer"
    if shadow.is_sealed(debate) or debate.setup.shadow_agent is None:
        return ""
    if alone is None:
        why = inert_line(debate.shadow_fault or "It was not there when the debate ended.")
        return titled(title, f"There is none to compare with. {why.rstrip('.')}.", level=level)
    citations = alone.citations
    alone = alone.with_texts(lambda text: link_citations(text, citations))
    lists = (
        ("What speaks for it", alone.reasons),
        ("Risks it named", alone.risks),
        (OVERTURNED_BY, alone.overturned_by),
    )
    return titled(
        title,
        inert_line(single_answer_words(debate)),
        inert_line(cost_words(debate)),
        nested(alone.solution, level + 1),
        *(titled(name, bullets(items), level=level + 1) for name, items in lists),
        level=level,
    )


# --- as an architecture decision record, ready for `docs/decisions/` -----------------------------

_TITLE_MAX_CHARS = 80
_TITLES = {LIST_TITLES["tradeoffs"]: "Consequences", OVERTURNED_BY: "Revisit when"}


def adr(debate: Debate) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    decided, sections = [why_none(debate)], list[str]()
    if verdict:
        decided = [*decided_lines(debate, verdict)]
        for section in verdict_sections(debate, verdict):
            if section.title in {REASONS, SOLUTION}:
                decided.append(body_words(section, 2))
            else:
                title = _TITLES.get(section.title, section.title)
                sections.append(as_markdown(replace(section, title=title), 2))
        sure = confidence_words(verdict).removeprefix("Confidence: ")
        sections.append(titled("Confidence", sure))
    document = blocks(
        f"# {shown_as_is(title_of(debate))}{decision_doubt(debate)}",
        bullets(_facts(debate)),
        titled("Context", quotation(debate.setup.question), nested(debate.setup.context, 2)),
        titled("Sources", bullets(_sources(debate))),
        titled("Options considered", bullets(positions_words(debate))),
        titled("Decision", *decided),
        *sections,
        titled("How it turned out", inert_line(outcome_words(debate.outcome))),
        titled("How it was decided", bullets(_how_decided(debate, verdict))),
    )
    return f"{document}\n"


def _how_decided(debate: Debate, verdict: Verdict | None) -> Iterator[str]:
    yield f"Agents: {', '.join(f'{agent.name} ({agent.role})' for agent in debate.setup.agents)}."
    if playbook := debate.setup.playbook:
        yield f"Playbook: {playbook.title}."
    yield from (line_words(line).removeprefix("Vote: ") for line in vote_lines(debate, verdict))
    yield from (*round_reasons(debate), *ending_sentences(debate))


def _facts(debate: Debate) -> Iterator[str]:
    state = standing_words(debate)
    still = f" ({state})" if state and not debate.decision else ""
    yield f"Status: {adr_status(debate)}{still}"
    yield f"Date: {day(debate.ended_at or debate.now)}"
    if newest := debate.decision:
        at = debate.times.get(f"decision/{newest.origin}", debate.now)
        yield f"Decided by: {newest.by.display_name}, {day(at)}"
        if newest.why.strip():
            yield f"Why: {newest.why}"
    yield f"Asked by: {debate.setup.asked_by.display_name}"
    yield f"Source: Moot debate `{debate.id}`"


def _sources(debate: Debate) -> Iterator[str]:
    for source in debate.evidence:
        title, address = title_in(debate, source), source.reference.address
        is_link = address.startswith(("https://", "http://")) and address != source.reference.title
        yield inert_line(f"{source.id}: {title}" + (f" ({address})" if is_link else ""))


def title_of(debate: Debate) -> str:
    line = decided_or_asked(debate).rstrip(".")
    return shorten(line, _TITLE_MAX_CHARS, placeholder="…")
