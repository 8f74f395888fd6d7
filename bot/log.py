"""Log lines: readable text on a terminal, JSON elsewhere, without secrets."""

import logging
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from bot.settings import BotSettings, LogFormat, LogLevel, read_settings
from core.redaction import REDACTED, redact

#: Loggers of libraries, limited to WARNING: at INFO, Bolt logs the full body of requests that fail
#: verification, and HTTP clients log addresses that may contain tokens.
NOISY = (
    "slack_bolt",
    "slack_sdk",
    "aiohttp",
    "alembic",
    "httpx2",
    "httpcore2",
    "openai",
    "anthropic",
)
#: Loggers of Moot.
MOOT_LOGGERS = ("bot", "core")


def redactor(secrets: Sequence[str]) -> Callable[[str], str]:
    """Return a function that removes these secrets and everything that looks like a token."""
    long_secrets = sorted((secret for secret in secrets if len(secret) > 3), key=len, reverse=True)  # noqa: PLR2004 - shorter ones occur in ordinary text
    exact = re.compile("|".join(map(re.escape, long_secrets))) if long_secrets else None

    return lambda text: redact(exact.sub(REDACTED, text) if exact else text)


def set_up_logs(
    level: LogLevel = LogLevel.INFO,
    form: LogFormat = LogFormat.AUTO,
    secrets: Sequence[str] = (),
    stream: TextIO | None = None,
) -> None:
    target = stream or sys.stderr
    common_processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*common_processors, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    render: Processor = structlog.processors.JSONRenderer()
    if form is LogFormat.CONSOLE or (form is LogFormat.AUTO and target.isatty()):
        render = structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    clean = redactor(secrets)

    def blank_secrets(logger: WrappedLogger, name: str, text: Any) -> str:
        del logger, name
        return clean(text)

    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=common_processors,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(_places),
                _without_secrets,
                render,
                blank_secrets,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    _set_levels(logging.getLevelNamesMapping()[level.value.upper()])


def _set_levels(level: int) -> None:
    """Set the level of Moot's loggers; libraries log warnings and errors only.

    At DEBUG, libraries log their data: aiosqlite logs every value that Slack's SDK stores.
    """
    logging.getLogger().setLevel(max(level, logging.WARNING))
    for name in MOOT_LOGGERS:
        logging.getLogger(name).setLevel(level)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _places(exc_info: ExcInfo) -> str:
    """The class and traceback of an error. Its message may quote people, so it is omitted."""
    kind, error, _ = exc_info
    lines = [kind.__name__ if kind else "nothing"]
    while error is not None:
        # `traceback.extract_tb` would read and cache source files, whose lines are not shown.
        for frame, line in traceback.walk_tb(error.__traceback__):
            code = frame.f_code
            lines.append(f"  {code.co_filename}:{line} in {code.co_name}")
        error = error.__cause__ or error.__context__
        lines += [f"because of {type(error).__name__}"] if error else []
    return "\n".join(lines)


def _without_secrets(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Redact each field of a line before it is rendered: redacting JSON could break it."""
    del logger, name
    return {
        field: redact(value) if isinstance(value, str) else value for field, value in event.items()
    }


def bind_debate(debate_id: str) -> None:
    """Add the debate's id to all further log lines of this task."""
    structlog.contextvars.bind_contextvars(debate=debate_id)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger(name)


def start_up(level: LogLevel | None = None) -> BotSettings:
    """Read the environment and set up logging, at `level` or at the environment's level."""
    settings = read_settings()
    set_up_logs(level or settings.moot_log_level, settings.moot_log_format, settings.secrets)
    return settings
