"""Health of the bot: its database, its connection to Slack, and its token."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from bot.log import logger
from core.errors import BadInput, ConfigurationBroken, MootError
from core.proxies import proxy_of

if TYPE_CHECKING:  # `moot --version` and `moot health` load nothing of Slack
    from slack_sdk.web.async_client import AsyncWebClient

    from bot.slack.connection.socket import SocketGateway

_log = logger(__name__)

#: Checks one part; raises `MootError` with the reason if the part does not work.
Check = Callable[[], Awaitable[None]]
#: Part → its status in the report if it does not work.
PARTS = {"database": "down", "slack": "down", "token": "refused"}
#: Seconds that the result of the database check, and of the token check, is cached.
DATABASE_SECONDS = 2.0
TOKEN_SECONDS = 60.0
_ANSWER_SECONDS = 5.0


def moot_version() -> str:
    try:
        return version("moot")
    except PackageNotFoundError:
        return "0 (not installed)"


@dataclass(frozen=True)
class Report:
    """The report of `/health`. Reasons are only in the log, as anybody may read the report."""

    #: Whether each part works. The part "token" works if Slack accepts the bot token.
    by_part: Mapping[str, bool]
    #: Number of running debates.
    debates: int

    @property
    def healthy(self) -> bool:
        return all(self.by_part.values())

    def as_json(self) -> dict[str, Any]:
        parts = {part: "ok" if works else PARTS[part] for part, works in self.by_part.items()}
        status = "ok" if self.healthy else "degraded"
        return {"status": status, "version": moot_version(), **parts, "debates": self.debates}


@dataclass
class Probe:
    """Checks one part, caches the result, and logs when it changes."""

    name: str
    check: Check
    #: Time limit in seconds.
    seconds: float
    #: Seconds that a result is cached, as anybody may call `/health` at any rate.
    cache_seconds: float = 0.0
    _fault: str = field(default="", init=False)
    _cached_until: float = field(default=0.0, init=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def works(self) -> bool:
        async with self._asking:
            if time.monotonic() < self._cached_until:
                return not self._fault
            fault = ""
            try:
                async with asyncio.timeout(self.seconds):
                    await self.check()
            except TimeoutError:
                fault = f"no answer within {self.seconds:g} seconds"
            except (MootError, OSError) as error:
                fault = str(error) or type(error).__name__
            if fault and fault != self._fault:
                _log.error("not healthy", part=self.name, reason=fault)
            elif self._fault and not fault:
                _log.info("healthy again", part=self.name)
            self._fault = fault
            self._cached_until = time.monotonic() + self.cache_seconds
        return not self._fault


@dataclass(frozen=True, kw_only=True)
class Health:
    probes: Sequence[Probe]
    debates: Callable[[], int]

    async def report(self) -> Report:
        return Report(await self.by_part(), self.debates())

    async def by_part(self) -> Mapping[str, bool]:
        works = await asyncio.gather(*(probe.works() for probe in self.probes))
        return dict(zip((probe.name for probe in self.probes), works, strict=True))


def health_of(
    database: Check,
    gateway: "SocketGateway | None",
    *,
    client: "AsyncWebClient",
    debates: Callable[[], Sized],
    seconds: float,
) -> Health:
    """The health check of a bot.

    Args:
        database: Check that writes to the database, so that a full disk is noticed.
        gateway: The WebSocket; None in HTTP mode.
        client: Client with the bot token; without one with OAuth, as each workspace has its own.
        debates: Returns the debates that this process runs.
        seconds: Time limit of each part.
    """
    from bot.slack.connection.socket import identify  # noqa: PLC0415 - see above

    async def check_connection() -> None:
        if gateway is not None and not await gateway.is_connected():
            raise MootError("The WebSocket to Slack is not connected.")

    async def check_token() -> None:
        try:
            if client.token:
                await identify(client)
        except ConfigurationBroken:
            raise
        except MootError as error:
            # Slack cannot be reached. A restart of the bot would not help, so it stays healthy.
            _log.warning("cannot ask about the token", reason=str(error))

    return Health(
        probes=(
            Probe("database", database, seconds, cache_seconds=DATABASE_SECONDS),
            Probe("slack", check_connection, seconds),
            Probe("token", check_token, seconds, cache_seconds=TOKEN_SECONDS),
        ),
        debates=lambda: len(debates()),
    )


@dataclass(frozen=True)
class HealthAnswer:
    healthy: bool
    #: The report as JSON, or the reason why there is none.
    text: str
    #: The parts that do not work, with their status; empty if there was no answer.
    troubles: Sequence[str] = ()


def ask_health(url: str) -> HealthAnswer:
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url!r} is not a web address: it must begin with http://")
    try:
        proxy = proxy_of(url)
        proxies = {urlsplit(url).scheme: proxy} if proxy.startswith("http") else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        try:
            with opener.open(url, timeout=_ANSWER_SECONDS) as answer:
                body, healthy = answer.read(), True
        except urllib.error.HTTPError as error:
            with error:
                body, healthy = error.read(), False
        except HTTPException:  # the program speaks another protocol
            body, healthy = b"", False
    except OSError as error:
        reason = getattr(error, "reason", error)
        return HealthAnswer(
            healthy=False, text=f"Nothing answers at {url}: {reason}. Is the bot running?"
        )
    try:
        fields = cast("dict[str, Any]", json.loads(body))
        troubles = [f"{part} {fields[part]}" for part in PARTS if fields[part] != "ok"]
    except (ValueError, TypeError, KeyError):  # the answer of another program
        return HealthAnswer(healthy=False, text=f"The program at {url} is not a bot of Moot.")
    return HealthAnswer(healthy=healthy, text=json.dumps(fields, indent=2), troubles=troubles)
