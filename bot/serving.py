"""`moot run`: reads the settings and runs the bot until it is stopped."""

import gc
from functools import partial

from bot.app import Parts, running
from bot.building import (
    build_calls,
    build_embedder,
    build_tools,
    check_settings,
    find_plugins,
    load_settings,
    model_sets,
)
from bot.interrupts import stop_signal
from bot.landing.build_receivers import build_receivers
from bot.log import logger
from bot.operations.doctor.examine import examine_here
from bot.settings import BotSettings, Mode, check_listening, default_mode, slack_access
from core.clock import SystemClock
from core.transcript.words import NO_MODEL, usual_models_words

_log = logger(__name__)


async def serve(settings: BotSettings, mode: Mode | None) -> None:
    access = slack_access(settings, mode := mode or default_mode(settings))
    check_listening(settings, mode)
    plugins = find_plugins(settings)
    for plugin in plugins.entries:
        if plugin.fault:
            _log.error("plugin left out", plugin=plugin.title, reason=plugin.fault)
        elif plugin.is_allowed:
            _log.info("plugin", plugin=plugin.title)
    loaded = await load_settings(settings, clarify=True, plugins=plugins)
    check_settings(loaded.settings, settings)
    for notice in loaded.notices:
        _log.warning("settings", notice=notice)
    models = usual_models_words(loaded.settings)
    (_log.warning if models == NO_MODEL else _log.info)("models", words=models)
    parts = Parts(
        slack=access,
        environment=settings,
        database=settings.moot_database,
        calls=build_calls(settings, loaded.settings, plugins=plugins),
        settings=loaded.settings,
        tools=build_tools(loaded.settings, settings),
        models=model_sets(settings, loaded.settings, plugins),
        sinks=plugins.sinks,
        embedder=build_embedder(settings),
        receivers=build_receivers(loaded.settings.landing, settings, SystemClock()),
        examine=partial(examine_here, settings, loaded.settings, plugins=plugins),
    )
    async with running(parts):
        gc.freeze()  # excludes the loaded modules from garbage collection
        await stop_signal().wait()
