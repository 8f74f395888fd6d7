"""Restores process-wide settings that a command changes: log handlers and garbage collection."""

import gc
import logging
from collections.abc import Generator
from contextlib import contextmanager

import structlog

from bot.log import MOOT_LOGGERS


@contextmanager
def process_kept() -> Generator[None]:
    """Restore log handlers and garbage collection after the block."""
    root = logging.getLogger()
    loggers = [root, *(logging.getLogger(name) for name in MOOT_LOGGERS)]
    levels = [logger.level for logger in loggers]
    ours, others = _by_whose()
    config = structlog.get_config() if structlog.is_configured() else None
    try:
        yield
    finally:
        # pytest may have exchanged its own since, and takes those of now away by itself.
        root.handlers[:] = [*ours, *(_by_whose()[1] or others)]
        for item, level in zip(loggers, levels, strict=True):
            item.setLevel(level)
        structlog.contextvars.clear_contextvars()
        structlog.reset_defaults()
        if config:
            structlog.configure(**config)
        gc.enable()


def _by_whose() -> tuple[list[logging.Handler], list[logging.Handler]]:
    """The handlers of `set_up_logs`, and those of others, such as pytest's."""
    formatter = structlog.stdlib.ProcessorFormatter
    handlers = logging.getLogger().handlers
    ours = [handler for handler in handlers if isinstance(handler.formatter, formatter)]
    return ours, [handler for handler in handlers if handler not in ours]
