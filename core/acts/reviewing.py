"""Reviews: what agents find in the subject, each thing once, whether it is settled; the verdict.

The verdict's headline and list are the findings', its reasons the judge's.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ActSpec, declare
from core.acts.citing import left_out, without_quotes
from core.acts.context import asked_parts
from core.acts.replies import NOBODY, label_in, narrowed, one_of
from core.acts.request_for import ask_for_same, ask_model
from core.debate.contributions import Contribution, NoteOutcome
from core.debate.evidence import Source
from core.debate.findings import Findings, FindingStatus, ReviewFinding, Severity
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, FindingsMerged
from core.debate.verdict import Judgement, Verdict
from core.errors import CallFailed
from core.evidence.citations import check, check_citations
from core.evidence.revisions import changes_at, is_gone, quoted_in, revision_of
from core.figures import quantity
from core.llm.call import ModelCalls
from core.request import Effort, Part
from core.rules.findings import (
    MOST_FINDINGS,
    WEIGHTY,
    answered_words,
    counted_words,
    merge_findings,
    own,
    raised_findings,
    standing,
)
from core.rules.formats.registry import format_of
from core.rules.formats.review import FORMAT, NAME, NOT_READY, READY, VERDICTS, WITH_CHANGES
from core.rules.options import options_of
from core.rules.schedule import is_cut_short
from core.rules.subject import handed_in, is_handing_in, subject
from core.rules.voting import option_voted_for
from core.usage import Call

#: Longest words that a finding is about, in characters.
_WORDS_MAX_CHARS = 400
_BY_WORDS = "No model could merge the findings; those in nearly the same words count as one."
_SETTLED = re.compile(r"\W*(?:resolved|settled|mended|fixed|closed|done)\b", re.IGNORECASE)
_ANSWERED = re.compile(r"\W*answered\b", re.IGNORECASE)
_STATES = (FindingStatus.RESOLVED, FindingStatus.ANSWERED, FindingStatus.OPEN)


def _status(raw: object) -> object:
    """Resolved or answered where the text begins with such a word; else open."""
    if not isinstance(raw, str):
        return raw
    if _SETTLED.match(raw):
        return FindingStatus.RESOLVED.value
    return (FindingStatus.ANSWERED if _ANSWERED.match(raw) else FindingStatus.OPEN).value


class FindingReply(BaseModel):
    """One finding."""

    source: str
    words: str
    wrong: str
    mend: str = ""
    severity: str


class LookReply(BaseModel):
    """How one finding stands."""

    finding: str
    why: str = ""
    status: Annotated[
        str,
        BeforeValidator(_status),
        WithJsonSchema({"type": "string", "enum": [status.value for status in _STATES]}),
    ]
    #: Copied from a changed text: what mends it.
    words: str = ""


class ReviewReply(BaseModel):
    """What an agent finds in the subject."""

    findings: list[FindingReply]
    summary: str
    #: Id of the verdict it would give, or `NOBODY`'s word.
    verdict: str = NOBODY


class SecondLookReply(BaseModel):
    """What an agent says when it looks again."""

    looks: list[LookReply]
    new: list[FindingReply] = []
    summary: str
    verdict: str = NOBODY


@cache
def review_reply(sources: tuple[str, ...]) -> type[ReviewReply]:
    """The form of a review of these sources."""
    verdict = one_of((*VERDICTS, NOBODY))
    return narrowed(ReviewReply, findings=list[_finding(sources)], verdict=verdict)


@cache
def second_look_reply(labels: tuple[str, ...], sources: tuple[str, ...]) -> type[SecondLookReply]:
    """The form of a second look at findings of these labels."""
    look, verdict = narrowed(LookReply, finding=one_of(labels)), one_of((*VERDICTS, NOBODY))
    new = list[_finding(sources)]
    return narrowed(SecondLookReply, looks=list[look], new=new, verdict=verdict)


def _finding(sources: tuple[str, ...]) -> type[FindingReply]:
    types = {"severity": one_of([severity.value for severity in Severity])}
    if sources:
        types["source"] = one_of(sources)
    return narrowed(FindingReply, **types)


async def review(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    """Review the subject; a finding whose words do not stand in it is struck out."""
    read = subject(debate)
    reply, call = await ask_model(
        calls, debate, turn, review_reply(tuple(source.id for source in read))
    )

    def checked_reply() -> Contribution:
        return _findings_text(debate, turn, reply, _findings_in(reply.findings, read), call=call)

    return ContributionMade(contribution=await asyncio.to_thread(checked_reply))


async def look_again(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    """Say of each of one's own findings whether it is settled, and what is new."""
    changed, mine = handed_in(debate), own(debate, turn.agent)
    read = (*subject(debate), *changed)
    labels = tuple(f"f{finding.number}" for finding in mine)
    reply, call = await ask_model(
        calls, debate, turn, second_look_reply(labels, tuple(source.id for source in read))
    )
    looks = {label_in(answer.finding, labels): answer for answer in reply.looks}

    def checked_reply() -> Contribution:
        again = [
            _looked_at(finding, looks.get(f"f{finding.number}"), subject(debate), changed)
            for finding in mine
        ]
        fresh = _findings_in(reply.new, read)
        new = [finding.model_copy(update={"status": FindingStatus.NEW}) for finding in fresh]
        findings = [finding.model_copy(update={"raised_by": ()}) for finding in (*again, *new)]
        return _findings_text(debate, turn, reply, findings, call=call)

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
    """Merge the same findings of several agents: by a model, or by their words where it fails."""
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


