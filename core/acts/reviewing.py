"""Reviews: agents' findings in the subject, their merge, the second look, and the verdict.

The verdict's headline and list come from the findings; its reasons come from the judge.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ACTS, ActSpec, side_act
from core.acts.citing import hidden_passage_counts, without_quotes
from core.acts.context import question_parts
from core.acts.replies import NOBODY, exact_label, label_in, label_type, narrow_form
from core.acts.request_for import ask_for_same, ask_model
from core.debate.contributions import (
    Contribution,
    Findings,
    FindingStatus,
    NoteOutcome,
    ReviewFinding,
    Severity,
)
from core.debate.evidence import Source
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, FindingsMerged
from core.debate.verdict import Judgement, Verdict
from core.errors import CallFailed
from core.evidence.citations import check, check_citations
from core.evidence.diffs import changes_at, is_gone, quoted_in, revision_of
from core.figures import quantity
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules.formats.registry import format_of
from core.rules.formats.review import (
    FORMAT,
    MOST_FINDINGS,
    NAME,
    NOT_READY,
    READY,
    SEVERE,
    VERDICTS,
    WITH_CHANGES,
    answered_words,
    changed_texts,
    current_findings,
    is_handing_in,
    merge_findings,
    open_findings_words,
    own_findings,
    raised_findings,
    subject,
)
from core.rules.options import options_of
from core.rules.voting import option_voted_for
from core.usage import Call

#: Longest quote of the subject in a finding, in characters.
_WORDS_MAX_CHARS = 400
_BY_WORDS = "No model could merge the findings; those in the same words count as one."
_STATES = [FindingStatus.RESOLVED.value, FindingStatus.ANSWERED.value, FindingStatus.OPEN.value]
_NAMES_OF_STATES = {state: state for state in _STATES} | dict.fromkeys(
    ("fixed", "settled"), FindingStatus.RESOLVED.value
)


class FindingReply(BaseModel):
    source: str
    words: str
    wrong: str
    mend: str = ""
    severity: str


class LookReply(BaseModel):
    finding: str
    why: str = ""
    status: Annotated[
        str,
        BeforeValidator(
            partial(exact_label, labels=_NAMES_OF_STATES, default=FindingStatus.OPEN.value)
        ),
        WithJsonSchema({"type": "string", "enum": _STATES}),
    ]
    #: Quote of the changed text that resolves the finding.
    words: str = ""


class ReviewReply(BaseModel):
    findings: list[FindingReply]
    summary: str
    #: Id of the verdict that the agent would give, or `NOBODY`.
    verdict: str = NOBODY


class SecondLookReply(BaseModel):
    looks: list[LookReply]
    new: list[FindingReply] = []
    summary: str
    verdict: str = NOBODY


@cache
def review_reply(sources: tuple[str, ...]) -> type[ReviewReply]:
    verdict = label_type((*VERDICTS, NOBODY))
    return narrow_form(ReviewReply, findings=list[_finding_form(sources)], verdict=verdict)


@cache
def second_look_reply(labels: tuple[str, ...], sources: tuple[str, ...]) -> type[SecondLookReply]:
    look = narrow_form(LookReply, finding=label_type(labels))
    verdict, new = label_type((*VERDICTS, NOBODY)), list[_finding_form(sources)]
    return narrow_form(SecondLookReply, looks=list[look], new=new, verdict=verdict)


def _finding_form(sources: tuple[str, ...]) -> type[FindingReply]:
    types = {"severity": label_type([severity.value for severity in Severity])}
    if sources:
        types["source"] = label_type(sources)
    return narrow_form(FindingReply, **types)


async def review(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    sources = subject(debate)
    form = review_reply(tuple(source.id for source in sources))
    reply, call = await ask_model(calls, debate, turn, form)
    findings = await asyncio.to_thread(_findings_in, reply.findings, sources)
    text = await asyncio.to_thread(_findings_text, debate, turn, reply, findings, call=call)
    return ContributionMade(contribution=text)


async def look_again(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    revisions, findings = changed_texts(debate), own_findings(debate, turn.agent)
    sources = (*subject(debate), *revisions)
    labels = tuple(f"f{finding.number}" for finding in findings)
    form = second_look_reply(labels, tuple(source.id for source in sources))
    reply, call = await ask_model(calls, debate, turn, form)
    looks = {label_in(answer.finding, labels): answer for answer in reply.looks}

    def check_reply() -> Contribution:
        again = [
            _after_second_look(finding, looks.get(f"f{finding.number}"), subject(debate), revisions)
            for finding in findings
        ]
        again = [finding.model_copy(update={"raised_by": ()}) for finding in again]
        new = _findings_in(reply.new, sources, FindingStatus.NEW)
        return _findings_text(debate, turn, reply, [*again, *new], call=call)

    return ContributionMade(contribution=await asyncio.to_thread(check_reply))


def _after_second_look(
    finding: ReviewFinding,
    look: LookReply | None,
    sources: Sequence[Source],
    revisions: Sequence[Source],
) -> ReviewFinding:
    """The finding after a second look; open if the agent does not mention it.

    It is resolved only if a changed text shows it: the criticised words are gone, or the agent
    quotes words that correct them.
    """
    revision = revision_of(finding.citation, sources, revisions)
    before = next((source for source in sources if source.id == finding.citation.source), None)
    lines = changes_at(finding.citation, before, revision) if before and revision else ()
    if look is None:
        return finding.model_copy(update={"changed": lines})
    mended_by = quoted_in(look.words, revisions) if look.words.strip() else None
    status = FindingStatus(look.status)
    is_shown = mended_by is not None or is_gone(finding.citation, revision)
    if status is FindingStatus.RESOLVED and not is_shown:
        status = FindingStatus.ANSWERED
    reason, _ = check_citations(look.why.strip(), (*sources, *revisions))
    state = {"status": status, "why": reason, "changed": lines, "mended_by": mended_by}
    return finding.model_copy(update=state)


async def merge(calls: ModelCalls, debate: Debate, turn: Turn) -> FindingsMerged:
    findings, spent = raised_findings(debate), dict[str, Any]()
    firsts: Sequence[int] = range(len(findings))
    if len({finding.raised_by for finding in findings}) > 1:
        labels = _labels(debate)
        try:
            firsts, spent["call"] = await ask_for_same(calls, debate, turn, labels)
        except CallFailed as error:
            firsts = ()
            spent |= {"lost": error.usage, "warnings": (f"{_BY_WORDS} {error}",)}
    items = merge_findings(findings, firsts)
    return FindingsMerged(findings=Findings(turn=turn, items=items, **spent))


def _findings_in(
    replies: Iterable[FindingReply],
    sources: Sequence[Source],
    status: FindingStatus = FindingStatus.OPEN,
) -> list[ReviewFinding]:
    """The findings of a reply, with their quotes checked against the subject."""
    findings = list[ReviewFinding]()
    for reply in [reply for reply in replies if reply.wrong.strip()][:MOST_FINDINGS]:
        words = " ".join(reply.words.split())
        if len(words) > _WORDS_MAX_CHARS:
            words = words[:_WORDS_MAX_CHARS].rpartition(" ")[0]
        findings.append(
            ReviewFinding(
                severity=Severity(reply.severity),
                citation=check(reply.source.lower(), words, sources),
                wrong=check_citations(" ".join(reply.wrong.split()), sources)[0],
                mend=check_citations(" ".join(reply.mend.split()), sources)[0],
                status=status,
            )
        )
    return findings


def _findings_text(
    debate: Debate,
    turn: Turn,
    reply: ReviewReply | SecondLookReply,
    findings: Sequence[ReviewFinding],
    *,
    call: Call,
) -> Contribution:
    """The findings of an agent as a contribution that people and other agents read."""
    short = " ".join(reply.summary.replace("*", "").split())
    short = short or VERDICTS.get(reply.verdict, "No summary.")
    lines = [_line(finding) for finding in findings if finding.counts]
    rejected = [_line(finding) for finding in findings if not finding.counts]
    title = "Struck out, because the words they are about are not in the subject:"
    blocks = (f"**{short}**", "\n".join(lines), title if rejected else "", "\n".join(rejected))
    text, citations = check_citations("\n\n".join(filter(None, blocks)), debate.evidence)
    warning = f"{quantity(len(rejected), 'finding')} struck out: not about words of the subject."
    return Contribution(
        turn=turn,
        text=text,
        answer=without_quotes(short),
        call=call,
        citations=citations,
        stance={} if reply.verdict == NOBODY else {reply.verdict: 1.0},
        findings=tuple(findings),
        warnings=(warning,) if rejected else (),
    )


def _line(finding: ReviewFinding) -> str:
    name = finding.severity.value.capitalize()
    if finding.number:
        name += f" {finding.number}"
    if finding.number or finding.status is FindingStatus.NEW:
        name += f", {finding.status.value}"
    mend = f" *To mend it*: {finding.mend}" if finding.mend else ""
    reason = f" *{finding.why}*" if finding.why else ""
    quote, mended_by = (
        f' [{citation.source}: "{citation.words.replace(chr(34), chr(39))}"]'
        if citation and citation.words
        else ""
        for citation in (finding.citation, finding.mended_by)
    )
    return f"- **{name}**{quote} {finding.wrong}{mend}{reason}{mended_by}"


def _values_of_review(debate: Debate, turn: Turn) -> Mapping[str, object]:
    revisions = (
        [source.id for source in changed_texts(debate)] if turn.act is Act.SECOND_LOOK else []
    )
    sources = [source.id for source in subject(debate)]
    return {
        "subject": ", ".join((*sources, *revisions)) or "the question",
        "handed_in": ", ".join(revisions),
        "in_part": bool(hidden_passage_counts(debate)),
        "labels": ", ".join(f"f{finding.number}" for finding in own_findings(debate, turn.agent)),
        "most": MOST_FINDINGS,
        "options": ", ".join(f'"{option}" ({name})' for option, name in VERDICTS.items()),
    }


def _labels(debate: Debate) -> tuple[str, ...]:
    return tuple(f"f{number}" for number, _ in enumerate(raised_findings(debate), start=1))


ACTS[Act.REVIEW] = ActSpec(values=_values_of_review, perform=review)

ACTS[Act.FINDINGS] = side_act(
    max_tokens=512,
    values=lambda debate, _: {"labels": ", ".join(_labels(debate))},
    # The subject itself is left out, because each finding quotes its words.
    prompt_parts=lambda debate, turn: (
        question_parts(debate)[0],
        *format_of(debate).shown_parts(debate, turn),
    ),
    perform=merge,
)

ACTS[Act.SECOND_LOOK] = ActSpec(effort=Effort.LOW, values=_values_of_review, perform=look_again)


def verdict_of_review(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict of a review with the state of each finding and a headline with their counts.

    The judge's sentence begins the reasoning. "Ready" becomes "with changes" while a finding of
    high severity is open.
    """
    if debate.setup.format != NAME:
        return verdict
    findings = current_findings(debate)
    warnings = (*verdict.warnings, *_unread_parts(debate))
    fields = {"findings": findings, "warnings": warnings, "notes": _notes(debate, verdict)}
    if verdict.is_undecided:
        return verdict.model_copy(update=fields)
    options = options_of(debate)
    is_weighty = any(finding.is_open for finding in findings if finding.severity in SEVERE)
    option = options.resolve(verdict.option) or option_voted_for(debate)
    missing_reason = _missing_verdict_reason(debate, option)
    if missing_reason:
        option = ""
    elif option == READY and is_weighty:
        option, fields["warnings"] = options.resolve(WITH_CHANGES), (*warnings, NOT_READY)
    name = missing_reason or options.name(option)
    count = ", ".join(filter(None, (open_findings_words(findings), answered_words(findings))))
    # The judge's decision, one sentence, begins the solution.
    sentence, solution = verdict.decision.strip(), verdict.solution.strip()
    return verdict.model_copy(
        update={
            **fields,
            "option": option,
            "decision": f"{name}: {count}" if count else name,
            "solution": solution if sentence in solution else f"{sentence}\n\n{solution}".strip(),
            "criteria": tuple(_criteria(verdict, option)) if option else (),
        }
    )


