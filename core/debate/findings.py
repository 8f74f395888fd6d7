"""Findings of a review and how they stand."""

from enum import StrEnum

from core.debate.evidence import Citation, CitationStatus
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


class Severity(StrEnum):
    #: The subject must not go ahead with it.
    BLOCKER = "blocker"
    #: It will cost much, or go wrong for many; it is to be mended first.
    MAJOR = "major"
    #: Worth mending; nothing falls with it.
    MINOR = "minor"
    #: A slip, a name, a word.
    DETAIL = "detail"


class FindingStatus(StrEnum):
    OPEN = "open"
    #: What was said about it takes away what was wrong; no changed text shows it.
    ANSWERED = "answered"
    #: A changed text mends it.
    RESOLVED = "resolved"
    #: It came with the second look.
    NEW = "new"


class ReviewFinding(Value):
    severity: Severity
    #: The words, checked when the finding was made: unverified, and it does not count.
    citation: Citation
    wrong: str
    mend: str = ""
    #: Counted from 1 in its review, the gravest first; 0: not merged with the others' yet.
    number: int = 0
    #: Ids of the agents who found it; empty where it stands in its agent's own text.
    raised_by: tuple[str, ...] = ()
    status: FindingStatus = FindingStatus.OPEN
    why: str = ""
    #: The words of a changed text that mend it, checked when the agent looked again.
    mended_by: Citation | None = None
    #: Lines of the diff from the subject to the changed text at its words: "- old", "+ new".
    changed: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether its words stand in the subject."""
        return self.citation.status is CitationStatus.VERIFIED

    @property
    def is_open(self) -> bool:
        return self.counts and self.status in {FindingStatus.OPEN, FindingStatus.NEW}


class Findings(Value):
    turn: Turn
    items: tuple[ReviewFinding, ...]
    call: Call | None = None
    lost: Usage = Usage()
    #: How they came to be, where no model merged them.
    warnings: tuple[str, ...] = ()
