"""`moot run`: reads the settings, sets up logs, runs the bot until it is stopped."""

import asyncio
import signal

from typer import echo

from bot.app import Parts, running
from bot.building import (
    build_calls,
    build_embedder,
    build_tools,
    check_settings,
    load_settings,
    model_sets,
)
from bot.gc_settings import settle_in
from bot.log import logger, set_up_logs
from bot.operations.doctor.examine import examine_here
from bot.settings import (
    BotSettings,
    LogLevel,
    Mode,
    check_listening,
    mode_of,
    read_settings,
    slack_access,
)
from core.transcript.models_used import NO_MODEL, usual_models_words

_log = logger(__name__)


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
        ConfigurationBroken: Tokens, settings, database or port cannot be used.
        MootError: Slack or the database cannot be reached.
    """
    mode = mode or mode_of(settings)
    access = slack_access(settings, mode)
    check_listening(settings, mode)
    loaded = await load_settings(settings, clarify=True)
    check_settings(loaded.settings, settings)
    for notice in loaded.notices:
        _log.warning("settings", notice=notice)
    models = usual_models_words(loaded.settings)
    echo(models)
    (_log.warning if models == NO_MODEL else _log.info)("models", words=models)
    parts = Parts(
        slack=access,
        database=settings.moot_database,
        calls=build_calls(settings, loaded.settings),
        settings=loaded.settings,
        tools=build_tools(loaded.settings, settings),
        models=model_sets(settings, loaded.settings),
        host=settings.moot_host,
        port=settings.moot_port,
        metrics_host=settings.moot_metrics_host,
        metrics_port=settings.moot_metrics_port,
        retention_days=settings.moot_retention_days,
        bounds=settings.bounds,
        traces=settings.otel_exporter_otlp_endpoint,
        embedder=build_embedder(settings),
        examine=lambda channel: examine_here(settings, loaded.settings, channel),
    )
    async with running(parts):
        settle_in()
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
