"""Evidence: sources as people give them, their texts, and citations of them."""

from enum import StrEnum

from core.debate.people import Person
from core.debate.turn import Turn
from core.values import Value


class SourceKind(StrEnum):
    FILE = "file"
    LINK = "link"
    THREAD = "thread"
    #: Words that came with the question itself.
    TEXT = "text"
    #: What was decided earlier in the same place; in debates of older versions one text, now a
    #: source for each decision.
    REGISTER = "register"
    TOOL = "tool"
    #: One debate's verdict, and what the team made of it.
    DECISION = "decision"
    #: What was said in a debate, where people ask about it.
    RECORD = "record"


class SourceReference(Value):
    kind: SourceKind
    #: What people call it: a file's name, a page's address.
    title: str
    #: Where people find it; empty where there is no such address.
    address: str = ""
    #: What the surface needs to fetch it: a path, a file's id, a channel and a timestamp; of a
    #: text the text itself.
    fetch: str
    by: Person
    #: It is linked in what somebody wrote, and was not chosen as a source: all else stands without.
    in_words: bool = False


class Mark(Value):
    #: The line of the text, counted from 1.
    line: int
    #: "page 3", "sheet Load", "Ann, 12:40"; may be empty where lines are counted.
    label: str
    #: Leads to that place; empty: the source's own address does.
    address: str = ""
    #: What the lines from here on are called, where people can find them by number: "row".
    counts: str = ""
    #: Of a hunk of a diff: the number of its first line in the changed file. Lines that were taken
    #: out count for nothing; 0: it is no hunk.
    hunk_at: int = 0


class SourceText(Value):
    """The text of a source. Cleaned of what nobody sees; secrets are redacted."""

    text: str = ""
    #: In the order of their lines; none: lines are counted.
    marks: tuple[Mark, ...] = ()
    #: SHA-256 of what was read, in hexadecimal digits.
    sha256: str = ""
    #: What people should know of it: "only the first 500 of 900 pages were read".
    warnings: tuple[str, ...] = ()
    #: What came with it: the files of a thread. They become sources too.
    references: tuple[SourceReference, ...] = ()


class Source(SourceText):
    turn: Turn
    reference: SourceReference
    #: Why there is no text, as the end of a sentence: "it has a password".
    fault: str = ""
    #: How it is cited where that is not by its number: d1 for the first earlier decision.
    label: str = ""

    @property
    def number(self) -> int:
        """Which of the debate's references it is, counted from 1."""
        return int(self.turn.target or 0)

    @property
    def id(self) -> str:
        """How it is cited: e1, e2 and so on; d1 is an earlier decision, r1 of a debate's record."""
        return self.label or f"e{self.number}"


class CitationStatus(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"


class Citation(Value):
    #: As the agent named it: `e3`.
    source: str
    words: str
    status: CitationStatus
    #: Where they stand: "page 3", "line 12".
    place: str = ""
    address: str = ""
    #: Why it is not verified, in words for people.
    fault: str = ""
