"""Records (ADR) of accepted decisions in a folder of this machine."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from bot.landing.receivers import Landed, Landing, NotLanded
from bot.landing.record_files import (
    RECORD_UNDONE,
    RecordFolder,
    is_kept,
    next_number,
    record_name,
    wants_record,
)
from core.events import Recorded
from core.landing import RecordPlace
from core.models import Debate

#: Others may number records in the same folder at the same time.
_TRIES = 5


@dataclass(frozen=True)
class FolderReceiver:
    """A `Receiver` that keeps one file per accepted decision; nothing else is touched."""

    records: RecordPlace

    @property
    def name(self) -> str:
        """As the settings have it."""
        return self.records.name

    @property
    def undone(self) -> str:
        """The thread is told where the record is, or that it is nowhere."""
        return RECORD_UNDONE

    def wants(self, debate: Debate, recorded: Recorded) -> bool:
        """Whether the event changes the record of an accepted decision held in its channels."""
        return self.records.serves(debate.setup.place) and wants_record(debate, recorded)

    async def check(self) -> str:
        """Look whether the folder can be written.

        Raises:
            NotLanded: It cannot.
        """
        folder = self.records.folder
        if not os.access(f"{folder}/.", os.W_OK | os.X_OK):  # the dot: of no file
            raise NotLanded(f"{folder} is no folder that Moot can write to.")
        return "can be written"

    async def deliver(self, landing: Landing) -> Landed:
        """Write the record, or renew it; writing it again changes nothing.

        Raises:
            NotLanded: It cannot be written.
        """
        begins = is_kept(landing.debate)
        try:
            place = await asyncio.to_thread(self._write, landing.newest, begins=begins)
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
            raise NotLanded(f"{self.records.folder} cannot be written: {why}.") from None
        return Landed(place=place, inside=self.records.folder)

    def _write(self, debate: Debate, *, begins: bool) -> str:
        """Bring the record up to date; the name of its file, empty if it has none."""
        for tries_left in reversed(range(_TRIES)):
            found = RecordFolder.read(Path(self.records.folder))
            name = found.name_of(debate.id)
            if not name and not begins:
                return ""
            name = name or record_name(next_number(found.records), debate)
            try:
                if not found.is_renewed(name, debate):
                    found.write(name, debate)
            except FileExistsError:
                if not tries_left:
                    raise
                continue
            return name
        return ""
