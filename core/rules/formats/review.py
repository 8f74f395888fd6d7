"""Format `review`: agents review a text, its author responds, and they look at it again.

Each agent reads the subject in isolation and reports findings with quotes. Findings are merged, and
the severe ones are put to the author, who answers in the thread or submits a changed text. Then
each agent checks its findings again (the second look). Without severe findings or without a
response there is no second look. The vote is on three verdicts with fixed ids.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import takewhile

from core.debate.contributions import (
    Clarification,
    Clarifications,
    FindingStatus,
    Note,
    ReviewFinding,
    Severity,
)
from core.debate.evidence import Source, SourceReference
from core.debate.rules import REVIEW
from core.debate.state import Debate, Status, cached_per_debate
from core.debate.turn import ENGINE, SUMMARIZER, Act, Turn
from core.debate.vote import Option, Options, QuestionKind
from core.figures import quantity
from core.request import Part, PartKind
from core.rules import sources
from core.rules.options import leading
from core.rules.sources import KINDS
from core.rules.steps import Format, Step, everybody, single

NAME = REVIEW
#: Ids of the verdicts, in every review.
READY, WITH_CHANGES, NOT_YET = "o1", "o2", "o3"
VERDICTS: Mapping[str, str] = {
    READY: "Ready",
    WITH_CHANGES: "Ready with changes",
    NOT_YET: "Not yet",
}
#: The turn that merges the findings of all agents.
MERGING = Turn(act=Act.FINDINGS, round=1, agent=SUMMARIZER)
#: The turn that puts severe findings to the author.
ASKING = Turn(act=Act.CLARIFICATION, round=1, agent=ENGINE)
#: The author's time, as a multiple of the time for a clarifying question, because a text may have
#: to be changed.
AUTHOR_TIME_FACTOR = 4
_UNANSWERED = "the finding stands"
#: The warning of a verdict that was lowered from "Ready".
NOT_READY = (
    "The judge called it ready while findings that weigh are open, so it is ready with changes at "
    "most."
)
#: The most findings of one agent on each look, and the most that are put to the author.
MOST_FINDINGS, MOST_PUT = 8, 8
#: Severities about which the author is asked.
SEVERE = frozenset({Severity.BLOCKER, Severity.MAJOR})
_HANDED_IN = "[Handed in, changed: "


# The findings.


def raised_findings(debate: Debate) -> Sequence[ReviewFinding]:
    """All findings that count, not merged, with the agent that raised each."""
    return _findings_of(debate, Act.REVIEW)


def _findings_of(debate: Debate, act: Act) -> Sequence[ReviewFinding]:
    """The findings of this act that count, in roster order."""
    return [
        finding.model_copy(update={"raised_by": (agent,)})
        for agent, contribution in FORMAT.contributions(debate, act).items()
        for finding in contribution.findings
        if finding.counts
    ]


def merge_findings(
    findings: Sequence[ReviewFinding], same_as: Sequence[int] = ()
) -> tuple[ReviewFinding, ...]:
    """Merge findings with the same meaning; sorted by severity and numbered from 1.

    The text of the most severe one is used, or of the first. It gets the agents of all in
    `raised_by`.

    Args:
        findings: The findings, each with its `raised_by`.
        same_as: For each finding the index of the first one with the same meaning (its own index if
            it is the first). Empty: findings with the same quote and text are merged.
    """
    texts = [(item.citation.source, item.citation.words, item.wrong) for item in findings]
    groups: dict[int, list[ReviewFinding]] = {}
    for first, finding in zip(same_as or map(texts.index, texts), findings, strict=True):
        groups.setdefault(first, []).append(finding)
    merged = list[ReviewFinding]()
    for group in groups.values():
        agents = tuple(dict.fromkeys(agent for finding in group for agent in finding.raised_by))
        merged.append(min(group, key=_severity).model_copy(update={"raised_by": agents}))
    return tuple(
        finding.model_copy(update={"number": number})
        for number, finding in enumerate(sorted(merged, key=_severity), start=1)
    )


def _severity(finding: ReviewFinding) -> int:
    return list(Severity).index(finding.severity)


@cached_per_debate
def current_findings(debate: Debate) -> tuple[ReviewFinding, ...]:
    """All findings with their current status, the most severe first.

    A finding is resolved or answered if no second look leaves it open. New findings of second looks
    get the next numbers.
    """
    first = debate.findings.items if debate.findings else merge_findings(raised_findings(debate))
    second_looks, order = _findings_of(debate, Act.SECOND_LOOK), list(FindingStatus)
    findings = list[ReviewFinding]()
    for finding in first:
        looks = [item for item in second_looks if item.number == finding.number]
        weakest = min(looks, key=lambda look: order.index(look.status), default=finding)
        deciding = [look for look in looks if look.status is weakest.status]
        update = {
            "status": weakest.status,
            "why": next((look.why for look in deciding if look.why), ""),
            "mended_by": next((look.mended_by for look in deciding if look.mended_by), None),
            "changed": next((look.changed for look in looks if look.changed), ()),
        }
        findings.append(finding.model_copy(update=update))
    for finding in merge_findings([finding for finding in second_looks if not finding.number]):
        update = {"status": FindingStatus.NEW, "number": len(first) + finding.number}
        findings.append(finding.model_copy(update=update))
    return tuple(sorted(findings, key=lambda finding: (_severity(finding), finding.number)))


def findings_for_author(debate: Debate) -> Sequence[ReviewFinding]:
    """The severe findings that are put to the author, at most `MOST_PUT`."""
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if item.severity in SEVERE][:MOST_PUT]


def unasked_count(debate: Debate) -> int:
    """The number of severe findings beyond `MOST_PUT`."""
    items = debate.findings.items if debate.findings else ()
    return max(0, sum(item.severity in SEVERE for item in items) - MOST_PUT)


def unasked_words(debate: Debate) -> str:
    count = unasked_count(debate)
    if not count:
        return ""
    subject_words = "1 more that matters is" if count == 1 else f"{count} more that matter are"
    return f"{subject_words} not asked about: no answer is expected, and the verdict lists them."


def own_findings(debate: Debate, agent: str) -> Sequence[ReviewFinding]:
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if agent in item.raised_by]


def struck_count(debate: Debate) -> int:
    """The number of findings that do not count because their quotes are not in the subject."""
    findings = (item for speech in debate.contributions.values() for item in speech.findings)
    return sum(not finding.counts for finding in findings)


def struck_words(debate: Debate) -> str:
    count = quantity(struck_count(debate), "finding")
    return f"{count} struck out: not about words of the subject." if struck_count(debate) else ""


def open_findings_words(findings: Iterable[ReviewFinding]) -> str:
    """The number of open findings by severity: "2 blockers, 3 minor"; empty if there is none."""
    count = Counter(finding.severity for finding in findings if finding.is_open)
    plurals = {Severity.MAJOR: "major", Severity.MINOR: "minor"}
    return ", ".join(
        quantity(count[severity], severity.value, plurals.get(severity, ""))
        for severity in Severity
        if count[severity]
    )


def answered_words(findings: Iterable[ReviewFinding]) -> str:
    number = sum(
        finding.counts and finding.status is FindingStatus.ANSWERED for finding in findings
    )
    return f"{number} answered" if number else ""


def finding_line(finding: ReviewFinding) -> str:
    quote = finding.citation
    place = f" ({', '.join(filter(None, (quote.source, quote.place)))})"
    mend = f" To mend it: {finding.mend}" if finding.mend else ""
    return f"{finding.severity.value}: “{quote.words}”{place}: {finding.wrong}{mend}"


# The steps.


def _looks_again(debate: Debate, turn: Turn) -> bool | None:
    """Whether the agent takes a second look at its findings; None: not known yet."""
    if debate.findings is None:
        return None
    if not findings_for_author(debate) or not own_findings(debate, turn.agent):
        return False
    if not debate.is_done(ASKING) or debate.open_cards:
        return None
    if not is_answered(debate):
        return False
    return None if awaits_changed_text(debate) else True


def _findings_of_all(_form: Format, debate: Debate, _turn: Turn) -> Sequence[Part]:
    lines = [
        f"f{number} (agent {debate.setup.letter(finding.raised_by[0])}): {finding_line(finding)}"
        for number, finding in enumerate(raised_findings(debate), start=1)
    ]
    return _list_part("Findings of all agents", lines)


def _own_findings(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    # The prompt already contains the findings put to the author, with the answers.
    numbers = {finding_number(debate, item): item.number for item in _card_items(debate)}
    lines = [
        f"f{finding.number}: number {numbers[finding.number]} of what people were asked"
        if finding.number in numbers
        else f"f{finding.number}: {finding_line(finding)}"
        for finding in own_findings(debate, turn.agent)
    ]
    return _list_part("Your findings", lines)


def _standing_findings(_form: Format, debate: Debate, _turn: Turn) -> Sequence[Part]:
    lines = [
        f"{finding.number}. {finding.status.value}, {finding_line(finding)}"
        + (f" ({finding.why})" if finding.why else "")
        for finding in current_findings(debate)
    ]
    return _list_part("Findings as they stand", lines or ["There are none."])


def _list_part(label: str, lines: Sequence[str]) -> Sequence[Part]:
    text = "\n".join(" ".join(line.split()) for line in lines)
    return (Part(kind=PartKind.CRITIQUE, label=label, text=text, trim_priority=1),)


FORMAT = Format(
    name=NAME,
    words="Review: findings, the author's answers, a second look",
    most_rounds=1,
    compares_drafts=False,
    steps=(
        # An agent without a review has no findings for a second look.
        Step(act=Act.REVIEW, misses=1, isolated=True, position=True, is_summed_up=True),
        Step(
            act=Act.FINDINGS,
            by=SUMMARIZER,
            after=(everybody(Act.REVIEW),),
            isolated=True,
            is_phase=False,
            shows=(_findings_of_all,),
        ),
        Step(
            act=Act.CLARIFICATION,
            by=ENGINE,
            after=(single(Act.FINDINGS),),
            only_if=lambda debate, _turn: bool(findings_for_author(debate)),
            is_phase=False,
        ),
        Step(
            act=Act.SECOND_LOOK,
            after=(single(Act.CLARIFICATION),),
            only_if=_looks_again,
            position=True,
            stance=True,
            is_summed_up=True,
            shows=(_own_findings,),
        ),
    ),
    shows={Act.BALLOT: (_standing_findings,), Act.SYNTHESIS: (_standing_findings,)},
)


def options(debate: Debate, turn: Turn) -> Options:
    """The three verdicts as options, with the one that each agent's review names."""
    stances = {agent: leading(draft.stance) for agent, draft in FORMAT.drafts(debate).items()}
    return Options(
        turn=turn,
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=item, name=name) for item, name in VERDICTS.items()),
        stances={agent: option for agent, option in stances.items() if option},
    )