def _findings_in(replies: Iterable[FindingReply], read: Sequence[Source]) -> list[ReviewFinding]:
    """The findings of a reply, their words and the quotes in them looked for in what was read."""
    findings = list[ReviewFinding]()
    for reply in replies:
        words = " ".join(reply.words.split())
        if len(words) > _WORDS_MAX_CHARS:
            words = words[:_WORDS_MAX_CHARS].rpartition(" ")[0]
        if reply.wrong.strip():
            findings.append(
                ReviewFinding(
                    severity=Severity(reply.severity),
                    citation=check(reply.source.lower(), words, read),
                    wrong=check_citations(" ".join(reply.wrong.split()), read)[0],
                    mend=check_citations(" ".join(reply.mend.split()), read)[0],
                )
            )
    return findings[:MOST_FINDINGS]


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
    text = "\n".join((f"**{short}**", *(("", *lines) if lines else ())))
    if struck:
        why = "Struck out, because the words they are about are not in the subject:"
        text += "\n".join(("", "", why, "", *struck))
    text, citations = check_citations(text, debate.evidence)
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
    words = finding.citation.words.replace('"', "'")
    quote = f' [{finding.citation.source}: "{words}"]' if words else ""
    number = f" {finding.number}" if finding.number else ""
    mend = f" *To mend it*: {finding.mend}" if finding.mend else ""
    state = (
        f", {finding.status.value}" if finding.number or finding.status is FindingStatus.NEW else ""
    )
    why = f" *{finding.why}*" if finding.why else ""
    if by := finding.mended_by:
        why += f' [{by.source}: "{by.words.replace(chr(34), chr(39))}"]'
    severity = finding.severity.value.capitalize()
    return f"- **{severity}{number}{state}**{quote} {finding.wrong}{mend}{why}"


def _values_of_review(debate: Debate, turn: Turn) -> Mapping[str, object]:
    changed = [source.id for source in handed_in(debate)] if turn.act is Act.SECOND_LOOK else []
    read = [source.id for source in subject(debate)]
    return {
        "subject": ", ".join((*read, *changed)) or "the question",
        "handed_in": ", ".join(changed),
        "in_part": bool(left_out(debate)),
        "labels": ", ".join(f"f{finding.number}" for finding in own(debate, turn.agent)),
        "most": MOST_FINDINGS,
        "options": ", ".join(f'"{option}" ({name})' for option, name in VERDICTS.items()),
    }


