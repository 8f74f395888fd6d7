"""Whether the bot works: its database, its connection to Slack, its token, what it is doing."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
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

#: Asks one part whether it works; a `MootError` says why it does not.
Check = Callable[[], Awaitable[None]]
#: What is looked at, and what is said of a part that does not work.
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
    """What `/health` says. Why a part does not work stands in the log: anybody may read this."""

    #: Whether each part works; the token: whether Slack takes ours.
    by_part: Mapping[str, bool]
    #: Debates being worked on.
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
    #: Seconds that it may take.
    seconds: float
    #: Seconds that an answer is good for: `/health` may be asked by anybody, as often as they like.
    kept: float = 0.0
    _fault: str = field(default="", init=False)
    _until: float = field(default=0.0, init=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def works(self) -> bool:
        async with self._asking:
            if time.monotonic() < self._until:
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
            self._until = time.monotonic() + self.kept
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
        database: Writes to it, so that a full disk is noticed.
        gateway: The WebSocket; None in HTTP mode, where Slack comes to us.
        client: Has the token; with OAuth none, as every workspace has its own.
        debates: The debates that this process runs.
        seconds: How long each part may take.
    """
    from bot.slack.connection.socket import identify  # noqa: PLC0415 - see above

    async def connected() -> None:
        if gateway is not None and not await gateway.is_connected():
            raise MootError("The WebSocket to Slack is not connected.")

    async def token_good() -> None:
        try:
            if client.token:
                await identify(client)
        except ConfigurationBroken:
            raise
        except MootError as error:
            # Slack is away. Taking us out of service would not bring it back.
            _log.warning("cannot ask about the token", reason=str(error))

    return Health(
        probes=(
            Probe("database", database, seconds, kept=DATABASE_SECONDS),
            Probe("slack", connected, seconds),
            Probe("token", token_good, seconds, kept=TOKEN_SECONDS),
        ),
        debates=lambda: len(debates()),
    )


@dataclass(frozen=True)
class HealthAnswer:
    healthy: bool
    #: The report's JSON, or why there is none.
    words: str
    #: The parts that do not work, each with what is wrong; none if nobody answered.
    troubles: Sequence[str] = ()


def ask_health(url: str) -> HealthAnswer:
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url!r} is no web address; it begins with http://")
    try:
        proxy = proxy_of(url)
        through = {urlsplit(url).scheme: proxy} if proxy.startswith("http") else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(through))
        try:
            with opener.open(url, timeout=_ANSWER_SECONDS) as answer:
                body, healthy = answer.read(), True
        except urllib.error.HTTPError as error:
            with error:
                body, healthy = error.read(), False
    except OSError as error:
        reason = getattr(error, "reason", error)
        return HealthAnswer(
            healthy=False, words=f"Nobody answers at {url}: {reason}. Is the bot running?"
        )
    try:
        fields = cast("dict[str, Any]", json.loads(body))
        troubles = [f"{part} {fields[part]}" for part in PARTS if fields[part] != "ok"]
    except (ValueError, TypeError, KeyError):  # another program answers there
        return HealthAnswer(healthy=False, words=f"What answers at {url} is no bot of Moot.")
    return HealthAnswer(healthy=healthy, words=json.dumps(fields, indent=2), troubles=troubles)
