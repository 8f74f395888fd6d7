"""Whether the bot works: its database, its connection to Slack, what it is doing."""

import json
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from core.errors import BadInput, StoreError

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


@dataclass(frozen=True)
class Answer:
    """What a running bot said about itself."""

    healthy: bool
    #: The report's JSON, or why there is none.
    words: str


_ANSWER_SECONDS = 5.0


def ask_health(url: str) -> Answer:
    """Ask a running bot.

    Raises:
        BadInput: The address is no web address.
    """
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url!r} is no web address; it begins with http://")
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - checked above
            return Answer(healthy=True, words=_as_words(answer.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(healthy=False, words=_as_words(error.read()))
    except OSError as error:
        reason = getattr(error, "reason", error)
        return Answer(
            healthy=False, words=f"Nobody answers at {url}: {reason}. Is the bot running?"
        )


def _as_words(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), indent=2)
    except ValueError:
        return "The answer is not a health report."
