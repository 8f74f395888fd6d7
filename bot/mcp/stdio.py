"""`moot mcp`: serves one person's editor over standard input and output."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from bot.building import build_calls, build_embedder, build_tools, find_plugins, load_settings
from bot.log import logger, set_up_logs
from bot.mcp.this_machine import ThisMachine
from bot.mcp.tools import build_server
from bot.settings import BotSettings
from bot.terminal.debating import current_user
from core.clock import SystemClock

_log = logger(__name__)


@asynccontextmanager
async def readable_messages(incoming: Any, outgoing: Any) -> AsyncGenerator[Any]:
    """The messages of a client; the SDK drops a line it cannot read, and the client waits.

    Such a line is read leniently, or an error on `outgoing` says that it is no message.
    """
    sending, messages = anyio.create_memory_object_stream[SessionMessage](0)

    async def hand_on() -> None:
        with suppress(anyio.BrokenResourceError), sending:  # the server has ended
            async for item in incoming:
                message = read_line(item) if isinstance(item, Exception) else item
                if isinstance(message, SessionMessage):
                    await sending.send(message)
                elif message:
                    await outgoing.send(SessionMessage(message))

    async with anyio.create_task_group() as group:
        group.start_soon(hand_on)
        yield messages
        group.cancel_scope.cancel()


def read_line(fault: Exception) -> SessionMessage | JSONRPCError | None:
    """Read a line without its byte order mark, `?` for half a surrogate pair; None: it is blank."""
    first = fault.errors()[0] if isinstance(fault, ValidationError) else None
    if first and first["type"] == "json_invalid":
        line = str(first["input"]).strip("\ufeff \r\n")
        if not line:
            return None
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    words = "This line is no JSON-RPC message; nor is a batch."
    error = ErrorData(code=PARSE_ERROR, message=words)
    return JSONRPCError(jsonrpc="2.0", id=None, error=error)


async def serve(environment: BotSettings, config: Path | None) -> None:
    """Serve until standard input ends. Nothing but the protocol goes to standard output.

    `environment` is read without the working folder's `.env`: an editor starts the server in the
    folder of whatever project is open, and a stranger's project could send our keys to an address
    of its own.
    """
    set_up_logs(environment.moot_log_level, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, config, clarify=True, plugins=plugins)
    for notice in loaded.notices:
        _log.warning("settings", notice=notice)
    calls = build_calls(environment, loaded.settings, plugins=plugins)
    embedder = build_embedder(environment)
    machine = ThisMachine(
        environment=environment,
        settings=loaded.settings,
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
            readable_messages(incoming, outgoing) as messages,
        ):
            await server.run(messages, outgoing, server.create_initialization_options())
    finally:
        await calls.close()
        if embedder:
            await embedder.close()
