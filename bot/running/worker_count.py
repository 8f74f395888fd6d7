"""How many workers can share the work on this machine."""

import os

from bot.settings import BotSettings, Mode
from core.errors import ConfigurationBroken

#: Socket Mode connections that Slack allows an app.
#: Source: https://docs.slack.dev/apis/events-api/using-socket-mode
MOST_SOCKETS = 10
#: More are a slip of the finger.
MOST_WORKERS = 64
_LAST_PORT = 65535


def check_workers(settings: BotSettings, mode: Mode, count: int) -> None:
    """Make sure that so many workers can share the work.

    Raises:
        ConfigurationBroken: They cannot; says what to do.
    """
    if count == 1:
        return
    if count > MOST_WORKERS:
        raise ConfigurationBroken(f"{count} workers are too many: {MOST_WORKERS} at most.")
    if not settings.moot_database.startswith("postgresql"):
        raise ConfigurationBroken(
            f"{count} workers need PostgreSQL, and MOOT_DATABASE is an SQLite file "
            f"({settings.moot_database}), which one process has for itself. Set MOOT_DATABASE to a "
            "postgresql:// address, or run one worker (MOOT_WORKERS=1)."
        )
    if mode is Mode.SOCKET and count > MOST_SOCKETS:
        raise ConfigurationBroken(
            f"{count} workers would open {count} Socket Mode connections, and Slack allows an app "
            f"{MOST_SOCKETS}, those of other machines included. Set MOOT_WORKERS to less, or use "
            "HTTP mode (SLACK_SIGNING_SECRET without SLACK_APP_TOKEN)."
        )
    ports = range(port := settings.moot_metrics_port or 0, port + count)
    if port and (settings.moot_port in ports or ports[-1] > _LAST_PORT):
        raise ConfigurationBroken(
            f"{count} workers show their figures on ports {port} to {ports[-1]}, one each. Set "
            f"MOOT_METRICS_PORT so that these exist and MOOT_PORT ({settings.moot_port}) is not "
            "one of them."
        )


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
