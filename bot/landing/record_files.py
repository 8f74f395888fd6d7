"""Records (ADR) of accepted decisions in a folder: how files are named, numbered and found."""

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.landing.receivers import LandedRecord, Landing, LandingFailed
from core.debate.follow_up import DecisionKind
from core.debate.log import RecordedEvent
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.state import Debate
from core.landing import RecordPlace
from core.redaction import redact
from core.transcript.adr import adr, title_of

#: Longest part of a file's name that is made from the title, in characters.
_MOST_LETTERS = 50
#: So much of a file is read to see whose record it is: facts stand at its top.
_HEAD_BYTES = 16_384
#: What the thread reads where a record could not be put anywhere.
RECORD_UNDONE = "The decision record could not be put where your team keeps its records."
_NUMBERED = re.compile(r"(\d{4,6})-[^/]{1,200}\.md")
_OWN_LINE = re.compile(r"- Source: Moot debate `(d[a-z2-7]{7})`")


def record_name(number: int, debate: Debate) -> str:
    """Return the name of a record's file: nothing in it means anything to a shell or a folder."""
    small = unicodedata.normalize("NFKD", title_of(debate).casefold())
    latin = re.findall(r"[a-z0-9]+", small.encode("ascii", "ignore").decode())
    words = "-".join(latin)
    short = words if len(words) <= _MOST_LETTERS else words[:_MOST_LETTERS].rpartition("-")[0]
    if 2 * sum(map(len, latin)) < sum(map(str.isalnum, small)):
        short = ""  # of a title in another script the rest says something else
    return f"{number:04}-{short.strip('-') or debate.id}.md"


def next_number(names: Iterable[str]) -> int:
    """Return the number after the highest one that these files have."""
    matches = (_NUMBERED.fullmatch(name.rpartition("/")[2]) for name in names)
    return max((int(match[1]) for match in matches if match), default=0) + 1


@dataclass(frozen=True)
class RecordFolder:
    """Records in a folder: each debate has one file, under the name it got first."""

    folder: Path
    #: File name → the debate's id; empty where nobody says whose record it is.
    records: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> "RecordFolder":
        """Look through a folder.

        The debate's id is read only from the facts at the top, above text of people and models.

        Raises:
            OSError: It cannot be read.
        """
        records = dict[str, str]()
        for file in sorted(folder.iterdir()):
            if not _NUMBERED.fullmatch(file.name):
                continue
            records[file.name] = ""
            if file.is_file() and not file.is_symlink():
                with file.open("rb") as opened:
                    top = opened.read(_HEAD_BYTES).decode("utf-8", "replace").partition("\n## ")[0]
                ids = (_OWN_LINE.fullmatch(line) for line in top.splitlines())
                records[file.name] = next((match[1] for match in ids if match), "")
        return cls(folder, records)

    def name_of(self, debate_id: str) -> str:
        """The file with a debate's record; empty if there is none."""
        return next((name for name, whose in self.records.items() if whose == debate_id), "")

    def is_renewed(self, name: str, debate: Debate) -> bool:
        """Whether a file says what the debate's record says now."""
        file = self.folder / name
        return file.is_file() and file.read_bytes() == record_text(debate)

    def write(self, name: str, debate: Debate) -> None:
        """Write a record whole or not at all.

        Raises:
            FileExistsError: Somebody else's file has the name, which was free before.
            OSError: It cannot be written.
        """
        draft = self.folder / f".{debate.id}.part"
        # What an earlier attempt left, or a link that somebody put there, which would be written
        # through to wherever it leads.
        draft.unlink(missing_ok=True)
        with draft.open("xb") as opened:
            opened.write(record_text(debate))
        try:
            if name in self.records:
                draft.replace(self.folder / name)
            else:
                (self.folder / name).hardlink_to(draft)
        finally:
            draft.unlink(missing_ok=True)


def record_text(debate: Debate) -> bytes:
    """Return the record as it is written to a file."""
    return redact(adr(debate)).encode()


def is_kept(debate: Debate) -> bool:
    """Whether a record is begun for a debate as it stands; once begun it is always renewed."""
    return debate.decision is not None and debate.decision.kind is DecisionKind.ACCEPT


#: Others may number records in the same folder at the same time.
_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class RecordReceiver:
    """What `Receiver`s of decision records share: which events they take, and their name."""

    records: RecordPlace

    @property
    def name(self) -> str:
        """As the settings have it."""
        return self.records.name

    @property
    def failure_text(self) -> str:
        """The thread is told where the record is, or that it is nowhere."""
        return RECORD_UNDONE

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        """Whether the event changes the record of an accepted decision held in its channels."""
        changes = isinstance(recorded.event, DecisionRecorded | OutcomeGiven)
        is_accepted = debate.acceptance is not None
        return changes and is_accepted and self.records.serves(debate.setup.place)


@dataclass(frozen=True, kw_only=True)
class FolderReceiver(RecordReceiver):
    """A `Receiver` that keeps one file per accepted decision; nothing else is touched."""

    async def check(self) -> str:
        """Look whether the folder can be written.

        Raises:
            LandingFailed: It cannot.
        """
        folder = self.records.folder
        if not os.access(f"{folder}/.", os.W_OK | os.X_OK):  # the dot: of no file
            raise LandingFailed(f"{folder} is no folder that Moot can write to.")
        return "can be written"

    async def deliver(self, landing: Landing) -> LandedRecord:
        """Write the record, or renew it; writing it again changes nothing.

        Raises:
            LandingFailed: It cannot be written.
        """
        begins = is_kept(landing.debate)
        try:
            place = await asyncio.to_thread(self._write, landing.newest, begins=begins)
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
            raise LandingFailed(f"{self.records.folder} cannot be written: {why}.") from None
        return LandedRecord(place=place, inside=self.records.folder)

    def _write(self, debate: Debate, *, begins: bool) -> str:
        """Bring the record up to date; the name of its file, empty if it has none."""
        for tries_left in reversed(range(_TRIES)):
            folder = RecordFolder.read(Path(self.records.folder))
            name = folder.name_of(debate.id)
            if not name and not begins:
                return ""
            name = name or record_name(next_number(folder.records), debate)
            try:
                if not folder.is_renewed(name, debate):
                    folder.write(name, debate)
            except FileExistsError:
                if not tries_left:
                    raise
                continue
            return name
        return ""
