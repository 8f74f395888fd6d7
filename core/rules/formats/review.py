"""Format `review`: a proposal that somebody made is read, answered for, and looked at again.

Each agent reads the subject by itself and says what is wrong with which of its words. What several
found is merged, and what matters is put to the author, who answers in the thread or hands in a
changed text. Then each agent looks again at what it found. Where nothing of weight was found, or
nobody answers, there is no second look: nothing has changed. The vote is on three verdicts whose
ids never change.
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
from core.debate.state import Debate, Status, once_per_debate
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
#: On it the findings of all are merged, and on it they are put to the author.
MERGING = Turn(act=Act.FINDINGS, round=1, agent=SUMMARIZER)
ASKING = Turn(act=Act.CLARIFICATION, round=1, agent=ENGINE)
#: The author has so many times as long as people have for a clarifying question: a text is to be
#: changed, perhaps.
PATIENCE = 4
_UNANSWERED = "the finding stands"
#: Warns of a verdict that is no "Ready", whatever the judge and the vote say.
NOT_READY = (
    "The judge called it ready while findings that weigh are open, so it is ready with changes at "
    "most."
)
#: Findings that one agent may make, on each look, and that are put to the author.
MOST_FINDINGS, MOST_PUT = 8, 8
#: What the author is asked about.
WEIGHTY = frozenset({Severity.BLOCKER, Severity.MAJOR})
_HANDED_IN = "[Handed in, changed: "


# The findings.


def raised_findings(debate: Debate) -> Sequence[ReviewFinding]:
    return _found_on(debate, Act.REVIEW)


def _found_on(debate: Debate, act: Act) -> Sequence[ReviewFinding]:
    """What the agents found on that act, in roster order; what was struck out does not count."""
    return [
        finding.model_copy(update={"raised_by": (agent,)})
        for agent, contribution in FORMAT.contributions(debate, act).items()
        for finding in contribution.findings
        if finding.counts
    ]


def merge_findings(
    findings: Sequence[ReviewFinding], same_as: Sequence[int] = ()
) -> tuple[ReviewFinding, ...]:
    """Each finding once, with everybody who raised it, the gravest first, numbered from 1.

    Of several that say the same the gravest stays as it is worded, else the first.

    Args:
        findings: The findings, each with its `raised_by`.
        same_as: For each the place (from 0) of the first one that says the same, its own where
            none does; empty: those in the same words about the same words.
    """
    texts = [(it.citation.source, it.citation.words, it.wrong) for it in findings]
    groups: dict[int, list[ReviewFinding]] = {}
    for first, finding in zip(same_as or map(texts.index, texts), findings, strict=True):
        groups.setdefault(first, []).append(finding)
    once = list[ReviewFinding]()
    for group in groups.values():
        raised_by = tuple(dict.fromkeys(by for finding in group for by in finding.raised_by))
        once.append(min(group, key=_weight).model_copy(update={"raised_by": raised_by}))
    return tuple(
        finding.model_copy(update={"number": number})
        for number, finding in enumerate(sorted(once, key=_weight), start=1)
    )


def _weight(finding: ReviewFinding) -> int:
    return list(Severity).index(finding.severity)


@once_per_debate
def current_findings(debate: Debate) -> tuple[ReviewFinding, ...]:
    """Every finding as it stands now, the gravest first.

    One is resolved, or answered, if no second look leaves it open; new findings of second looks
    are numbered on.
    """
    first = debate.findings.items if debate.findings else merge_findings(raised_findings(debate))
    second_looks, order = _found_on(debate, Act.SECOND_LOOK), list(FindingStatus)
    findings = list[ReviewFinding]()
    for finding in first:
        looks = [item for item in second_looks if item.number == finding.number]
        weakest = min(looks, key=lambda look: order.index(look.status), default=finding)
        said_so = [look for look in looks if look.status is weakest.status]
        update = {
            "status": weakest.status,
            "why": next((look.why for look in said_so if look.why), ""),
            "mended_by": next((look.mended_by for look in said_so if look.mended_by), None),
            "changed": next((look.changed for look in looks if look.changed), ()),
        }
        findings.append(finding.model_copy(update=update))
    for finding in merge_findings([finding for finding in second_looks if not finding.number]):
        update = {"status": FindingStatus.NEW, "number": len(first) + finding.number}
        findings.append(finding.model_copy(update=update))
    return tuple(sorted(findings, key=lambda finding: (_weight(finding), finding.number)))


def findings_for_author(debate: Debate) -> Sequence[ReviewFinding]:
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if item.severity in WEIGHTY][:MOST_PUT]


def unasked_count(debate: Debate) -> int:
    items = debate.findings.items if debate.findings else ()
    return max(0, sum(item.severity in WEIGHTY for item in items) - MOST_PUT)


def unasked_words(debate: Debate) -> str:
    count = unasked_count(debate)
    if not count:
        return ""
    what = "1 more that matters is" if count == 1 else f"{count} more that matter are"
    return f"{what} not asked about: nobody answers for them, and they stand in the verdict."


def own_findings(debate: Debate, agent: str) -> Sequence[ReviewFinding]:
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if agent in item.raised_by]


def struck_count(debate: Debate) -> int:
    findings = (it for said in debate.contributions.values() for it in said.findings)
    return sum(not finding.counts for finding in findings)


def struck_words(debate: Debate) -> str:
    lost = quantity(struck_count(debate), "finding")
    return f"{lost} struck out: not about words of the subject." if struck_count(debate) else ""


def open_findings_words(findings: Iterable[ReviewFinding]) -> str:
    """How many are still to be mended, by severity: "2 blockers, 3 minor"; empty if none is."""
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
    cited = finding.citation
    place = f" ({', '.join(filter(None, (cited.source, cited.place)))})"
    mend = f" To mend it: {finding.mend}" if finding.mend else ""
    return f"{finding.severity.value}: “{cited.words}”{place}: {finding.wrong}{mend}"


# The steps.


def _is_put(debate: Debate, _turn: Turn) -> bool:
    return bool(findings_for_author(debate))


def _looks_again(debate: Debate, turn: Turn) -> bool | None:
    """Whether the agent looks again: at what it found, once the author has answered."""
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
    return _listed("Findings of all agents", lines)


def _own_findings(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    # Findings put to the author are quoted above, with the answers.
    numbers = {finding_number(debate, item): item.number for item in _card_items(debate)}
    lines = [
        f"f{finding.number}: number {numbers[finding.number]} of what people were asked"
        if finding.number in numbers
        else f"f{finding.number}: {finding_line(finding)}"
        for finding in own_findings(debate, turn.agent)
    ]
    return _listed("Your findings", lines)


def _standing_findings(_form: Format, debate: Debate, _turn: Turn) -> Sequence[Part]:
    lines = [
        f"{finding.number}. {finding.status.value}, {finding_line(finding)}"
        + (f" ({finding.why})" if finding.why else "")
        for finding in current_findings(debate)
    ]
    return _listed("Findings as they stand", lines or ["There are none."])


def _listed(label: str, lines: Sequence[str]) -> Sequence[Part]:
    text = "\n".join(" ".join(line.split()) for line in lines)
    return (Part(kind=PartKind.CRITIQUE, label=label, text=text, trim_priority=1),)


FORMAT = Format(
    name=NAME,
    most_rounds=1,
    compares_drafts=False,
    steps=(
        # Whoever has no review has nothing to look at again.
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
            only_if=_is_put,
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
    stances = {agent: leading(draft.stance) for agent, draft in FORMAT.drafts(debate).items()}
    return Options(
        turn=turn,
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=item, name=name) for item, name in VERDICTS.items()),
        stances={agent: option for agent, option in stances.items() if option},
    )


def second_look_words(debate: Debate) -> str:
    if FORMAT.contributions(debate, Act.SECOND_LOOK):
        return "The author was asked about what matters, and the agents looked again."
    if debate.findings is None:
        return "It ended before all had said what they found."
    if not findings_for_author(debate):
        return "Nothing of weight was found, so there was no second look."
    if debate.is_done(ASKING) and not is_answered(debate):
        return "What was found stands unanswered, so there was no second look."
    return "There was no second look."


# What is put to the author, and what the author says to it.


def author_questions(debate: Debate, turn: Turn) -> Clarifications:
    first = 1 + sum(len(card.items) for card in debate.clarifications.values())
    wait = timedelta(seconds=debate.setup.clarifying.wait_seconds * PATIENCE)
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
    """The questions that put findings to the author."""
    card = debate.clarifications.get(ASKING.key) if debate.findings else None
    return card.items if card else ()


def questions_to_people(debate: Debate) -> Sequence[Clarification]:
    put_to_author = _card_items(debate)
    items = (item for card in debate.clarifications.values() for item in card.items)
    return [item for item in items if item not in put_to_author]


def finding_number(debate: Debate, item: Clarification) -> int | None:
    """The number of the finding that a question puts to the author; None: it is of no finding."""
    items = _card_items(debate)
    return findings_for_author(debate)[items.index(item)].number if item in items else None


def is_settled_by_text(debate: Debate, item: Clarification) -> bool:
    """Whether a finding was put to the author, who handed in a changed text and said no more."""
    answer = debate.answers.get(item.number)
    is_unanswered = item in _card_items(debate) and not (answer and answer.text)
    return is_unanswered and bool(handed_in(debate))


def is_answered(debate: Debate) -> bool:
    """Whether the author's time is over, and something came of it: an answer, a note, a file."""
    if debate.open_cards:
        return False
    answers = (debate.answers.get(item.number) for item in _card_items(debate))
    is_said = any(answer and answer.text for answer in answers)
    return is_said or any(key.startswith("note/") for key in response_keys(debate))


