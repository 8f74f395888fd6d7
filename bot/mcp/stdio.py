"""`moot mcp`: serves one person's editor over standard input and output."""

import signal
from pathlib import Path

from mcp.server.stdio import stdio_server

from bot.building import build_calls, build_embedder, build_tools, find_plugins, load_settings
from bot.log import logger, set_up_logs
from bot.mcp.server import build_server
from bot.mcp.this_machine import ThisMachine
from bot.settings import BotSettings
from bot.terminal.debating import current_user
from core.clock import SystemClock

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
        async with machine.open(), stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await calls.close()
        if embedder:
            await embedder.close()
