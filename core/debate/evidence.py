"""Evidence: references to sources, the texts read from them, and citations of these texts."""

from enum import StrEnum

from core.debate.people import Person
from core.debate.turn import Turn
from core.values import Value


class SourceKind(StrEnum):
    FILE = "file"
    LINK = "link"
    THREAD = "thread"
    #: Text that was pasted with the question.
    TEXT = "text"
    #: All earlier decisions of the same place as one text. Only in debates of older versions;
    #: now each decision is a `DECISION`.
    REGISTER = "register"
    TOOL = "tool"
    #: The verdict of one earlier debate, and the team's decision on it.
    DECISION = "decision"
    #: The record of a debate, as the source for answers to follow-up questions.
    RECORD = "record"


class SourceReference(Value):
    kind: SourceKind
    #: The name of a file, the address of a page.
    title: str
    #: The URL at which people can open it; empty if there is none.
    address: str = ""
    #: The argument for fetching it: a path, the id of a file, or a channel and a timestamp. For
    #: pasted text it is the text itself.
    fetch: str
    by: Person
    #: Whether it is only a link inside a message or question, not a source that a person chose.
    #: The debate is held even if it cannot be read.
    in_words: bool = False


class Mark(Value):
    """A place inside the text of a source, at which a page, sheet, message or hunk begins."""

    #: The line of the text, counted from 1.
    line: int
    #: "page 3", "sheet Load", "Ann, 12:40"; may be empty if citations give line numbers.
    label: str
    #: The URL of that place; empty: the source's own address is used.
    address: str = ""
    #: The name of the lines from here on, if people can find them by number: "row".
    counts: str = ""
    #: For a hunk of a diff: the number of its first line in the changed file. Removed lines are
    #: not counted. 0: this is no hunk.
    hunk_at: int = 0


class SourceText(Value):
    """The text of a source, without invisible characters and with secrets redacted."""

    text: str = ""
    #: In the order of their lines. Empty: places are given as line numbers.
    marks: tuple[Mark, ...] = ()
    #: SHA-256 of the fetched content, in hexadecimal digits.
    sha256: str = ""
    #: Warnings for people: "only the first 500 of 900 pages were read".
    warnings: tuple[str, ...] = ()
    #: References found in the source, such as the files of a thread. They become sources too.
    references: tuple[SourceReference, ...] = ()


class Source(SourceText):
    turn: Turn
    reference: SourceReference
    #: Why there is no text, as the end of a sentence: "it has a password".
    fault: str = ""
    #: The id in citations if it is not `e` and the number: d1 for the first earlier decision.
    label: str = ""

    @property
    def number(self) -> int:
        """The position in the debate's references, counted from 1."""
        return int(self.turn.target or 0)

    @property
    def id(self) -> str:
        """The id in citations: e1, e2…; d1 is an earlier decision, r1 an entry of a record."""
        return self.label or f"e{self.number}"


class CitationStatus(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"


class Citation(Value):
    #: The source's id as the agent wrote it: `e3`.
    source: str
    #: The quoted words.
    words: str
    status: CitationStatus
    #: Where the words are in the source: "page 3", "line 12".
    place: str = ""
    address: str = ""
    #: Why it is not verified, for people to read.
    fault: str = ""
