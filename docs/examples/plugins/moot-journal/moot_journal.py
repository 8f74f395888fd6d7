"""A sink for Moot: a line in a file for each debate that begins, ends or is decided."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import RecordedEvent
from core.debate.people_events import DecisionRecorded
from core.debate.state import Debate
from core.debate.turn import Turn
from core.errors import ConfigurationBroken
from core.ports import Variable

_WRITTEN = (DebateStarted, DebateConcluded, DebateFailed, DecisionRecorded)


class Journal:
    def __init__(self, file: Path) -> None:
        self._file = file

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        if isinstance(recorded.event, _WRITTEN):
            kind = type(recorded.event).__name__
            line = json.dumps({"debate": debate.id, "seq": recorded.seq, "event": kind})
            await asyncio.to_thread(self._append, line)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        pass

    def _append(self, line: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def listen(variable: Variable) -> Journal:
    if not (file := variable("MOOT_PLUGIN_JOURNAL_FILE")):
        raise ConfigurationBroken("it needs MOOT_PLUGIN_JOURNAL_FILE")
    return Journal(Path(file))
