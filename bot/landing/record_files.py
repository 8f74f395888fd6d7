"""Records (ADR) of accepted decisions in a folder: how files are named, numbered and found."""

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

#: Longest part of a file's name that is made from the title, in characters.
_MOST_LETTERS = 50
#: So much of a file is read to see whose record it is: facts stand at its top.
_HEAD_BYTES = 16_384
_NUMBERED = re.compile(r"(\d{4,6})-[^/]{1,200}\.md")
_OWN_LINE = re.compile(r"- Source: Moot debate `(d[a-z2-7]{7})`")


def record_name(number: int, debate: Debate) -> str:
    """Nothing in it means anything to a shell or a folder."""
    small = unicodedata.normalize("NFKD", adr_title(debate).casefold())
    latin = re.findall(r"[a-z0-9]+", small.encode("ascii", "ignore").decode())
    words = "-".join(latin)
    short = words if len(words) <= _MOST_LETTERS else words[:_MOST_LETTERS].rpartition("-")[0]
    if 2 * sum(map(len, latin)) < sum(map(str.isalnum, small)):
        short = ""  # of a title in another script the rest says something else
    return f"{number:04}-{short.strip('-') or debate.id}.md"


def next_number(names: Iterable[str]) -> int:
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
        """Whose a record is stands at its top, above text of people and models."""
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
        return next((name for name, whose in self.records.items() if whose == debate_id), "")

    def write(self, name: str, debate: Debate) -> None:
        """Write a record whole or not at all.

        Raises:
            FileExistsError: Somebody else's file has the name, which was free before.
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
    return redact(adr(debate)).encode()


def is_kept(debate: Debate) -> bool:
    """Whether a record is begun for a debate as it stands; once begun it is always renewed."""
    return debate.decision is not None and debate.decision.kind is DecisionKind.ACCEPT


@dataclass(frozen=True, kw_only=True)
class RecordReceiver:
    """What `Receiver`s of decision records share."""

    records: RecordPlace

    @property
    def name(self) -> str:
        return self.records.name

    @property
    def failure_text(self) -> str:
        return "The decision record could not be put where your team keeps its records."

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        changes = isinstance(recorded.event, DecisionRecorded | OutcomeGiven)
        return changes and debate.acceptance is not None and self.records.serves(debate.setup.place)


@dataclass(frozen=True, kw_only=True)
class FolderReceiver(RecordReceiver):
    """A `Receiver` that keeps one file per accepted decision; nothing else is touched."""

    async def check(self) -> str:
        folder = self.records.folder
        if not os.access(f"{folder}/.", os.W_OK | os.X_OK):  # the dot: of no file
            raise LandingFailed(f"{folder} is no folder that Moot can write to.")
        return "can be written"

    async def deliver(self, landing: Landing) -> LandedRecord:
        try:
            place = await asyncio.to_thread(self._write, landing)
        except OSError as error:
            # Also where somebody else took the number meanwhile: the queue tries again.
            why = (error.strerror or type(error).__name__).lower()
            raise LandingFailed(f"{self.records.folder} cannot be written: {why}.") from None
        return LandedRecord(place=place, inside=self.records.folder)

    def _write(self, landing: Landing) -> str:
        debate, folder = landing.newest, RecordFolder.read(Path(self.records.folder))
        name = folder.name_of(debate.id)
        if not name and not is_kept(landing.debate):
            return ""
        name = name or record_name(next_number(folder.records), debate)
        folder.write(name, debate)
        return name
