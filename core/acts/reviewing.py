"""Reviews: what agents find in the subject, each thing once, whether it is settled; the verdict.

The verdict's headline and list are the findings', its reasons the judge's.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ACTS, ActSpec, side_act
from core.acts.citing import left_out, without_quotes
from core.acts.context import asked_parts
from core.acts.replies import NOBODY, exact_label, label_in, narrowed, one_of
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
    VERDICTS,
    WEIGHTY,
    WITH_CHANGES,
    answered_words,
    current_findings,
    handed_in,
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

#: Longest words that a finding is about, in characters.
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
    #: Copied from a changed text: what mends it.
    words: str = ""


class ReviewReply(BaseModel):
    findings: list[FindingReply]
    summary: str
    #: Id of the verdict it would give, or `NOBODY`'s word.
    verdict: str = NOBODY


class SecondLookReply(BaseModel):
    looks: list[LookReply]
    new: list[FindingReply] = []
    summary: str
    verdict: str = NOBODY


@cache
def review_reply(sources: tuple[str, ...]) -> type[ReviewReply]:
    verdict = one_of((*VERDICTS, NOBODY))
    return narrowed(ReviewReply, findings=list[_finding(sources)], verdict=verdict)


@cache
def second_look_reply(labels: tuple[str, ...], sources: tuple[str, ...]) -> type[SecondLookReply]:
    look = narrowed(LookReply, finding=one_of(labels))
    verdict, new = one_of((*VERDICTS, NOBODY)), list[_finding(sources)]
    return narrowed(SecondLookReply, looks=list[look], new=new, verdict=verdict)


def _finding(sources: tuple[str, ...]) -> type[FindingReply]:
    types = {"severity": one_of([severity.value for severity in Severity])}
    if sources:
        types["source"] = one_of(sources)
    return narrowed(FindingReply, **types)


async def review(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    read = subject(debate)
    form = review_reply(tuple(source.id for source in read))
    reply, call = await ask_model(calls, debate, turn, form)
    findings = await asyncio.to_thread(_findings_in, reply.findings, read)
    text = await asyncio.to_thread(_findings_text, debate, turn, reply, findings, call=call)
    return ContributionMade(contribution=text)


async def look_again(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    changed, mine = handed_in(debate), own_findings(debate, turn.agent)
    read = (*subject(debate), *changed)
    labels = tuple(f"f{finding.number}" for finding in mine)
    form = second_look_reply(labels, tuple(source.id for source in read))
    reply, call = await ask_model(calls, debate, turn, form)
    looks = {label_in(answer.finding, labels): answer for answer in reply.looks}

    def checked_reply() -> Contribution:
        again = [
            _looked_at(finding, looks.get(f"f{finding.number}"), subject(debate), changed)
            for finding in mine
        ]
        again = [finding.model_copy(update={"raised_by": ()}) for finding in again]
        new = _findings_in(reply.new, read, FindingStatus.NEW)
        return _findings_text(debate, turn, reply, [*again, *new], call=call)

    return ContributionMade(contribution=await asyncio.to_thread(checked_reply))


def _looked_at(
    finding: ReviewFinding,
    look: LookReply | None,
    read: Sequence[Source],
    changed: Sequence[Source],
) -> ReviewFinding:
    """The finding after a second look: what is passed over is still open.

    It is resolved only where a changed text shows it: the words that were wrong are gone, or the
    agent quotes words that mend it.
    """
    revision = revision_of(finding.citation, read, changed)
    before = next((source for source in read if source.id == finding.citation.source), None)
    lines = changes_at(finding.citation, before, revision) if before and revision else ()
    if look is None:
        return finding.model_copy(update={"changed": lines})
    mended_by = quoted_in(look.words, changed) if look.words.strip() else None
    status = FindingStatus(look.status)
    is_shown = mended_by is not None or is_gone(finding.citation, revision)
    if status is FindingStatus.RESOLVED and not is_shown:
        status = FindingStatus.ANSWERED
    why, _ = check_citations(look.why.strip(), (*read, *changed))
    state = {"status": status, "why": why, "changed": lines, "mended_by": mended_by}
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
    read: Sequence[Source],
    status: FindingStatus = FindingStatus.OPEN,
) -> list[ReviewFinding]:
    """The findings of a reply, their words and the quotes in them looked for in what was read."""
    findings = list[ReviewFinding]()
    for reply in [reply for reply in replies if reply.wrong.strip()][:MOST_FINDINGS]:
        words = " ".join(reply.words.split())
        if len(words) > _WORDS_MAX_CHARS:
            words = words[:_WORDS_MAX_CHARS].rpartition(" ")[0]
        findings.append(
            ReviewFinding(
                severity=Severity(reply.severity),
                citation=check(reply.source.lower(), words, read),
                wrong=check_citations(" ".join(reply.wrong.split()), read)[0],
                mend=check_citations(" ".join(reply.mend.split()), read)[0],
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
    """The findings of an agent as a text that people and other agents read."""
    short = " ".join(reply.summary.replace("*", "").split())
    short = short or VERDICTS.get(reply.verdict, "No summary.")
    lines = [_line(finding) for finding in findings if finding.counts]
    struck = [_line(finding) for finding in findings if not finding.counts]
    why = "Struck out, because the words they are about are not in the subject:"
    blocks = (f"**{short}**", "\n".join(lines), why if struck else "", "\n".join(struck))
    text, citations = check_citations("\n\n".join(filter(None, blocks)), debate.evidence)
    warning = f"{quantity(len(struck), 'finding')} struck out: not about words of the subject."
    return Contribution(
        turn=turn,
        text=text,
        answer=without_quotes(short),
        call=call,
        citations=citations,
        stance={} if reply.verdict == NOBODY else {reply.verdict: 1.0},
        findings=tuple(findings),
        warnings=(warning,) if struck else (),
    )


def _line(finding: ReviewFinding) -> str:
    name = finding.severity.value.capitalize()
    if finding.number:
        name += f" {finding.number}"
    if finding.number or finding.status is FindingStatus.NEW:
        name += f", {finding.status.value}"
    mend = f" *To mend it*: {finding.mend}" if finding.mend else ""
    why = f" *{finding.why}*" if finding.why else ""
    quote, mended_by = (
        f' [{cited.source}: "{cited.words.replace(chr(34), chr(39))}"]'
        if cited and cited.words
        else ""
        for cited in (finding.citation, finding.mended_by)
    )
    return f"- **{name}**{quote} {finding.wrong}{mend}{why}{mended_by}"


def _values_of_review(debate: Debate, turn: Turn) -> Mapping[str, object]:
    changed = [source.id for source in handed_in(debate)] if turn.act is Act.SECOND_LOOK else []
    read = [source.id for source in subject(debate)]
    return {
        "subject": ", ".join((*read, *changed)) or "the question",
        "handed_in": ", ".join(changed),
        "in_part": bool(left_out(debate)),
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
    # Findings stand with the words they are about: the subject need not be read again.
    parts=lambda debate, turn: (
        asked_parts(debate)[0],
        *format_of(debate).shown_parts(debate, turn),
    ),
    perform=merge,
)

ACTS[Act.SECOND_LOOK] = ActSpec(effort=Effort.LOW, values=_values_of_review, perform=look_again)


def verdict_of_review(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict of a review with the state of every finding; its headline counts the open ones.

    The judge's sentence opens the reasoning. "Ready" becomes "with changes" while a finding of a
    weighty severity is open.
    """
    if debate.setup.format != NAME:
        return verdict
    findings, warnings = current_findings(debate), verdict.warnings
    read = {source.id for source in subject(debate)}
    if missing := sum(count for name, count in left_out(debate).items() if name in read):
        passages = quantity(missing, "passage")
        text = f"Not all of the subject was read: no agent was shown {passages} of it."
        warnings = (*warnings, text)
    known = {"findings": findings, "warnings": warnings, "notes": _notes(debate, verdict)}
    if verdict.is_undecided:
        return verdict.model_copy(update=known)
    options = options_of(debate)
    is_weighty = any(finding.is_open for finding in findings if finding.severity in WEIGHTY)
    option = options.resolve(verdict.option) or option_voted_for(debate)
    why_none = _why_no_verdict(debate, option)
    if why_none:
        option = ""
    elif option == READY and is_weighty:
        option, known["warnings"] = options.resolve(WITH_CHANGES), (*warnings, NOT_READY)
    name = why_none or options.name(option)
    count = ", ".join(filter(None, (open_findings_words(findings), answered_words(findings))))
    # The solution is opened by what the judge decided in a sentence.
    said, solution = verdict.decision.strip(), verdict.solution.strip()
    return verdict.model_copy(
        update={
            **known,
            "option": option,
            "decision": f"{name}: {count}" if count else name,
            "solution": solution if said in solution else f"{said}\n\n{solution}".strip(),
            "criteria": tuple(_criteria(verdict, option)) if option else (),
        }
    )