def awaits_changed_text(debate: Debate) -> bool:
    """Whether what the author handed in is still to be read: till then nobody looks, or votes."""
    if not debate.findings or not is_answered(debate):
        return False
    # The readings of what was handed in while the author was asked.
    notes = {key.removeprefix("note/") for key in response_keys(debate)}
    references = [ref for note in debate.all_notes if note.id in notes for ref in note.references]
    first, reading = len(debate.setup.references), sources.unread(debate)
    return any(
        sources.reading_turn(number) in reading
        for number, reference in enumerate(debate.references[first:], start=first + 1)
        if reference in references
    )


def response_keys(debate: Debate) -> Sequence[str]:
    """Keys of the author's responses: answers, notes, the end of the time to answer.

    Answers and notes count while the author is asked, a changed text any time before the vote.
    """
    items, closed = _card_items(debate), f"{ASKING.key}/closed"
    if not items:
        return ()
    votes = {key for key, ballot in debate.ballots.items() if ballot.turn.round}
    changed = {f"note/{note.id}" for note in debate.all_notes if note.references}
    answers = {f"answer/{item.number}" for item in items}
    keys = list(takewhile(lambda key: key not in votes, debate.times))
    begin = keys.index(ASKING.key)
    end = keys.index(closed) if closed in keys else len(keys)
    return [
        key
        for place, key in enumerate(keys)
        if key in changed
        or (begin < place <= end and (key in answers or key == closed or key.startswith("note/")))
    ]


