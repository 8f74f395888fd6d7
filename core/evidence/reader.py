"""Reads what people gave as evidence, whatever it is: fetched by its kind, then read as a file."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Place
from core.errors import BadInput
from core.evidence.diffs import with_hunks
from core.evidence.reading import FileReader, joined_sections
from core.figures import size


@dataclass(frozen=True, kw_only=True)
class FetchedFile:
    content: bytes
    name: str
    #: As whoever served it says; empty: unknown.
    media_type: str = ""


class Fetch(Protocol):
    async def __call__(
        self, reference: SourceReference, place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        """The file behind a reference, or its text where it is no file.

        Raises:
            BadInput: It cannot be had; says why, as the end of a sentence.
        """
        ...


@dataclass(frozen=True)
class EvidenceReader:
    """The `SourceReader` of the core."""

    files: FileReader
    #: By kind; what has none cannot be read here.
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
    """Words that came with the question itself."""
    return joined_sections([("", "", reference.fetch, "")])


async def fetch_path(
    reference: SourceReference, _place: Place, most_bytes: int, /
) -> FetchedFile | SourceText:
    """A file of this machine. Only for surfaces whose person may read every file: the terminal."""
    path = Path(reference.fetch)

    def read() -> bytes:
        try:
            if not path.is_file():  # a pipe or a device might never end
                raise BadInput("there is no such file" if not path.exists() else "it is no file")
            if path.stat().st_size > most_bytes:
                there = size(path.stat().st_size)
                raise BadInput(f"it has {there}, and the most is {size(most_bytes)}")
            return path.read_bytes()
        except OSError as error:
            raise BadInput(f"it cannot be read: {(error.strerror or 'unknown').lower()}") from None

    return FetchedFile(content=await asyncio.to_thread(read), name=path.name)