def _labels(debate: Debate) -> tuple[str, ...]:
    """What the findings to be merged are called."""
    return tuple(f"f{number}" for number, _ in enumerate(raised_findings(debate), start=1))


def _parts_of_merging(debate: Debate, turn: Turn) -> Sequence[Part]:
    """Findings stand with the words they are about: the subject need not be read again."""
    return (asked_parts(debate)[0], *format_of(debate).shown_parts(debate, turn))


declare(Act.REVIEW, ActSpec(values=_values_of_review, perform=review))

declare(
    Act.FINDINGS,
    ActSpec(
        max_tokens=512,
        effort=Effort.LOW,
        is_posted=False,
        values=lambda debate, _: {"labels": ", ".join(_labels(debate))},
        parts=_parts_of_merging,
        perform=merge,
    ),
)

declare(Act.SECOND_LOOK, ActSpec(effort=Effort.LOW, values=_values_of_review, perform=look_again))


def verdict_of_review(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict of a review with the state of every finding; its headline counts the open ones.

    The judge's sentence opens the reasoning. "Ready" becomes "with changes" while a finding of a
    weighty severity is open.
    """
    if debate.setup.format != NAME:
        return verdict
    findings = standing(debate)
    texts = list[str]()
    read = {source.id for source in subject(debate)}
    if missing := sum(count for name, count in left_out(debate).items() if name in read):
        passages = quantity(missing, "passage")
        texts.append(f"Not all of the subject was read: no agent was shown {passages} of it.")
    notes, warnings = _notes(debate, verdict), (*verdict.warnings, *texts)
    verdict = verdict.model_copy(
        update={"findings": findings, "warnings": warnings, "notes": notes}
    )
    if verdict.is_undecided:
        return verdict
    options = options_of(debate)
    is_weighty = any(finding.is_open for finding in findings if finding.severity in WEIGHTY)
    option = options.resolve(verdict.option) or option_voted_for(debate)
    count = ", ".join(filter(None, (counted_words(findings), answered_words(findings))))
    if why_none := _why_no_verdict(debate, option):
        decision = ": ".join(filter(None, (why_none, count)))
        none = {
            "option": "",
            "decision": decision,
            "solution": _solution_text(verdict),
            "criteria": (),
        }
        return verdict.model_copy(update=none)
    warnings = verdict.warnings
    if option == READY and is_weighty:
        option, warnings = WITH_CHANGES, (*warnings, NOT_READY)
    name = options.name(option) or VERDICTS.get(option, "")
    return verdict.model_copy(
        update={
            "option": options.resolve(option),
            "decision": f"{name}: {count}" if count else name,
            "solution": _solution_text(verdict),
            "criteria": tuple(_criteria(verdict, option)),
            "warnings": warnings,
        }
    )


def _criteria(verdict: Verdict, option: str) -> Iterator[Judgement]:
    """One row of criteria, under the verdict's option: they judge the subject, not the verdicts."""
    own = [criterion for criterion in verdict.criteria if criterion.option == verdict.option]
    judged = {criterion.criterion: criterion for criterion in (*verdict.criteria, *own)}
    for criterion in judged.values():
        yield criterion.model_copy(update={"option": option})


def _notes(debate: Debate, verdict: Verdict) -> tuple[NoteOutcome, ...]:
    """What became of the notes; for those that hand in a text no judge has to answer."""
    looked = any(
        contribution.turn.act is Act.SECOND_LOOK for contribution in debate.contributions.values()
    )
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
    return "Not finished" if is_cut_short(debate) else "No verdict"


def _solution_text(verdict: Verdict) -> str:
    """The solution, opened by what the judge decided in a sentence."""
    decision, solution = verdict.decision.strip(), verdict.solution.strip()
    return solution if decision in solution else f"{decision}\n\n{solution}".strip()
