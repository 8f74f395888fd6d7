"""Calls one tool of an MCP server with the official SDK; runs in the sandbox.

It has no settings, no database and only the keys for its server.
"""

import asyncio
import json
import logging
import shutil
import signal
import ssl
import sys
import unicodedata
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from core.redaction import clean, redact

# The SDK takes a second to load; this is done before the server's timeout begins.
if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage
    from mcp_types import CallToolResult, Tool

#: Most pages of a server's list of tools.
_MOST_PAGES = 20
_MOST_PARTS = 200
_LONGEST_SAYING = 200
_TOO_MUCH = "the server answers with more than can be taken"
#: The size, in characters, that an invalid message counts as.
_NOISE = 1000
#: Starts a server's program. On Linux (PR_SET_PDEATHSIG) the program ends with this process.
_LAUNCH = """
import ctypes, os, sys
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl: prctl(1, 9)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Refused(Exception):
    """There is no answer; the message is the end of a sentence for people."""


def answer(order: dict[str, Any], _content: bytes, limit: Callable[[], None]) -> dict[str, Any]:
    """The answer of a tool; runs in the sandbox.

    Args:
        order: The server (`command`, or `url` with `key` and `proxy`), the `environment` of a
            program, which also names certificates, the `tool` and its `arguments`, whether somebody
            vouches for it, `seconds` and `bytes` that it may take.
        limit: Bounds this process; not the server's program, which is somebody else's.
    """
    logging.disable()  # the SDK logs each invalid line
    return asyncio.run(_answer(order, limit))


async def _answer(order: dict[str, Any], limit: Callable[[], None]) -> dict[str, Any]:
    from mcp import MCPError  # noqa: PLC0415
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415

    asking = asyncio.current_task()
    if asking:  # the SDK ends the program it has started
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asking.cancel)
    seconds = float(order["seconds"])
    try:
        async with asyncio.timeout(seconds):
            return await _tool_answer(order, limit)
    except BaseException as error:  # noqa: BLE001 - the SDK's task groups wrap whatever happens
        leaves = list(_leaves(error))
    kinds = (Refused, MemoryError, MCPError)
    match next((leaf for kind in kinds for leaf in leaves if isinstance(leaf, kind)), None):
        case Refused() as refused:
            return {"fault": str(refused)}
        case MemoryError():
            return {"fault": _TOO_MUCH}
        case MCPError() as error if error.error.code == CONNECTION_CLOSED:
            return {"fault": "the server ended before it answered"}
        case MCPError() as error:
            return {"fault": _error_sentence("the server says", error.error.message)}
        case _:
            names = {type(leaf).__name__ for leaf in leaves}
    if names & {"TimeoutError", "CancelledError"}:
        return {"fault": f"the server does not answer in {seconds:g} s"}
    if names & {"ConnectError", "ConnectTimeout", "ReadError", "RemoteProtocolError"}:
        return {"fault": "the server cannot be reached"}
    return {"fault": "the server does not speak MCP as it should"}


def _error_sentence(what: str, words: str) -> str:
    """A server's error message, shortened, without secrets and invisible characters."""
    line = " ".join(redact(clean(unicodedata.normalize("NFC", words[:2000]))).split())
    # Not cut at words: JSON and Chinese have no spaces.
    cut = line if len(line) <= _LONGEST_SAYING else f"{line[: _LONGEST_SAYING - 1].rstrip()}…"
    return f"{what}: “{cut}”"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _leaves(inner)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error


async def _tool_answer(order: dict[str, Any], limit: Callable[[], None]) -> dict[str, Any]:
    """The answer of the tool, if it may be called. Also raises errors of the SDK."""
    from mcp import Client  # noqa: PLC0415

    name = str(order["tool"])
    transport = _web(order) if order["url"] else _program(order)
    # No callbacks: requests of the server to us, our models or people are refused.
    async with Client(
        _bounded_transport(transport, int(order["bytes"]), limit), cache=None
    ) as client:
        tool, cursor = None, None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tool = next((tool for tool in page.tools if tool.name == name), None)
            cursor = page.next_cursor
            if tool or not cursor:
                break
        if tool is None:
            raise Refused(f"the server has no tool called {name}")
        _check(tool, is_vouched_for=bool(order["is_vouched_for"]))
        return _parts(await client.call_tool(name, order["arguments"]))


def _check(tool: "Tool", *, is_vouched_for: bool) -> None:
    marks = tool.annotations
    reads = marks.read_only_hint if marks else None
    if reads is False or (reads is None and marks and marks.destructive_hint):
        raise Refused("the server says that the tool changes things, so it is not called")
    if reads is None and not is_vouched_for:
        raise Refused(
            "the server does not say that the tool only reads, and the settings do not vouch for it"
        )


def _parts(result: "CallToolResult") -> dict[str, Any]:
    from mcp_types import BlobResourceContents, EmbeddedResource, TextContent  # noqa: PLC0415

    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    if result.is_error:
        raise Refused(_error_sentence("the tool says", " ".join(texts) or "it failed"))
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
async def _bounded_transport(
    transport: "AbstractAsyncContextManager[TransportStreams]",
    most: int,
    limit: Callable[[], None],
) -> "AsyncGenerator[TransportStreams]":
    """A transport of the SDK that fails after so many characters of messages."""
    import anyio  # noqa: PLC0415

    sender, messages = anyio.create_memory_object_stream["SessionMessage | Exception"]()

    async def pass_on(incoming: "ReadStream[SessionMessage | Exception]") -> None:
        remaining = most
        async with sender:
            async for message in incoming:
                is_noise = isinstance(message, Exception)
                remaining -= _NOISE if is_noise else len(message.message.model_dump_json())
                if remaining < 0:
                    raise Refused(_TOO_MUCH)
                with suppress(anyio.BrokenResourceError):  # the client has ended
                    await sender.send(message)

    async with transport as (incoming, outgoing), anyio.create_task_group() as passing:
        limit()  # the program runs, and nothing was read
        passing.start_soon(pass_on, incoming)
        yield messages, outgoing
        passing.cancel_scope.cancel()


def _program(order: dict[str, Any]) -> "AbstractAsyncContextManager[TransportStreams]":
    from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415

    command, environment = [str(word) for word in order["command"]], dict(order["environment"])
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise Refused(f"the program {command[0]} cannot be started")
    launch = [*("-I", "-S", "-c", _LAUNCH), *command]
    parameters = StdioServerParameters(command=sys.executable, args=launch, env=environment)
    return stdio_client(parameters)


@asynccontextmanager
async def _web(order: dict[str, Any]) -> "AsyncGenerator[TransportStreams]":
    """The transport of a server at an address; no other address is called."""
    import httpx2  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    headers = {"Authorization": f"Bearer {order['key']}"} if order["key"] else {}
    environment = order["environment"]
    certificates = (environment.get("SSL_CERT_FILE"), environment.get("SSL_CERT_DIR"))
    verify = (
        ssl.create_default_context(cafile=certificates[0], capath=certificates[1])
        if any(certificates)
        else True
    )
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=float(order["seconds"]),
            trust_env=False,
            verify=verify,
            proxy=order["proxy"] or None,
        ) as client,
        streamable_http_client(
            str(order["url"]), http_client=client, max_sse_event_size=int(order["bytes"])
        ) as streams,
    ):
        yield streams
