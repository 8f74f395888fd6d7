"""What every process of the bot begins and ends with: settings, logs, and signals to stop."""

import asyncio
import signal

import structlog

from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings


def start_up(*, quiet: bool = False, worker: int | None = None) -> BotSettings:
    """Read the environment and set the logs up.

    Args:
        quiet: Warnings only, whatever the environment says.
        worker: Which of several workers this is: every log line says so. None: there is one.

    Raises:
        ConfigurationBroken: A variable cannot be used.
    """
    settings = read_settings()
    level = LogLevel.WARNING if quiet else settings.moot_log_level
    set_up_logs(level, settings.moot_log_format, settings.secrets)
    if worker is not None:
        structlog.contextvars.bind_contextvars(worker=worker)
    return settings


def stop_signal(*, again_ends: bool = True) -> asyncio.Event:
    """Return what Ctrl-C and SIGTERM set.

    Args:
        again_ends: Whether a second one ends the program at once. Workers are told to stop by
            whoever stops all processes of a service, and by their supervisor, which also ends
            those that take too long.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopped.set()
        if again_ends:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return stopped
