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
    """The messages of a client, with its unreadable lines handled.

    The SDK drops such lines, and the client waits for an answer. Here they are read leniently, or
    answered with an error on `outgoing`.
    """
    sending, messages = anyio.create_memory_object_stream[SessionMessage](0)

    async def forward() -> None:
        with suppress(anyio.BrokenResourceError), sending:  # the server has ended
            async for item in incoming:
                message = read_line(item) if isinstance(item, Exception) else item
                if isinstance(message, SessionMessage):
                    await sending.send(message)
                elif message:
                    await outgoing.send(SessionMessage(message))

    async with anyio.create_task_group() as group:
        group.start_soon(forward)
        yield messages
        group.cancel_scope.cancel()


def read_line(fault: Exception) -> SessionMessage | JSONRPCError | None:
    """Parse a line leniently; None if it is blank.

    Ignores a byte order mark, and replaces lone surrogates by `?`.
    """
    first = fault.errors()[0] if isinstance(fault, ValidationError) else None
    if first and first["type"] == "json_invalid":
        line = str(first["input"]).strip("\ufeff \r\n")
        if not line:
            return None
        with suppress(ValueError, RecursionError):
            data = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
            return SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False))
    text = "This line is not a JSON-RPC message. Batches are not supported."
    error = ErrorData(code=PARSE_ERROR, message=text)
    return JSONRPCError(jsonrpc="2.0", id=None, error=error)


async def serve(environment: BotSettings, config: Path | None) -> None:
    """Serve until standard input ends. Only protocol messages go to standard output.

    `environment` must be read without the working folder's `.env`: editors start the server in the
    folder of the open project, and the `.env` of a malicious project could send keys to its own
    server.
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
