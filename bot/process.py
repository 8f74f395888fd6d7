"""What every process of the bot begins and ends with: settings, logs, and signals to stop."""

import asyncio
import signal

from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings


def start_up(*, quiet: bool = False) -> BotSettings:
    """Read the environment and set the logs up; quiet: warnings only, whatever it says."""
    settings = read_settings()
    level = LogLevel.WARNING if quiet else settings.moot_log_level
    set_up_logs(level, settings.moot_log_format, settings.secrets)
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
