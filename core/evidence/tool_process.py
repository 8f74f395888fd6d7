"""The asking process: one tool of one MCP server is asked, with the official SDK, within limits.

Started by `core.evidence.tools` for each question. It has no settings and no database, and of our
keys only the one that its server is sent. Its input is a JSON object, its output is one. It may be
killed at any time.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

# The SDK takes a second to load: this process does, before the server's time begins.
if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult, Tool

#: Pages of a server's list of tools that are looked through.
_MOST_PAGES = 20
_MOST_PARTS = 200
_LONGEST_SAYING = 2000
_TOO_MUCH = "the server answers with more than can be taken"
#: Seconds of computing beyond the server's time: loading the SDK is in it.
_CPU_MARGIN = 5


class Refused(Exception):
    """There is no answer; the words are for people."""

    def __init__(self, fault: str, said: str = "") -> None:
        super().__init__(fault)
        #: In the server's own words.
        self.said = said


@dataclass
class Meter:
    """How much a server has sent, and may send."""

    most: int
    sent: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it is more than is taken."""
        return self.sent > self.most

    def count(self, size: int) -> None:
        """Count what came.

        Raises:
            EOFError: It is more than is taken.
        """
        self.sent += size
        if self.is_over:
            raise EOFError(_TOO_MUCH)


