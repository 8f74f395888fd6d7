"""Records (ADR) of accepted decisions in a folder: names, numbers and contents of the files."""

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.landing.receivers import LandedRecord, Landing, LandingFailed
from core.debate.log import RecordedEvent
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.state import Debate
from core.debate.verdict import DecisionKind
from core.landing import RecordPlace
from core.redaction import redact
from core.transcript.decision import adr, adr_title

#: Longest part of a file name that comes from the title, in characters.
_MOST_LETTERS = 50
#: Bytes that are read to find the debate of a record: its id is at the top.
_HEAD_BYTES = 16_384
_NUMBERED = re.compile(r"(\d{4,6})-[^/]{1,200}\.md")
_OWN_LINE = re.compile(r"- Source: Moot debate `(d[a-z2-7]{7})`")


def record_name(number: int, debate: Debate) -> str:
    """The file name of a record; it has no characters with a meaning for shells or paths."""
    small = unicodedata.normalize("NFKD", adr_title(debate).casefold())
    latin = re.findall(r"[a-z0-9]+", small.encode("ascii", "ignore").decode())
    words = "-".join(latin)
    short = words if len(words) <= _MOST_LETTERS else words[:_MOST_LETTERS].rpartition("-")[0]
    if 2 * sum(map(len, latin)) < sum(map(str.isalnum, small)):
        short = ""  # most letters are not Latin: the others would mislead
    return f"{number:04}-{short.strip('-') or debate.id}.md"


def next_number(names: Iterable[str]) -> int:
    matches = (_NUMBERED.fullmatch(name.rpartition("/")[2]) for name in names)
    return max((int(match[1]) for match in matches if match), default=0) + 1


@dataclass(frozen=True)
class RecordFolder:
    """Records in a folder: each debate has one file, under the name it got first."""

    folder: Path
    #: File name → the debate's id; empty if the file does not name a debate.
    records: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> "RecordFolder":
        """Read the folder. Ids are read from the top of a file, above text of people and models."""
        records = dict[str, str]()
        for file in sorted(folder.iterdir()):
            if not _NUMBERED.fullmatch(file.name):
                continue
            records[file.name] = ""
            if file.is_file() and not file.is_symlink():
                with file.open("rb") as stream:
                    top = stream.read(_HEAD_BYTES).decode("utf-8", "replace").partition("\n## ")[0]
                ids = (_OWN_LINE.fullmatch(line) for line in top.splitlines())
                records[file.name] = next((match[1] for match in ids if match), "")
        return cls(folder, records)

    def record_of(self, debate_id: str) -> str:
        """The file name of a debate's record; empty if there is none."""
        return next((name for name, owner in self.records.items() if owner == debate_id), "")

    def write(self, name: str, debate: Debate) -> None:
        """Write a record atomically.

        Raises:
            FileExistsError: Another program created a file of this name meanwhile.
        """
        draft = self.folder / f".{debate.id}.part"
        # Remove a file of an earlier attempt, or a symbolic link, which would be followed.
        draft.unlink(missing_ok=True)
        with draft.open("xb") as stream:
            stream.write(record_text(debate))
        try:
            if name in self.records:
                draft.replace(self.folder / name)
            else:
                (self.folder / name).hardlink_to(draft)
        finally:
            draft.unlink(missing_ok=True)


def record_text(debate: Debate) -> bytes:
    return redact(adr(debate)).encode()


def needs_record(debate: Debate) -> bool:
    """Whether a new record is written for a debate. Existing records are always updated."""
    return debate.decision is not None and debate.decision.kind is DecisionKind.ACCEPT


@dataclass(frozen=True, kw_only=True)
class RecordReceiver:
    """Base class of `Receiver`s of decision records."""

    records: RecordPlace

    @property
    def name(self) -> str:
        return self.records.name

    @property
    def failure_text(self) -> str:
        return "The decision record could not be saved with your team's records."

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        is_change = isinstance(recorded.event, DecisionRecorded | OutcomeGiven)
        return (
            is_change and debate.acceptance is not None and self.records.serves(debate.setup.place)
        )


@dataclass(frozen=True, kw_only=True)
class FolderReceiver(RecordReceiver):
    """A `Receiver` that writes one file per accepted decision, and no other files."""

    async def check(self) -> str:
        folder = self.records.folder
        if not os.access(f"{folder}/.", os.W_OK | os.X_OK):  # the dot fails for files
            raise LandingFailed(f"{folder} is no folder that Moot can write to.")
        return "can be written"

    async def deliver(self, landing: Landing) -> LandedRecord:
        try:
            place = await asyncio.to_thread(self._write, landing)
        except OSError as error:
            # Also if another program took the number meanwhile: the queue tries again.
            reason = (error.strerror or type(error).__name__).lower()
            raise LandingFailed(f"{self.records.folder} cannot be written: {reason}.") from None
        return LandedRecord(place=place, inside=self.records.folder)

    def _write(self, landing: Landing) -> str:
        debate, folder = landing.newest, RecordFolder.read(Path(self.records.folder))
        name = folder.record_of(debate.id)
        if not name and not needs_record(landing.debate):
            return ""
        name = name or record_name(next_number(folder.records), debate)
        folder.write(name, debate)
        return name
