"""Reads evidence: fetches a reference by its kind, then reads the file in the sandbox."""

import asyncio
import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.debate.evidence import Mark, SourceKind, SourceReference, SourceText
from core.debate.people import Place
from core.errors import BadInput
from core.evidence.diffs import with_hunks
from core.evidence.sandbox import FairGate, Work, run
from core.figures import size
from core.redaction import clean, redact
from core.settings import EvidenceLimits

#: Concurrent reads of files.
_AT_ONCE = 2


_FILES = Work(
    name="file",
    does="reads files",
    too_long="reading it takes too long",
    too_much="reading it takes too much memory, or it is damaged",
)


@dataclass(frozen=True, kw_only=True)
class Section:
    text: str
    #: "page 3"; empty: no mark, if no word counts its lines either.
    label: str = ""
    address: str = ""
    counts: str = ""


class FileReader:
    def __init__(self, limits: EvidenceLimits) -> None:
        self._limits = limits
        self.most_bytes = limits.file_bytes
        self._gate = FairGate(_AT_ONCE)

    async def read(
        self, content: bytes, name: str, media_type: str = "", place: Place | None = None
    ) -> SourceText:
        """The text of a file; channels (`place`) take turns in the sandbox.

        Raises:
            BadInput: It cannot be read; the message ends a sentence: "it is a picture".
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
        }
        async with self._gate.place(f"{place.workspace}/{place.channel}" if place else ""):
            answer = await run(
                _FILES,
                order,
                content,
                memory=limits.memory_bytes,
                cpu=limits.seconds,
                seconds=limits.seconds,
            )
        # In a thread: redacting 400,000 characters takes half a second.
        return await asyncio.to_thread(
            joined_sections,
            [Section(**section) for section in answer["sections"]],
            sha256=hashlib.sha256(content).hexdigest(),
            warnings=answer["warnings"],
        )


def joined_sections(
    sections: Iterable[Section], *, sha256: str = "", warnings: Sequence[str] = ()
) -> SourceText:
    """Join sections to a text, with a mark at the beginning of each labelled one.

    `sha256` is the hash of the file's bytes; empty: the hash of the text.
    """
    parts, marks, line = list[str](), list[Mark](), 1
    for section in sections:
        # For each section alone, so that removed text does not change the places of others.
        body = redact(clean(unicodedata.normalize("NFC", section.text)))
        if section.label or section.counts:
            label, address, counts = section.label, section.address, section.counts
            marks.append(Mark(line=line, label=label, address=address, counts=counts))
        parts.append(body)
        line += body.count("\n") + 1
    full_text = "\n".join(parts)
    return SourceText(
        text=full_text,
        marks=tuple(marks),
        sha256=sha256 or hashlib.sha256(full_text.encode()).hexdigest(),
        warnings=tuple(redact(clean(warning)) for warning in warnings),
    )


@dataclass(frozen=True, kw_only=True)
class FetchedFile:
    content: bytes
    name: str
    #: As the server reports it; empty: unknown.
    media_type: str = ""


class Fetch(Protocol):
    async def __call__(
        self, reference: SourceReference, place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        """The file of a reference, or its text if it is no file.

        Raises:
            BadInput: It cannot be fetched; the message is the end of a sentence.
        """
        ...


@dataclass(frozen=True)
class EvidenceReader:
    files: FileReader
    #: By kind; other kinds cannot be read.
    fetchers: Mapping[SourceKind, Fetch]

    async def read(self, reference: SourceReference, place: Place) -> SourceText:
        fetch = self.fetchers.get(reference.kind)
        if fetch is None:
            raise BadInput(f"no {reference.kind.value}s are read here")
        result = await fetch(reference, place, self.files.most_bytes)
        if not isinstance(result, SourceText):
            result = await self.files.read(result.content, result.name, result.media_type, place)
        return with_hunks(result)


async def fetch_text(
    reference: SourceReference, _place: Place, _most_bytes: int, /
) -> FetchedFile | SourceText:
    """The text of the reference itself."""
    return joined_sections([Section(text=reference.fetch)])


async def fetch_path(
    reference: SourceReference, _place: Place, most_bytes: int, /
) -> FetchedFile | SourceText:
    """A file of this machine; only for the terminal, whose person may read all files anyway."""
    path = Path(reference.fetch)

    def read() -> bytes:
        try:
            if not path.is_file():  # a pipe or a device may never end
                raise BadInput("there is no such file" if not path.exists() else "it is no file")
            if path.stat().st_size > most_bytes:
                file_size = size(path.stat().st_size)
                raise BadInput(f"it has {file_size}, and the most is {size(most_bytes)}")
            return path.read_bytes()
        except OSError as error:
            raise BadInput(f"it cannot be read: {(error.strerror or 'unknown').lower()}") from None

    return FetchedFile(content=await asyncio.to_thread(read), name=path.name)