def main() -> None:
    """Ask as standard input says; write the answer to standard output."""
    order = json.loads(sys.stdin.buffer.read())
    for what, most in (
        (resource.RLIMIT_AS, int(order["memory"])),
        (resource.RLIMIT_CPU, int(order["seconds"]) + _CPU_MARGIN),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # some systems do not know all of them
            resource.setrlimit(what, (most, most))
    sys.stdout.write(json.dumps(asyncio.run(_answer(order))))
    sys.stdout.flush()
    # A thread may wait for ever for a server that reads nothing.
    os._exit(0)


async def _answer(order: dict[str, Any]) -> dict[str, Any]:
    from mcp import MCPError  # noqa: PLC0415
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415

    meter, seconds = Meter(int(order["bytes"])), float(order["seconds"])
    try:
        async with asyncio.timeout(seconds):
            return await _asked(order, meter)
    except BaseException as error:  # noqa: BLE001 - the SDK's task groups wrap whatever happens
        found = list(_leaves(error))
    kinds = {type(one).__name__ for one in found}
    for one in found:
        if isinstance(one, Refused):
            return {"fault": str(one), "said": one.said}
    # The SDK hides what its transport meets, so the meter knows better.
    if meter.is_over or "MemoryError" in kinds:
        return {"fault": _TOO_MUCH}
    for one in found:
        if isinstance(one, MCPError) and one.error.code == CONNECTION_CLOSED:
            return {"fault": "the server ended before it answered"}
        if isinstance(one, MCPError):
            return {"fault": "the server says", "said": one.error.message[:_LONGEST_SAYING]}
    if "TimeoutError" in kinds:
        return {"fault": f"the server does not answer in {seconds:g} s"}
    if kinds & {"ConnectError", "ConnectTimeout", "ReadError", "RemoteProtocolError"}:
        return {"fault": "the server cannot be reached"}
    return {"fault": "the server does not speak MCP as it should"}


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """What went wrong, without the groups around it."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _leaves(one)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error


async def _asked(order: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """The tool's answer, if it may be asked.

    Raises:
        Refused: It may not, or says that it failed. The SDK has many more ways to fail.
    """
    from mcp import Client  # noqa: PLC0415

    name = str(order["tool"])
    server = _web(order, meter) if order["url"] else _pipes(order, meter)
    # No callbacks: a server that wants to ask us, our models or our people is refused.
    async with Client(server, cache=None) as client:
        _check(await _tool(client, name), is_vouched_for=bool(order["is_vouched_for"]))
        return _parts(await client.call_tool(name, order["arguments"]))


async def _tool(client: "Client", name: str) -> "Tool":
    """The tool of that name, as the server describes it.

    Raises:
        Refused: There is none.
    """
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found = next((tool for tool in page.tools if tool.name == name), None)
        if found:
            return found
        cursor = page.next_cursor
        if not cursor:
            break
    raise Refused(f"the server has no tool called {name}")


def _check(tool: "Tool", *, is_vouched_for: bool) -> None:
    """Make sure that a tool only reads, as far as anybody says so.

    Raises:
        Refused: It may change something.
    """
    marks = tool.annotations
    reads = marks.read_only_hint if marks else None
    if reads is False or (reads is None and marks and marks.destructive_hint):
        raise Refused("the server says that the tool changes things, so it is not called")
    if reads is None and not is_vouched_for:
        raise Refused(
            "the server does not say that the tool only reads, and the settings do not vouch for it"
        )


def _parts(result: "CallToolResult") -> dict[str, Any]:
    """An answer as texts and files.

    Raises:
        Refused: The tool says that it failed.
    """
    from mcp_types import BlobResourceContents, EmbeddedResource, TextContent  # noqa: PLC0415

    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    if result.is_error:
        raise Refused("the tool says", " ".join(texts)[:_LONGEST_SAYING] or "it failed")
    parts, left_out = list[dict[str, str]](), max(0, len(result.content) - _MOST_PARTS)
    for block in result.content[:_MOST_PARTS]:
        match block:
            case TextContent(text=text):
                parts.append({"text": text})
            case EmbeddedResource(resource=BlobResourceContents() as held):
                name = str(held.uri).rpartition("/")[2]
                kind = held.mime_type or ""
                parts.append({"file": held.blob, "media_type": kind, "name": name})
            case EmbeddedResource(resource=held):
                parts.append({"text": getattr(held, "text", "")})
            case _:
                left_out += 1
    if not parts and result.structured_content is not None:
        whole = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
        parts.append({"text": whole})
    return {"parts": parts, "left_out": left_out}


@asynccontextmanager
async def _pipes(order: dict[str, Any], meter: Meter) -> "AsyncGenerator[TransportStreams]":
    """A server's program at the other end of two pipes: a message a line.

    The SDK's own transport starts the program itself and takes lines of any length; here the
    program is started, and ended, by who started this process.
    """
    import anyio  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=meter.most)
    out = os.fdopen(int(order["writes"]), "wb", 0)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(int(order["reads"]), "rb", 0)
    )
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)

    def message_in(line: bytes) -> SessionMessage | Exception:
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            return error

    async def hear() -> None:
        async with heard:
            with contextlib.suppress(EOFError, ValueError, OSError, anyio.BrokenResourceError):
                while line := await _line(reader, meter):
                    await heard.send(message_in(line))

    async def say() -> None:
        async with said:
            async for one in said:
                line = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                # A server that reads nothing fills the pipe: a thread waits for it.
                await asyncio.to_thread(out.write, line.encode() + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        tasks.start_soon(say)
        try:
            yield incoming, outgoing
        finally:
            tasks.cancel_scope.cancel()


async def _line(reader: asyncio.StreamReader, meter: Meter) -> bytes:
    try:
        line = await reader.readline()
    except ValueError:  # longer than is taken
        meter.count(meter.most + 1)
        raise
    meter.count(len(line))
    return line


@asynccontextmanager
async def _web(order: dict[str, Any], meter: Meter) -> "AsyncGenerator[TransportStreams]":
    """A server at an address, which is the only one that is called."""
    import httpx2  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    class Metered(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._inner:
                meter.count(len(chunk))
                yield chunk

        async def aclose(self) -> None:
            await self._inner.aclose()

    class MeteredTransport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = await super().handle_async_request(request)
            if isinstance(answer.stream, httpx2.AsyncByteStream):
                answer.stream = Metered(answer.stream)
            return answer

    # Not compressed: what is counted is what is kept.
    headers = {"Accept-Encoding": "identity"}
    if order["key"]:
        headers["Authorization"] = f"Bearer {order['key']}"
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=float(order["seconds"]),
            transport=MeteredTransport(trust_env=False),
            trust_env=False,
        ) as client,
        streamable_http_client(
            str(order["url"]), http_client=client, max_sse_event_size=meter.most
        ) as streams,
    ):
        yield streams


if __name__ == "__main__":
    main()
