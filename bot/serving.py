"""What `moot run` does: settings, logs, the bot, and a clean end."""

import asyncio
import signal

from bot.app import Parts, build_providers, choose_models, running
from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, Mode, mode_of, read_settings, slack_access


def start_up(*, quiet: bool = False) -> BotSettings:
    """Read the environment and set the logs up.

    Args:
        quiet: Warnings only, whatever the environment says.

    Raises:
        ConfigurationBroken: A variable cannot be used.
    """
    settings = read_settings()
    level = LogLevel.WARNING if quiet else settings.moot_log_level
    set_up_logs(level, settings.moot_log_format, settings.secrets)
    return settings


async def serve(settings: BotSettings, mode: Mode | None) -> None:
    """Run the bot until Ctrl-C or SIGTERM.

    Args:
        settings: What the environment says.
        mode: How Slack reaches the bot; None: what the tokens are for.

    Raises:
        ConfigurationBroken: Tokens, database or port cannot be used.
        MootError: Slack or the database cannot be reached.
    """
    parts = Parts(
        slack=slack_access(settings, mode or mode_of(settings)),
        database=settings.moot_database,
        providers=build_providers(settings),
        settings=await choose_models(settings),
        host=settings.moot_host,
        port=settings.moot_port,
    )
    async with running(parts):
        await stop_signal().wait()


def stop_signal() -> asyncio.Event:
    """Return what Ctrl-C and SIGTERM set. A second one ends the program at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopped.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return stopped