def second_look_words(debate: Debate) -> str:
    """Whether there was a second look, and why not, in a sentence."""
    if FORMAT.contributions(debate, Act.SECOND_LOOK):
        return "The author was asked about what matters, and the agents looked again."
    if debate.findings is None:
        return "It ended before all had said what they found."
    if not findings_for_author(debate):
        return "Nothing of weight was found, so there was no second look."
    if debate.is_done(ASKING) and not is_answered(debate):
        return "What was found stands unanswered, so there was no second look."
    return "There was no second look."


# Questions to the author, and the author's responses.


def author_questions(debate: Debate, turn: Turn) -> Clarifications:
    """The card that puts severe findings to the author, one question each."""
    first = 1 + len(debate.all_clarifications)
    wait = timedelta(seconds=debate.setup.clarifying.wait_seconds * AUTHOR_TIME_FACTOR)
    items = tuple(
        Clarification(
            number=number,
            question=finding_line(finding),
            assumption=_UNANSWERED,
            asked_by=finding.raised_by,
        )
        for number, finding in enumerate(findings_for_author(debate), start=first)
    )
    return Clarifications(turn=turn, items=items, until=debate.now + wait, closed_by_event=True)


def _card_items(debate: Debate) -> Sequence[Clarification]:
    """The questions to the author; empty before they are asked."""
    card = debate.clarifications.get(ASKING.key) if debate.findings else None
    return card.items if card else ()


