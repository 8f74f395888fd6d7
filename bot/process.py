"""What every process of the bot begins and ends with: settings, logs, and signals to stop."""

import asyncio
import signal

from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings


def start_up(level: LogLevel | None = None) -> BotSettings:
    """Read the environment and set the logs up, at its own level unless told."""
    settings = read_settings()
    set_up_logs(level or settings.moot_log_level, settings.moot_log_format, settings.secrets)
    return settings


def stop_signal() -> asyncio.Event:
    """What Ctrl-C and SIGTERM set; a second one ends the program at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopped.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return stopped
