"""Format `review`: when reviews, the merging, the questions to the author and second looks come."""

from collections.abc import Sequence

from core.debate.contributions import Contribution
from core.debate.evidence import Citation, CitationStatus
from core.debate.findings import Findings, ReviewFinding, Severity
from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn_events import ClarificationsOpened, ContributionMade, FindingsMerged
from core.rules import findings
from core.rules.findings import merge_findings, raised_findings
from core.rules.formats import clarifying, review
from tests.core.rules.formats.told import (
    a_format_setup,
    debate_with,
    of_all,
    speeches,
    turn,
)

FIRST = of_all("r1/review/*")


def a_finding(severity: Severity = Severity.MAJOR, words: str = "words") -> ReviewFinding:
    cited = Citation(source="e1", words=words, status=CitationStatus.VERIFIED)
    return ReviewFinding(severity=severity, citation=cited, wrong=f"{words} are wrong")


def findings_made(agent: str, *findings: ReviewFinding) -> Event:
    own_turn = turn(f"r1/review/{agent}")
    said_so = Contribution(turn=own_turn, text="t", findings=findings, stance={"o2": 1.0})
    return ContributionMade(contribution=said_so)


def a_review(*events: Event) -> Debate:
    """The review after these events and what asks no model: the merging, and the card."""
    debate = debate_with(a_format_setup("review", rounds=1), *events)
    added = list(events)
    if review.MERGING in review.FORMAT.ready(debate, 1):
        items = merge_findings(raised_findings(debate))
        added.append(FindingsMerged(findings=Findings(turn=review.MERGING, items=items)))
        debate = debate_with(a_format_setup("review", rounds=1), *added)
    if review.ASKING in review.FORMAT.ready(debate, 1):
        clarifications = clarifying.put(debate, review.ASKING)
        added.append(ClarificationsOpened(clarifications=clarifications))
    return debate_with(a_format_setup("review", rounds=1), *added)


def after(debate_events: Sequence[Event], *later: Event) -> Debate:
    """The same with what came after the card."""
    before = a_review(*debate_events)
    merging = FindingsMerged(findings=before.findings) if before.findings else None
    opened = [
        ClarificationsOpened(clarifications=clarification)
        for clarification in before.clarifications.values()
    ]
    happened = [*debate_events, *([merging] if merging else []), *opened, *later]
    return debate_with(a_format_setup("review", rounds=1), *happened)


ALL = [
    findings_made("architect", a_finding()),
    findings_made("security", a_finding(words="others")),
    *speeches(FIRST[2]),
]


def test_at_most_eight_findings_are_put_the_gravest_first() -> None:
    many = [a_finding(Severity.MAJOR, f"w{n} x{n}") for n in range(9)]
    debate = a_review(
        findings_made("architect", *many, a_finding(Severity.BLOCKER, "end")), *speeches(*FIRST[1:])
    )
    items = debate.clarifications[review.ASKING.key].items
    assert len(items) == 8
    assert items[0].question.startswith("blocker: “end”")
    assert findings.unasked_count(debate) == 2
    assert findings.not_put_words(debate).startswith("2 more that matter are not asked about")
    assert findings.not_put_words(a_review(*ALL)) == ""
