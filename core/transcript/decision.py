"""The verdict as text, decision first: plain for the terminal, Markdown for reports (pure)."""

from collections.abc import Iterator, Sequence

from core.acts.verdict import audit_words, best_holder, decision_doubt, is_doubted
from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.state import Debate, Status
from core.debate.turn import JUDGE
from core.debate.verdict import LIST_TITLES, OVERTURNED_BY, Relation, Verdict, VerdictSource
from core.figures import money, percent
from core.rules.ending import ending_sentences, round_reasons
from core.rules.judging import first_turn
from core.rules.movement import hinge_words
from core.rules.options import held_by, leading, options_of
from core.rules.sealing import SEALED
from core.rules.voting import counted_ballots, preferred_options
from core.transcript.ballots import vote_lines
from core.transcript.cited import check_words, cited_verdict, decision_line, source_names
from core.transcript.found import findings_section
from core.transcript.markdown import inert_line, plain_line, shown_as_is
from core.transcript.options import criteria_section
from core.transcript.people import assumptions
from core.transcript.single_answer import single_answer_section
from core.transcript.words import (
    ResultLine,
    ResultSection,
    as_markdown,
    blocks,
    confidence_words,
    letters_words,
    line_words,
    lines_of,
    name_of,
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
        holder = inert_line(name_of(debate, best_holder(debate)))
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
    """That no agent voted against the verdict, or that the one who dissents did not; else empty."""
    firsts, option = preferred_options(debate), options_of(debate).resolve(verdict.option)
    if firsts is None or not option:
        return ""
    by = verdict.dissent_by
    if set(firsts.values()) <= {"", option}:
        if by not in {"", JUDGE, *firsts}:
            return (
                f"{name_of(debate, by)} has no ballot that counts; "
                "none that counts is against the verdict."
            )
        if len(firsts) < len(debate.setup.agents):
            return "No ballot that counts is against the verdict."
        return "No agent voted against the verdict."
    if by in {"", JUDGE} or firsts.get(by, "") not in {"", option}:
        return ""
    how = "held several options level" if by in firsts else "has no ballot that counts"
    if firsts.get(by):  # named: the line before may be about another option
        how = f'voted for "{options_of(debate).name(option)}" all the same'
    return f"{name_of(debate, by)} {how}."


def _holdouts(debate: Debate, verdict: Verdict) -> Iterator[str]:
    for agent in debate.setup.agents if verdict.option else ():
        shares = held_by(debate, agent.id)
        best = leading(shares)
        if best and best != verdict.option:
            name = options_of(debate).name(best)
            yield f"{name_of(debate, agent.id)} ended with {name} ({percent(shares[best])})"


def _without_decision(verdict: Verdict) -> str:
    """The solution without a first paragraph that only says the decision again."""
    first, _, rest = verdict.solution.strip().partition("\n\n")
    is_said = plain_line(first).rstrip(".") == verdict.decision.rstrip(".")
    return rest if rest.strip() and is_said else verdict.solution
