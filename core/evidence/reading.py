"""Reads files in a process of their own, so that none blocks, crashes or fills this one."""

import asyncio
import hashlib
import json
import signal
import sys
import unicodedata
from asyncio.subprocess import Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.errors import BadInput
from core.figures import size
from core.models import Mark, SourceText
from core.redaction import clean, redact
from core.settings import EvidenceLimits

_PROCESS = Path(__file__).with_name("reading_process.py")
#: Files read at the same moment.
_AT_ONCE = 2


@dataclass(frozen=True)
class _Section:
    label: str
    text: str
    counts: str = ""


@dataclass(frozen=True)
class _Answer:
    fault: str = ""
    kind: str = ""
    sections: tuple[_Section, ...] = ()
    warnings: tuple[str, ...] = ()


_ANSWER = TypeAdapter(_Answer)


class FileReader:
    """Reads files, a few at a time."""

    def __init__(self, limits: EvidenceLimits) -> None:
        self._limits = limits
        self._gate = asyncio.Semaphore(_AT_ONCE)

    @property
    def most_bytes(self) -> int:
        """The size of the largest file that is read."""
        return self._limits.file_bytes

    async def read(self, content: bytes, name: str, media_type: str = "") -> SourceText:
        """The text of a file.

        Raises:
            BadInput: It cannot be read; says why, as the end of a sentence: "it is a picture".
        """
        limits = self._limits
        if len(content) > limits.file_bytes:
            most = size(limits.file_bytes)
            raise BadInput(f"it has {size(len(content))}, and the most is {most}")
        order = {
            "name": name,
            "media_type": media_type,
            "pages": limits.pages,
            "characters": limits.characters,
            "memory": limits.memory_bytes,
            "seconds": int(limits.seconds),
        }
        async with self._gate:
            answer = await self._ask(json.dumps(order).encode() + b"\n" + content)
        if answer.fault:
            raise BadInput(answer.fault)
        # Apart from the event loop, too: 400,000 characters take half a second to be redacted.
        return await asyncio.to_thread(
            joined,
            [(section.label, "", section.text, section.counts) for section in answer.sections],
            sha256=hashlib.sha256(content).hexdigest(),
            warnings=answer.warnings,
        )

    async def _ask(self, order: bytes) -> _Answer:
        process = await started(_PROCESS, "reads files")
        try:
            async with asyncio.timeout(2 * self._limits.seconds):
                written, _ = await process.communicate(order)
        except TimeoutError:
            return _Answer(fault="reading it takes too long")
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
            return _Answer(fault="reading it takes too long")
        try:
            return _ANSWER.validate_json(written)
        except ValidationError:
            return _Answer(fault="reading it takes too much memory, or it is damaged")


async def started(script: Path, does: str, descriptors: Sequence[int] = ()) -> Process:
    """Start a process of ours that meets content of others; no key of ours reaches it.

    Args:
        script: A module of this project, by its file.
        does: What the process is for: "reads files".
        descriptors: Open files that it gets.

    Raises:
        BadInput: It cannot be started.
    """
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(script),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=descriptors,
            env={"PYTHONPATH": str(script.parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except OSError as error:
        raise not_started(does, error) from None


def not_started(does: str, error: OSError) -> BadInput:
    """What to say where no memory, no process or no file is left for a process that does this."""
    why = error.strerror or "no reason given"
    return BadInput(f"Moot cannot start the process that {does} ({why})")


def joined(
    sections: list[tuple[str, str, str, str]],
    *,
    sha256: str = "",
    warnings: tuple[str, ...] = (),
) -> SourceText:
    """Sections as one text, with a mark where each labelled one begins.

    Args:
        sections: Label, address, text, and what its lines are called, of each.
        sha256: Of the bytes; empty: the text's own is taken.
        warnings: What people should know.
    """
    parts, marks, line = list[str](), list[Mark](), 1
    for label, address, text, counts in sections:
        # Section by section: what is left out moves no other section's place.
        kept = redact(clean(unicodedata.normalize("NFC", text)))
        if label or counts:
            marks.append(Mark(line=line, label=label, address=address, counts=counts))
        parts.append(kept)
        line += kept.count("\n") + 1
    whole = "\n".join(parts)
    return SourceText(
        text=whole,
        marks=tuple(marks),
        sha256=sha256 or hashlib.sha256(whole.encode()).hexdigest(),
        warnings=warnings,
    )
