"""Whether the bot works: its database, its connection to Slack, what it is doing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from core.errors import StoreError

#: Asks one part whether it works.
Check = Callable[[], Awaitable[bool]]


def moot_version() -> str:
    """Return the version that is installed."""
    try:
        return version("moot")
    except PackageNotFoundError:
        return "0 (not installed)"


@dataclass(frozen=True)
class Report:
    """What `/health` says."""

    database: bool
    slack: bool
    #: Debates being worked on.
    debates: int

    @property
    def healthy(self) -> bool:
        """Whether everything works."""
        return self.database and self.slack

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "status": "ok" if self.healthy else "degraded",
            "version": moot_version(),
            "database": "ok" if self.database else "down",
            "slack": "ok" if self.slack else "down",
            "debates": self.debates,
        }


@dataclass(frozen=True, kw_only=True)
class Health:
    """Asks the parts."""

    database: Check
    slack: Check
    debates: Callable[[], int]

    async def report(self) -> Report:
        """Return how things are now."""
        return Report(await _works(self.database), await _works(self.slack), self.debates())


async def _works(check: Check) -> bool:
    try:
        return await check()
    except (StoreError, OSError):
        return False
