"""Asks tools of MCP servers that an administrator listed; what they answer is a source.

A server is somebody else's program. The sandbox speaks with it (`tool_call`), within limits of
memory, time and size, so that none can block, crash or fill this process.
"""

import asyncio
import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import cast

from pydantic import ValidationError

from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Person, Place
from core.errors import BadInput
from core.evidence.reading import FetchedFile, joined_sections
from core.evidence.sandbox import Allowance, SandboxEnded, run
from core.figures import duration, quantity
from core.llm.quoting import clean
from core.proxies import proxy_of
from core.redaction import redact
from core.settings import EvidenceLimits, ToolServer, ToolSource
from core.values import Value

#: Whether the SDK is there that asks servers.
CAN_ASK = find_spec("mcp") is not None
NOT_INSTALLED = (
    'what asks them is not installed: it is the extra "mcp" (`make extras` in a checkout; '
    "docs/deploy.md says how elsewhere)"
)
#: Servers asked at the same moment.
_AT_ONCE = 4
#: Seconds beyond the server's time: to load the SDK and to say goodbye; of computing.
_MARGIN, _CPU_MARGIN = 12.0, 5.0
_LONGEST_SAYING = 200
_PLACEHOLDER = re.compile(r"\{(question|words)\}")
_MOST_WORDS, _LONG = 12, 4


class _ToolReference(Value):
    server: str
    tool: str
    question: str


class _Part(Value):
    text: str = ""
    file: str = ""
    media_type: str = ""
    name: str = ""


class _ToolAnswer(Value):
    #: Why there is no answer, in words that may come after "I could not read it: ".
    fault: str = ""
    #: What the server itself says went wrong.
    said: str = ""
    parts: tuple[_Part, ...] = ()
    #: Parts that are no text.
    left_out: int = 0


def tool_references(
    servers: Sequence[ToolServer], question: str, place: Place, by: Person
) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(
            kind=SourceKind.TOOL,
            title=tool.title or f"{tool.name} of {server.name}",
            fetch=_ToolReference(
                server=server.name, tool=tool.name, question=question
            ).model_dump_json(),
            by=by,
        )
        for server in servers
        if server.serves(place)
        for tool in server.tools
    )


def fill_placeholders(value: object, question: str) -> object:
    """An argument with the question in place of `{question}` and its longer words of `{words}`."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: fill_placeholders(item, question) for key, item in items}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [fill_placeholders(item, question) for item in cast("Sequence[object]", value)]
    if not isinstance(value, str):
        return value
    telling = [
        word
        for word in re.findall(r"\w+(?:[-.]\w+)*", question)
        if len(word) >= _LONG or sum(sign.isupper() or sign.isdigit() for sign in word) > 1
    ]
    words = " ".join(dict.fromkeys(telling[:_MOST_WORDS])) or question
    return _PLACEHOLDER.sub(lambda at: question if at[1] == "question" else words, value)


@dataclass(frozen=True)
class FetchTools:
    #: The servers, and how much an answer may have.
    limits: EvidenceLimits
    #: The secret in a variable; empty if it is not set.
    key_in: Callable[[str], str]
    #: What a program is given, with these variables besides.
    environment: Callable[[Sequence[str]], Mapping[str, str]]
    _gate: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False
    )

    async def __call__(
        self, reference: SourceReference, place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        if not CAN_ASK:
            raise BadInput(f"MCP servers are listed, and {NOT_INSTALLED}")
        try:
            called = _ToolReference.model_validate_json(reference.fetch)
        except ValidationError:
            raise BadInput("it names no tool") from None
        server, tool = self._listed_tool(called, place)
        key = self.key_in(server.key_variable) if server.key_variable else ""
        if server.key_variable and not key:
            raise BadInput(f"{server.key_variable} is not set")
        order = {
            "command": list(server.command),
            "environment": dict(self.environment(server.variables if server.command else ())),
            "url": server.url,
            "proxy": proxy_of(server.url),
            "key": key,
            "tool": tool.name,
            "arguments": fill_placeholders(tool.arguments, called.question),
            "is_vouched_for": tool.read_only,
            "seconds": server.seconds,
            "bytes": most_bytes,
        }
        async with self._gate:
            answer = await self._ask(server, order)
        if answer.said:
            raise BadInput(f"{answer.fault}: “{_one_line(answer.said)}”")
        if answer.fault:
            raise BadInput(answer.fault)
        files = [part for part in answer.parts if part.file]
        if len(files) == len(answer.parts) == 1:
            # A file that is the whole answer.
            part = files[0]
            try:
                content = base64.b64decode(part.file, validate=True)
            except (binascii.Error, ValueError):
                raise BadInput("the tool answers with a file that is damaged") from None
            return FetchedFile(content=content, name=part.name, media_type=part.media_type)
        texts = [part.text for part in answer.parts if part.text.strip()]
        if not texts:
            raise BadInput("the tool answers with no text")
        return self._read(texts, answer.left_out + len(files))

    def _listed_tool(self, called: _ToolReference, place: Place) -> tuple[ToolServer, ToolSource]:
        for server in self.limits.mcp_servers:
            for tool in server.tools if server.serves(place) else ():
                if (server.name, tool.name) == (called.server, called.tool):
                    return server, tool
        raise BadInput("the settings do not list it for this channel")

    def _read(self, texts: Sequence[str], left_out: int) -> SourceText:
        most, warnings = self.limits.characters, list[str]()
        if sum(map(len, texts)) > most:
            warnings.append(f"only the first {quantity(most, 'character')} were read")
        if left_out:
            warnings.append(f"{quantity(left_out, 'part')} without text left out")
        sections = list[tuple[str, str, str, str]]()
        for at, text in enumerate(texts, start=1):
            label = f"part {at}" if len(texts) > 1 else ""
            sections.append((label, "", text[:most], ""))
            most = max(0, most - len(text))
        return joined_sections(
            [section for section in sections if section[2]], warnings=tuple(warnings)
        )

    async def _ask(self, server: ToolServer, order: Mapping[str, object]) -> _ToolAnswer:
        allowance = Allowance(
            memory=self.limits.memory_bytes,
            cpu=server.seconds + _CPU_MARGIN,
            whole=server.seconds + _MARGIN,
        )
        try:
            return _ToolAnswer.model_validate(
                await run("tool", order, allowance, does="asks the server")
            )
        except TimeoutError:
            return _ToolAnswer(fault=f"the server does not answer in {duration(server.seconds)}")
        except (SandboxEnded, ValidationError):
            return _ToolAnswer(fault="the server answers with more than can be taken")


def _one_line(text: str) -> str:
    """What a server says went wrong, short and without anything nobody sees."""
    line = " ".join(redact(clean(unicodedata.normalize("NFC", text[:2000]))).split())
    return line if len(line) <= _LONGEST_SAYING else f"{line[: _LONGEST_SAYING - 1].rstrip()}…"
