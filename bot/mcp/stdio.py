"""`moot mcp`: serves one person's editor over standard input and output."""

import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from bot.building import build_calls, build_embedder, build_tools, find_plugins, load_settings
from bot.log import logger, set_up_logs
from bot.mcp.server import build_server
from bot.mcp.this_machine import ThisMachine
from bot.settings import BotSettings
from bot.terminal.debating import current_user
from core.clock import SystemClock

#: The id of a request whose line cannot be parsed.
_ID = re.compile(r'"id"\s{0,20}:\s{0,20}(?:(\d{1,15})|"([^"\\]{1,200})")')
#: Characters of a line in which its id is looked for.
_LOOKED_AT = 2000
#: An escaped backslash, a whole pair of UTF-16, and half of one, which no text can hold.
_ESCAPED = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_BATCH = "Batches are no part of this protocol: send one request a line."
_NO_MESSAGE = "This line is no JSON-RPC message."


@asynccontextmanager
async def mended_lines(incoming: Any, outgoing: Any) -> AsyncGenerator[Any]:
    """Yield the messages of a client; a line that is none is mended, or refused on `outgoing`."""
    taking, mended = anyio.create_memory_object_stream[SessionMessage](0)

    async def hand_on() -> None:
        with suppress(anyio.BrokenResourceError), taking:  # the server has ended
            async for item in incoming:
                message = read_line(item) if isinstance(item, Exception) else item
                if isinstance(message, SessionMessage):
                    await taking.send(message)
                else:
                    await outgoing.send(SessionMessage(message))

    async with anyio.create_task_group() as group:
        group.start_soon(hand_on)
        yield mended
        group.cancel_scope.cancel()


def read_line(fault: Exception) -> SessionMessage | JSONRPCError:
    """The message of a line that the SDK could not read, or the error to answer with."""
    raw = fault.errors()[0]["input"] if isinstance(fault, ValidationError) else ""
    if isinstance(raw, list):
        return _error(None, INVALID_REQUEST, _BATCH)
    line = raw if isinstance(raw, str) else ""
    mended = _ESCAPED.sub(
        lambda match: r"\ufffd" if match["half"] else match[0], line.lstrip("\ufeff")
    )
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except ValidationError:
        match = _ID.search(line[:_LOOKED_AT])
        number = int(match[1]) if match and match[1] else match[2] if match else None
        return _error(number, PARSE_ERROR, _NO_MESSAGE)


def _error(number: int | str | None, code: int, words: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=words))


_log = logger(__name__)


async def serve(environment: BotSettings, config: Path | None) -> None:
    """Serve until standard input ends. Nothing but the protocol goes to standard output.

    Args:
        environment: Read without the working folder's `.env`: an editor starts the server in the
            folder of whatever project is open, and a stranger's project could send our keys to an
            address of its own.
        config: A configuration file; None: the one the environment names, if it names one.

    Raises:
        ConfigurationBroken: Settings or database cannot be used.
        StoreDown: The database cannot be opened.
    """
    # Every step is on disk, so there is nothing to wind up; and the thread that reads standard
    # input would hold up an orderly end until the client writes again.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_up_logs(environment.moot_log_level, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, config, clarify=True, plugins=plugins)
    for notice in loaded.notices:
        _log.warning("settings", notice=notice)
    calls = build_calls(environment, loaded.settings, plugins=plugins)
    embedder = build_embedder(environment)
    machine = ThisMachine(
        environment,
        loaded.settings,
        calls=calls,
        tools=build_tools(loaded.settings, environment),
        embedder=embedder,
        person=current_user(),
        clock=SystemClock(),
        folder=Path.cwd(),
    )
    server = build_server(lambda _request: machine)
    try:
        async with (
            machine.open(),
            stdio_server() as (incoming, outgoing),
            mended_lines(incoming, outgoing) as lines,
        ):
            await server.run(lines, outgoing, server.create_initialization_options())
    finally:
        await calls.close()
        if embedder:
            await embedder.close()
