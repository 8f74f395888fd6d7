"""Log lines: readable on a terminal, JSON elsewhere, never with a secret in them."""

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

#: Loggers of libraries, held at WARNING: Bolt logs the full body of requests that fail
#: verification at INFO, and HTTP clients log addresses that may carry tokens.
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
#: Loggers of our own.
OWN = ("bot", "core")


def redactor(secrets: Sequence[str]) -> Callable[[str], str]:
    """A function that blanks these secrets, and whatever looks like a token."""
    long_secrets = sorted((secret for secret in secrets if len(secret) > 3), key=len, reverse=True)  # noqa: PLR2004 - shorter ones would blank half of every line
    exact = re.compile("|".join(map(re.escape, long_secrets))) if long_secrets else None

    return lambda text: redact(exact.sub(REDACTED, text) if exact else text)


def set_up_logs(
    level: LogLevel = LogLevel.INFO,
    form: LogFormat = LogFormat.AUTO,
    secrets: Sequence[str] = (),
    stream: TextIO | None = None,
) -> None:
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    render: Processor = structlog.processors.JSONRenderer()
    if form is LogFormat.CONSOLE or (form is LogFormat.AUTO and out.isatty()):
        render = structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    clean = redactor(secrets)

    def blank_secrets(logger: WrappedLogger, name: str, text: Any) -> str:
        del logger, name
        return clean(text)

    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
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
    """Our own loggers as wished, the libraries' never below warnings.

    At DEBUG they log what passes through them: aiosqlite every value that Slack's SDK stores.
    """
    logging.getLogger().setLevel(max(level, logging.WARNING))
    for name in OWN:
        logging.getLogger(name).setLevel(level)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _places(exc_info: ExcInfo) -> str:
    """Where an error arose, and its kind; its words may quote what people wrote."""
    kind, error, _ = exc_info
    lines = [kind.__name__ if kind else "nothing"]
    while error is not None:
        # Not extracted: that would read each file, and keep it, for lines that nobody is shown.
        for frame, line in traceback.walk_tb(error.__traceback__):
            code = frame.f_code
            lines.append(f"  {code.co_filename}:{line} in {code.co_name}")
        error = error.__cause__ or error.__context__
        lines += [f"because of {type(error).__name__}"] if error else []
    return "\n".join(lines)


def _without_secrets(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Every text of a line redacted before it is put together: a cut could break JSON."""
    del logger, name
    return {
        field: redact(value) if isinstance(value, str) else value for field, value in event.items()
    }


def bind_debate(debate_id: str) -> None:
    """Put the debate's id on every line this task writes from now on."""
    structlog.contextvars.bind_contextvars(debate=debate_id)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger(name)


def start_up(level: LogLevel | None = None) -> BotSettings:
    """Read the environment and set the logs up, at its own level unless told."""
    settings = read_settings()
    set_up_logs(level or settings.moot_log_level, settings.moot_log_format, settings.secrets)
    return settings