def revision_fault(debate: Debate) -> str:
    """Why no changed text can be handed in now, with what to do; empty where one can."""
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


# The subject, and what its author handed in since.


def subject(debate: Debate) -> Sequence[Source]:
    """What is reviewed, as far as it was read: the sources that came with the question."""
    numbers = {int(turn.target or 0) for turn in sources.with_question(debate)}
    return [source for source in _read_sources(debate) if source.number in numbers]


def handed_in(debate: Debate) -> Sequence[Source]:
    first = subject(debate)
    return [source for source in _read_sources(debate) if source not in first]


def _read_sources(debate: Debate) -> Sequence[Source]:
    return [source for source in debate.evidence if source.reference.kind in KINDS]


def source_role(debate: Debate, source: Source) -> str:
    """What a source is in a review: the subject, or its changed text; empty: neither."""
    if debate.setup.format != NAME:
        return ""
    read, title = subject(debate), source.reference.title
    if source in read:
        return "the subject"
    # Of a subject that is one source its changed text may have any title.
    is_single = len(read) == 1
    changed = [it.id for it in handed_in(debate) if is_single or it.reference.title == title]
    is_of_subject = is_single or any(it.reference.title == title for it in read)
    if source.id not in changed or not is_of_subject:
        return ""
    is_newest = source.id == changed[-1]
    return "the changed text" if is_newest else f"a changed text, replaced by {changed[-1]}"


def handing_in_words(titles: Sequence[str]) -> str:
    return f"{_HANDED_IN}{', '.join(titles)}]"


def is_handing_in(note: Note) -> bool:
    return bool(note.references) and note.text.startswith(_HANDED_IN)


def references(debate: Debate) -> Sequence[SourceReference]:
    return [reference for reference in debate.setup.references if reference.kind in KINDS]


def subject_fault(debate: Debate) -> str:
    """Why nothing is reviewed: what was given could not be read; empty where something was."""
    faults = [
        source for source in debate.sources if source.reference.kind in KINDS and source.fault
    ]
    if not references(debate) or subject(debate) or not faults:
        return ""
    text = "; ".join(f"{fault.reference.title}: {fault.fault}" for fault in faults)
    return f"What was to be reviewed could not be read ({text})."
