"""Whether the bot works: its database, its connection to Slack, its token, what it is doing."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast
from urllib.parse import urlsplit

from bot.log import logger
from core.errors import BadInput, MootError
from core.proxies import proxy_of

_log = logger(__name__)

#: Asks one part whether it works; a `MootError` says why it does not.
Check = Callable[[], Awaitable[None]]
#: What is looked at, and what is said of a part that does not work.
PARTS = {"database": "down", "slack": "down", "token": "refused"}


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


@dataclass(frozen=True)
class HealthAnswer:
    healthy: bool
    #: The report's JSON, or why there is none.
    words: str
    #: The parts that do not work, each with what is wrong; none if nobody answered.
    troubles: Sequence[str] = ()


_ANSWER_SECONDS = 5.0


def ask_health(url: str) -> HealthAnswer:
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url!r} is no web address; it begins with http://")
    try:
        proxy = proxy_of(url)
        through = {urlsplit(url).scheme: proxy} if proxy.startswith("http") else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(through))
        with opener.open(url, timeout=_ANSWER_SECONDS) as answer:
            return _answer(answer.read(), healthy=True)
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error.read(), healthy=False)
    except OSError as error:
        reason = getattr(error, "reason", error)
        return HealthAnswer(
            healthy=False, words=f"Nobody answers at {url}: {reason}. Is the bot running?"
        )


def _answer(body: bytes, *, healthy: bool) -> HealthAnswer:
    try:
        report = json.loads(body)
    except ValueError:
        return HealthAnswer(healthy=healthy, words="The answer is not a health report.")
    words = json.dumps(report, indent=2)
    if not isinstance(report, dict) or not all(part in report for part in PARTS):
        return HealthAnswer(healthy=healthy, words=words)  # another program answers there
    fields = cast("dict[str, Any]", report)
    return HealthAnswer(
        healthy=healthy,
        words=words,
        troubles=[f"{part} {fields[part]}" for part in PARTS if fields[part] != "ok"],
    )