def questions_to_people(debate: Debate) -> Sequence[Clarification]:
    """All clarifying questions except those that put findings to the author."""
    author_items = _card_items(debate)
    return [item for item in debate.all_clarifications if item not in author_items]


def finding_number(debate: Debate, item: Clarification) -> int | None:
    """The number of the finding that a question is about; None for other questions."""
    items = _card_items(debate)
    return findings_for_author(debate)[items.index(item)].number if item in items else None


def is_settled_by_text(debate: Debate, item: Clarification) -> bool:
    """Whether the author submitted a changed text instead of answering this question."""
    answer = debate.answers.get(item.number)
    is_unanswered = item in _card_items(debate) and not (answer and answer.text)
    return is_unanswered and bool(changed_texts(debate))


def is_answered(debate: Debate) -> bool:
    """Whether the author responded, with an answer, a note or a file, and the time is over."""
    if debate.open_cards:
        return False
    answers = (debate.answers.get(item.number) for item in _card_items(debate))
    has_answer = any(answer and answer.text for answer in answers)
    return has_answer or any(key.startswith("note/") for key in response_keys(debate))


def awaits_changed_text(debate: Debate) -> bool:
    """Whether the author's changed text is still to be read; second look and vote wait for it."""
    if not debate.findings or not is_answered(debate):
        return False
    notes = {key.removeprefix("note/") for key in response_keys(debate)}
    references = [ref for note in debate.all_notes if note.id in notes for ref in note.references]
    first, reading = len(debate.setup.references), sources.unread_turns(debate)
    return any(
        sources.reading_turn(number) in reading
        for number, reference in enumerate(debate.references[first:], start=first + 1)
        if reference in references
    )


