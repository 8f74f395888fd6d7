"""Findings: merging, order by severity, and the questions to the author."""

from dataclasses import replace

import pytest

from core.debate.contributions import Findings, FindingStatus, ReviewFinding, Severity
from core.debate.evidence import Citation, CitationStatus
from core.rules.formats import review
from core.rules.formats.review import finding_line, merge_findings, open_findings_words
from tests.core.rules.formats.debates import a_format_setup, debate_with


def a_finding(
    words: str = "all jobs are lost",
    wrong: str = "Orders vanish.",
    *,
    by: str = "ann",
    source: str = "e1",
    severity: Severity = Severity.MAJOR,
    status: CitationStatus = CitationStatus.VERIFIED,
) -> ReviewFinding:
    cited = Citation(source=source, words=words, status=status, place="line 3")
    return ReviewFinding(severity=severity, citation=cited, wrong=wrong, raised_by=(by,))


@pytest.mark.parametrize(
    ("other", "count"),
    [
        (a_finding(by="ben", severity=Severity.BLOCKER), 1),
        (a_finding("the cost is 40 euro", by="ben"), 2),
        (a_finding(wrong="Nobody is told about it.", by="ben"), 2),
        (a_finding(by="ben", source="e2"), 2),
    ],
    ids=["the same", "other words", "another fault", "another source"],
)
def test_without_a_model_equal_findings_are_merged_with_the_highest_severity(
    other: ReviewFinding, count: int
) -> None:
    gravest, *_ = merged = merge_findings([a_finding(), other])
    assert len(merged) == count
    if count == 1:
        assert (gravest.raised_by, gravest.severity) == (("ann", "ben"), Severity.BLOCKER)


def test_findings_are_numbered_by_severity_then_in_their_order() -> None:
    weights = [Severity.DETAIL, Severity.BLOCKER, Severity.MINOR, Severity.BLOCKER]
    once = merge_findings(
        [a_finding(f"words {n}", severity=severity) for n, severity in enumerate(weights)]
    )
    words = [(finding.number, finding.citation.words[-1]) for finding in once]
    assert words == [(1, "1"), (2, "3"), (3, "2"), (4, "0")]


def test_findings_that_a_model_calls_the_same_are_merged() -> None:
    raised = [a_finding("a b"), a_finding("c d", by="ben"), a_finding("e f", by="eva")]
    merged = merge_findings(raised, [0, 1, 0])
    assert [finding.raised_by for finding in merged] == [("ann", "eva"), ("ben",)]


def test_only_open_findings_about_words_of_the_subject_are_counted() -> None:
    findings = [
        a_finding(severity=Severity.BLOCKER),
        a_finding(severity=Severity.BLOCKER),
        a_finding(),
        a_finding(severity=Severity.DETAIL),
        a_finding(severity=Severity.BLOCKER, status=CitationStatus.UNVERIFIED),
        a_finding().model_copy(update={"status": FindingStatus.RESOLVED}),
        a_finding().model_copy(update={"status": FindingStatus.ANSWERED}),
    ]
    assert open_findings_words(findings) == "2 blockers, 1 major, 1 detail"
    assert open_findings_words(findings[4:]) == ""
    assert finding_line(findings[2]) == "major: “all jobs are lost” (e1, line 3): Orders vanish."


def test_at_most_eight_findings_are_put_to_the_author_the_most_severe_first() -> None:
    many = [a_finding(f"w{n} x{n}") for n in range(9)]
    merged = merge_findings([*many, a_finding("end", severity=Severity.BLOCKER)])
    debate = debate_with(a_format_setup("review", rounds=1))
    assert review.unasked_words(debate) == ""

    debate = replace(debate, findings=Findings(turn=review.MERGING, items=merged))
    items = review.author_questions(debate, review.ASKING).items
    assert len(items) == 8
    assert items[0].question.startswith("blocker: “end”")
    assert review.unasked_count(debate) == 2
    assert review.unasked_words(debate).startswith("2 more that matter are not asked about")
