"""Calls tools of the MCP servers in the settings; their answers are sources.

A server is foreign code. The sandbox calls it (`tool_call`), within limits of memory, time and
size, so that it cannot block or crash this process.
"""

import asyncio
import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import cast

from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Person, Place
from core.errors import BadInput
from core.evidence.reading import FetchedFile, Section, joined_sections
from core.evidence.sandbox import Work, run
from core.figures import quantity
from core.proxies import proxy_of
from core.settings import EvidenceLimits, ToolServer, ToolSource

#: Whether the MCP SDK is installed.
CAN_ASK = find_spec("mcp") is not None
NOT_INSTALLED = (
    'what asks them is not installed: it is the extra "mcp" (`make extras` in a checkout; '
    "docs/deploy.md says how elsewhere)"
)
#: Concurrent calls of servers.
_AT_ONCE = 4
#: Seconds beyond the server's timeout, to load the SDK and to disconnect; seconds of CPU time.
_MARGIN, _CPU_MARGIN = 12.0, 5.0
_PLACEHOLDER = re.compile(r"\{(question|words)\}")
_MOST_WORDS, _LONG = 12, 4


_TOOLS = Work(
    name="tool",
    does="asks the server",
    too_long="the server does not answer in time",
    too_much="the server answers with more than can be taken",
)


def tool_references(
    servers: Sequence[ToolServer], question: str, place: Place, by: Person
) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(
            kind=SourceKind.TOOL,
            title=tool.title or f"{tool.name} of {server.name}",
            fetch=json.dumps({"server": server.name, "tool": tool.name, "question": question}),
            by=by,
        )
        for server in servers
        if server.serves(place)
        for tool in server.tools
    )


def fill_placeholders(value: object, question: str) -> object:
    """An argument with `{question}` replaced by the question, `{words}` by its longer words."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: fill_placeholders(item, question) for key, item in items}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [fill_placeholders(item, question) for item in cast("Sequence[object]", value)]
    if not isinstance(value, str):
        return value
    key_words = [
        word
        for word in re.findall(r"\w+(?:[-.]\w+)*", question)
        if len(word) >= _LONG or sum(sign.isupper() or sign.isdigit() for sign in word) > 1
    ]
    words = " ".join(dict.fromkeys(key_words[:_MOST_WORDS])) or question
    return _PLACEHOLDER.sub(lambda match: question if match[1] == "question" else words, value)


@dataclass(frozen=True)
class FetchTools:
    #: The servers and the largest answer.
    limits: EvidenceLimits
    #: Returns the secret in an environment variable; empty if it is not set.
    key_in: Callable[[str], str]
    #: Returns the environment of a program, with these variables added.
    environment: Callable[[Sequence[str]], Mapping[str, str]]
    _gate: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False
    )

    async def __call__(
        self, reference: SourceReference, place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        if not CAN_ASK:
            raise BadInput(f"MCP servers are listed, and {NOT_INSTALLED}")
        call = json.loads(reference.fetch)
        server, tool = self._listed_tool(call["server"], call["tool"], place)
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
            "arguments": fill_placeholders(tool.arguments, call["question"]),
            "is_vouched_for": tool.read_only,
            "seconds": server.seconds,
            "bytes": most_bytes,
        }
        async with self._gate:
            answer = await run(
                _TOOLS,
                order,
                memory=self.limits.memory_bytes,
                cpu=server.seconds + _CPU_MARGIN,
                seconds=server.seconds + _MARGIN,
            )
        parts, files = answer["parts"], [part for part in answer["parts"] if "file" in part]
        if len(files) == len(parts) == 1:
            # The whole answer is a file.
            try:
                content = base64.b64decode(files[0]["file"], validate=True)
            except ValueError:
                raise BadInput("the tool answers with a file that is damaged") from None
            return FetchedFile(
                content=content, name=files[0]["name"], media_type=files[0]["media_type"]
            )
        texts = [part["text"] for part in parts if part.get("text", "").strip()]
        if not texts:
            raise BadInput("the tool answers with no text")
        return self._read(texts, answer["left_out"] + len(files))

    def _listed_tool(
        self, server_name: str, tool_name: str, place: Place
    ) -> tuple[ToolServer, ToolSource]:
        for server in self.limits.mcp_servers:
            for tool in server.tools if server.serves(place) else ():
                if (server.name, tool.name) == (server_name, tool_name):
                    return server, tool
        raise BadInput("the settings do not list it for this channel")

    def _read(self, texts: Sequence[str], left_out: int) -> SourceText:
        most, sections, warnings = self.limits.characters, list[Section](), list[str]()
        for offset, text in enumerate(texts, start=1):
            label = f"part {offset}" if len(texts) > 1 else ""
            sections += [Section(label=label, text=text[:most])] if most > 0 else []
            most -= len(text)
        if most < 0:
            characters = quantity(self.limits.characters, "character")
            warnings.append(f"only the first {characters} were read")
        if left_out:
            warnings.append(f"{quantity(left_out, 'part')} without text left out")
        return joined_sections(sections, warnings=warnings)