def _criteria(verdict: Verdict, option: str) -> Iterator[Judgement]:
    """One row of criteria, under the verdict's option: they judge the subject, not the verdicts."""
    own = [criterion for criterion in verdict.criteria if criterion.option == verdict.option]
    judged = {criterion.criterion: criterion for criterion in (*verdict.criteria, *own)}
    for criterion in judged.values():
        yield criterion.model_copy(update={"option": option})


def _notes(debate: Debate, verdict: Verdict) -> tuple[NoteOutcome, ...]:
    acts = {contribution.turn.act for contribution in debate.contributions.values()}
    looked = Act.SECOND_LOOK in acts
    why = "The agents read it and looked again." if looked else "Nobody looked again."
    handing_in = {note.id for note in debate.notes if is_handing_in(note)}
    return tuple(
        NoteOutcome(note=outcome.note, used=looked, explanation=why)
        if outcome.note in handing_in
        else outcome
        for outcome in verdict.notes
    )


def _why_no_verdict(debate: Debate, option: str) -> str:
    """Why the review has none of the three verdicts, as a headline; empty where it has one.

    `option` is the verdict that the judge, or the vote, gave; empty: none.
    """
    if debate.stop and not debate.tally:
        return "Stopped before it was done"
    if option:
        return ""
    if len(FORMAT.positions(debate)) <= 1:  # there are no options, and nobody votes
        return "No verdict, as only one agent reviewed it"
    return "No verdict"