def response_keys(debate: Debate) -> Sequence[str]:
    """Keys of the events of the author's responses, and of the end of the time to answer.

    Answers and notes count until that end, a changed text until the vote.
    """
    items, closed = _card_items(debate), f"{ASKING.key}/closed"
    if not items:
        return ()
    votes = {key for key, ballot in debate.ballots.items() if ballot.turn.round}
    changed_texts = {f"note/{note.id}" for note in debate.all_notes if note.references}
    answers = {f"answer/{item.number}" for item in items}
    keys = list(takewhile(lambda key: key not in votes, debate.times))
    begin = keys.index(ASKING.key)
    end = keys.index(closed) if closed in keys else len(keys)
    return [
        key
        for index, key in enumerate(keys)
        if key in changed_texts
        or (begin < index <= end and (key in answers or key == closed or key.startswith("note/")))
    ]


def revision_fault(debate: Debate) -> str:
    """Why no changed text can be submitted now, with what to do; empty if one can."""
    again = "Start another review with the changed text."
    if debate.setup.format != NAME:
        return f"Debate `{debate.id}` is no review: there is no text in it that could be changed."
    if debate.status is not Status.RUNNING or debate.stop or debate.verdict:
        return f"The review `{debate.id}` has ended, or is being wound up. {again}"
    is_voting = any(ballot.turn.round for ballot in debate.ballots.values())
    if is_voting or FORMAT.contributions(debate, Act.SECOND_LOOK):
        return f"The agents of `{debate.id}` have looked again already, or vote. {again}"
    if debate.findings and not findings_for_author(debate):
        return f"Nothing of weight was found in `{debate.id}`, so nobody looks again. {again}"
    return ""


# The subject, and changed texts.


def subject(debate: Debate) -> Sequence[Source]:
    """The reviewed texts: the sources of the question that could be read."""
    numbers = {int(turn.target or 0) for turn in sources.question_turns(debate)}
    return [source for source in _read_sources(debate) if source.number in numbers]


def changed_texts(debate: Debate) -> Sequence[Source]:
    """The changed texts that the author submitted and that could be read."""
    first = subject(debate)
    return [source for source in _read_sources(debate) if source not in first]


def _read_sources(debate: Debate) -> Sequence[Source]:
    return [source for source in debate.evidence if source.reference.kind in KINDS]


def source_role(debate: Debate, source: Source) -> str:
    """The role of a source in a review: "the subject", "the changed text" or similar; or empty."""
    if debate.setup.format != NAME:
        return ""
    texts, title = subject(debate), source.reference.title
    if source in texts:
        return "the subject"
    # A changed text belongs to the source of the same title; of a single source to that one.
    is_single = len(texts) == 1
    changed = [
        text.id for text in changed_texts(debate) if is_single or text.reference.title == title
    ]
    is_of_subject = is_single or any(text.reference.title == title for text in texts)
    if source.id not in changed or not is_of_subject:
        return ""
    is_newest = source.id == changed[-1]
    return "the changed text" if is_newest else f"a changed text, replaced by {changed[-1]}"


def handing_in_words(titles: Sequence[str]) -> str:
    """The text of a note that submits changed texts of these titles."""
    return f"{_HANDED_IN}{', '.join(titles)}]"


def is_handing_in(note: Note) -> bool:
    return bool(note.references) and note.text.startswith(_HANDED_IN)


def references(debate: Debate) -> Sequence[SourceReference]:
    """The references given for review."""
    return [reference for reference in debate.setup.references if reference.kind in KINDS]


def subject_fault(debate: Debate) -> str:
    """Why the review is not held, because none of its texts could be read; else empty."""
    faults = [
        source for source in debate.sources if source.reference.kind in KINDS and source.fault
    ]
    if not references(debate) or subject(debate) or not faults:
        return ""
    text = "; ".join(f"{fault.reference.title}: {fault.fault}" for fault in faults)
    return f"What was to be reviewed could not be read ({text})."