def _unread_parts(debate: Debate) -> Iterator[str]:
    """What agents were not shown of the subject, and what its readers left out."""
    sources = {source.id: source for source in subject(debate)}
    counts = hidden_passage_counts(debate)
    if missing := sum(count for name, count in counts.items() if name in sources):
        passages = quantity(missing, "passage")
        yield f"Not all of the subject was read: no agent was shown {passages} of it."
    for source in sources.values():
        if source.warnings:
            yield f"How {source.reference.title} was read: {'; '.join(source.warnings)}."


def _criteria(verdict: Verdict, option: str) -> Iterator[Judgement]:
    """One row of criteria, for the verdict's option, because they judge the subject itself."""
    of_verdict = [criterion for criterion in verdict.criteria if criterion.option == verdict.option]
    by_name = {criterion.criterion: criterion for criterion in (*verdict.criteria, *of_verdict)}
    for criterion in by_name.values():
        yield criterion.model_copy(update={"option": option})


def _notes(debate: Debate, verdict: Verdict) -> tuple[NoteOutcome, ...]:
    acts = {contribution.turn.act for contribution in debate.contributions.values()}
    is_used = Act.SECOND_LOOK in acts
    text = "The agents read it and looked again." if is_used else "Nobody looked again."
    handing_in = {note.id for note in debate.notes if is_handing_in(note)}
    return tuple(
        NoteOutcome(note=outcome.note, used=is_used, explanation=text)
        if outcome.note in handing_in
        else outcome
        for outcome in verdict.notes
    )


def _missing_verdict_reason(debate: Debate, option: str) -> str:
    """The headline of a review without a verdict, with the reason; empty if it has a verdict.

    `option` is the verdict by the judge or the vote; empty: none.
    """
    if debate.stop and not debate.tally:
        return "Stopped before it was done"
    if option:
        return ""
    if len(FORMAT.positions(debate)) <= 1:  # then there are no options and no vote
        return "No verdict, as only one agent reviewed it"
    return "No verdict"
