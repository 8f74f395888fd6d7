"""Reads files in the sandbox; joins sections to the text of a source."""

import asyncio
import hashlib
import unicodedata

from pydantic import ValidationError

from core.debate.evidence import Mark, SourceText
from core.debate.people import Place
from core.errors import BadInput
from core.evidence.sandbox import Allowance, FairGate, SandboxEnded, run
from core.figures import size
from core.redaction import clean, redact
from core.settings import EvidenceLimits
from core.values import Value

#: Files read at the same moment.
_AT_ONCE = 2


class _Section(Value):
    label: str
    text: str
    counts: str = ""


class _Answer(Value):
    fault: str = ""
    sections: tuple[_Section, ...] = ()
    warnings: tuple[str, ...] = ()


class FileReader:
    """Reads files, a few at a time."""

    def __init__(self, limits: EvidenceLimits) -> None:
        self._limits = limits
        self.most_bytes = limits.file_bytes
        self._gate = FairGate(_AT_ONCE)

    async def read(
        self, content: bytes, name: str, media_type: str = "", place: Place | None = None
    ) -> SourceText:
        """The text of a file; channels of debates (`place`) take turns in the sandbox.

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
        }
        seconds = limits.seconds
        allowance = Allowance(memory=limits.memory_bytes, cpu=seconds, whole=seconds)
        async with self._gate.place(f"{place.workspace}/{place.channel}" if place else ""):
            try:
                output = await run("file", order, allowance, does="reads files", content=content)
                answer = _Answer.model_validate(output)
            except TimeoutError:
                raise BadInput("reading it takes too long") from None
            except (SandboxEnded, ValidationError):
                raise BadInput("reading it takes too much memory, or it is damaged") from None
        if answer.fault:
            raise BadInput(answer.fault)
        # In a thread: redacting 400,000 characters takes half a second.
        return await asyncio.to_thread(
            joined_sections,
            [(section.label, "", section.text, section.counts) for section in answer.sections],
            sha256=hashlib.sha256(content).hexdigest(),
            warnings=answer.warnings,
        )


def joined_sections(
    sections: list[tuple[str, str, str, str]],
    *,
    sha256: str = "",
    warnings: tuple[str, ...] = (),
) -> SourceText:
    """Sections as one text, with a mark where each labelled one begins.

    Args:
        sections: Of each its label, address, text, and the word that counts its lines.
        sha256: Of the bytes; empty: the text's own is taken.
        warnings: What people should know.
    """
    parts, marks, line = list[str](), list[Mark](), 1
    for label, address, text, counts in sections:
        # Section by section: removed text moves no other section's place.
        body = redact(clean(unicodedata.normalize("NFC", text)))
        if label or counts:
            marks.append(Mark(line=line, label=label, address=address, counts=counts))
        parts.append(body)
        line += body.count("\n") + 1
    whole = "\n".join(parts)
    return SourceText(
        text=whole,
        marks=tuple(marks),
        sha256=sha256 or hashlib.sha256(whole.encode()).hexdigest(),
        warnings=warnings,
    )
