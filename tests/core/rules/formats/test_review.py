"""Format `review`: when reviews, the merging, the questions to the author and second looks come."""

from collections.abc import Sequence

import pytest

from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    ClarificationsOpened,
    ContributionMade,
    Event,
    FindingsMerged,
    NoteAdded,
)
from core.models import (
    Answer,
    Citation,
    CitationStatus,
    Contribution,
    Debate,
    Findings,
    FindingStatus,
    Note,
    Person,
    ReviewFinding,
    Severity,
)
from core.rules import findings, schedule
from core.rules.findings import merged, raised, standing
from core.rules.formats import clarifying, review
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    failed,
    keys,
    of_all,
    said,
    told,
    turn,
)

FIRST = of_all("r1/review/*")
LOOKS = of_all("r1/second_look/*")
DANA = Person(id="U1", name="Dana")
CLOSED = ClarificationsClosed(which=review.ASKING.key)
NOTE = NoteAdded(note=Note(id="n1", author=DANA, text="See the new text."))


def a_finding(severity: Severity = Severity.MAJOR, words: str = "words") -> ReviewFinding:
    cited = Citation(source="e1", words=words, status=CitationStatus.VERIFIED)
    return ReviewFinding(severity=severity, citation=cited, wrong=f"{words} are wrong")


def found(agent: str, *findings: ReviewFinding) -> Event:
    made = turn(f"r1/review/{agent}")
    said_so = Contribution(turn=made, text="t", findings=findings, stance={"o2": 1.0})
    return ContributionMade(contribution=said_so)


def a_review(*events: Event) -> Debate:
    """The review after these events and what asks no model: the merging, and the card."""
    debate = told(a_format_setup("review", rounds=1), *events)
    added = list(events)
    if review.MERGING in review.FORMAT.ready(debate, 1):
        items = merged(raised(debate))
        added.append(FindingsMerged(findings=Findings(turn=review.MERGING, items=items)))
        debate = told(a_format_setup("review", rounds=1), *added)
    if review.ASKING in review.FORMAT.ready(debate, 1):
        put = clarifying.put(debate, review.ASKING)
        added.append(ClarificationsOpened(clarifications=put))
    return told(a_format_setup("review", rounds=1), *added)


def after(debate_events: Sequence[Event], *later: Event) -> Debate:
    """The same with what came after the card."""
    before = a_review(*debate_events)
    merging = FindingsMerged(findings=before.findings) if before.findings else None
    opened = [
        ClarificationsOpened(clarifications=clarification)
        for clarification in before.clarifications.values()
    ]
    happened = [*debate_events, *([merging] if merging else []), *opened, *later]
    return told(a_format_setup("review", rounds=1), *happened)


def answered(number: int, text: str = "We know.") -> Event:
    return ClarificationAnswered(answer=Answer(number=number, text=text, by=DANA))


ALL = [
    found("architect", a_finding()),
    found("security", a_finding(words="others")),
    *said(FIRST[2]),
]


def test_while_the_author_is_asked_nothing_is_ready() -> None:
    assert review.FORMAT.ready(a_review(*ALL), 1) == ()


@pytest.mark.parametrize(
    ("later", "looks"),
    [
        ([answered(1), answered(2)], []),
        ([answered(1), answered(2), CLOSED], LOOKS[:2]),
        ([answered(1)], []),
        ([answered(1), CLOSED], LOOKS[:2]),
        ([CLOSED], []),
        ([answered(1, ""), answered(2, ""), CLOSED], []),
        ([NOTE, answered(1, ""), answered(2, ""), CLOSED], LOOKS[:2]),
        ([answered(1, ""), answered(2, ""), NOTE, CLOSED], LOOKS[:2]),
        ([NOTE, CLOSED], LOOKS[:2]),
        ([CLOSED, NOTE], []),
        ([answered(1, ""), answered(2, ""), CLOSED, NOTE], []),
    ],
)
def test_those_who_found_something_look_again_where_something_came_of_it(
    later: Sequence[Event], looks: Sequence[str]
) -> None:
    assert keys(review.FORMAT.ready(after(ALL, *later), 1)) == looks


def test_at_most_eight_findings_are_put_the_gravest_first() -> None:
    many = [a_finding(Severity.MAJOR, f"w{n} x{n}") for n in range(9)]
    debate = a_review(
        found("architect", *many, a_finding(Severity.BLOCKER, "end")), *said(*FIRST[1:])
    )
    items = debate.clarifications[review.ASKING.key].items
    assert len(items) == 8
    assert items[0].question.startswith("blocker: “end”")
    assert findings.not_put(debate) == 2
    assert findings.not_put_words(debate).startswith("2 more that matter are not asked about")
    assert findings.not_put_words(a_review(*ALL)) == ""


def test_a_finding_is_resolved_where_all_who_looked_again_say_so() -> None:
    both = [found("architect", a_finding()), found("security", a_finding()), *said(FIRST[2])]

    def looked(agent: str, status: FindingStatus) -> Event:
        (one,) = after(both).findings.items  # type: ignore[union-attr]
        seen = one.model_copy(update={"status": status, "raised_by": (), "why": agent})
        made = Contribution(turn=turn(f"r1/second_look/{agent}"), text="t", findings=(seen,))
        return ContributionMade(contribution=made)

    resolved, still = FindingStatus.RESOLVED, FindingStatus.OPEN
    one_lost = after(both, answered(1), looked("architect", resolved), *failed(LOOKS[1]))
    agreed = after(both, answered(1), *(looked(agent, resolved) for agent in AGENTS[:2]))
    split = after(both, answered(1), looked("architect", resolved), looked("security", still))
    assert [one.status for one in standing(one_lost)] == [resolved]
    assert [one.status for one in standing(agreed)] == [resolved]
    assert [(one.status, one.why) for one in standing(split)] == [(still, "security")]


def test_nobody_votes_on_reviews_before_the_findings_are_merged() -> None:
    debate = told(a_format_setup("review", rounds=1), *ALL)
    assert keys(schedule.ready(debate)) == [
        review.MERGING.key,
        "r0/options/summarizer",
        "r1/summary/summarizer/review",
    ]
