"""Findings: each once, by weight, and how they stand after a second look."""

import pytest

from core.debate.evidence import Citation, CitationStatus
from core.debate.findings import FindingStatus, ReviewFinding, Severity
from core.rules.findings import counted_words, line_of, merge_findings


def a_finding(
    words: str = "all jobs are lost",
    wrong: str = "Orders vanish.",
    *,
    by: str = "ann",
    severity: Severity = Severity.MAJOR,
    status: CitationStatus = CitationStatus.VERIFIED,
) -> ReviewFinding:
    cited = Citation(source="e1", words=words, status=status, place="line 3")
    return ReviewFinding(severity=severity, citation=cited, wrong=wrong, raised_by=(by,))


def test_the_same_fault_of_the_same_words_is_one_finding_of_both_at_its_gravest() -> None:
    findings = [
        a_finding(by="ann"),
        a_finding(
            "jobs are lost", "All orders vanish for good.", by="ben", severity=Severity.BLOCKER
        ),
    ]
    (finding,) = merge_findings(findings)
    assert (finding.raised_by, finding.severity) == (("ann", "ben"), Severity.BLOCKER)
    assert finding.wrong == "All orders vanish for good."


@pytest.mark.parametrize(
    "other",
    [
        a_finding("the cost is 40 euro", by="ben"),
        a_finding(wrong="Nobody is told about it.", by="ben"),
        a_finding(by="ann"),
        a_finding(by="ben").model_copy(
            update={"citation": a_finding().citation.model_copy(update={"source": "e2"})}
        ),
    ],
    ids=["other words", "another fault", "the same agent", "another source"],
)
def test_a_doubt_keeps_two_findings_apart(other: ReviewFinding) -> None:
    assert len(merge_findings([a_finding(), other])) == 2


def test_findings_are_numbered_by_weight_in_the_order_they_were_made() -> None:
    weights = [Severity.DETAIL, Severity.BLOCKER, Severity.MINOR, Severity.BLOCKER]
    findings = merge_findings(
        [a_finding(f"words {n}", severity=severity) for n, severity in enumerate(weights)]
    )
    assert [(finding.number, finding.citation.words) for finding in findings] == [
        (1, "words 1"),
        (2, "words 3"),
        (3, "words 2"),
        (4, "words 0"),
    ]


def test_what_a_model_holds_the_same_is_one() -> None:
    findings = [a_finding("a b"), a_finding("c d", by="ben"), a_finding("e f", by="eva")]
    assert [finding.raised_by for finding in merge_findings(findings, [0, 1, 0])] == [
        ("ann", "eva"),
        ("ben",),
    ]


def test_only_what_is_open_and_stands_in_the_subject_is_counted() -> None:
    findings = [
        a_finding(severity=Severity.BLOCKER),
        a_finding(severity=Severity.BLOCKER),
        a_finding(severity=Severity.DETAIL),
        a_finding(severity=Severity.BLOCKER, status=CitationStatus.UNVERIFIED),
        a_finding().model_copy(update={"status": FindingStatus.RESOLVED}),
        a_finding().model_copy(update={"status": FindingStatus.ANSWERED}),
    ]
    assert counted_words(findings) == "2 blockers, 1 detail"
    assert counted_words(findings[3:]) == ""


def test_a_finding_is_told_with_its_words_and_their_place() -> None:
    assert line_of(a_finding()) == "major: “all jobs are lost” (e1, line 3): Orders vanish."
